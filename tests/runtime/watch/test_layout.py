"""The number that a watcher gives to the layout of its folders: which files are where."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from lspkit.runtime.watch import WatchedRoots
from tests.runtime.watch.changes import CHANGES
from tests.runtime.watch.watching import NOTIFIERS, Heard, Start, needs_inotify, shell, until_ready

if sys.platform == "linux":
    from lspkit.runtime.watch.inotify import InotifyNotifier

#: Changes after which every path leads to where it led before.
IN_PLACE = (
    "another content",
    "content of the same size",
    "more content",
    "many writes",
    "a time that was set",
    "other permissions",
)


@needs_inotify
@pytest.mark.parametrize("change", CHANGES)
def test_another_layout_has_another_number(change: str, start: Start, root: Path) -> None:
    watcher = start("inotify")
    before = watcher.layout
    assert before
    shell(CHANGES[change][0], root)
    watcher.catch_up()
    assert (watcher.layout == before) is (change in IN_PLACE)
    watcher.catch_up()  # perhaps the kernel has told meanwhile that a watch has ended
    after = watcher.layout
    watcher.catch_up()
    assert watcher.layout == after


@pytest.mark.slow
@pytest.mark.parametrize("notifier", [name for name in NOTIFIERS if name != "inotify"])
def test_where_a_change_may_be_missed_the_layout_is_unknown(notifier: str, start: Start) -> None:
    assert start(notifier).layout == 0


@needs_inotify
def test_a_folder_is_covered_with_all_folders_around_it(start: Start, root: Path) -> None:
    shell("mkdir -p node_modules/inner/src", root)
    watcher = start("inotify")
    watcher.also(str(root / "node_modules" / "inner"))
    until_ready(watcher)
    watcher.catch_up()
    top = str(root)
    assert watcher.covers(top, top)
    assert watcher.covers(str(root / "src" / "deep"), top)
    # Watched itself, but it may be moved with the folder around it.
    assert not watcher.covers(str(root / "node_modules" / "inner" / "src"), top)
    assert not watcher.covers(str(root / "src" / "missing"), top)
    assert not watcher.covers(str(root.parent), top)


@needs_inotify
def test_a_folder_that_cannot_be_watched_is_not_covered(start: Start, root: Path) -> None:
    class Refusing(InotifyNotifier):
        """As for a user who may not read a folder; the super-user may read all."""

        refused = ""

        def watch(self, folder: str, follow: bool) -> None:
            if folder == self.refused:
                raise PermissionError(errno.EACCES, "refused", folder)
            super().watch(folder, follow)

    notifier = Refusing()
    watcher = start("inotify", make=lambda: notifier)
    deep, top = str(root / "src" / "deep"), str(root)
    assert watcher.covers(deep, top)
    notifier.refused = deep
    shell("mv src/deep src/old; mkdir src/deep; echo x > src/deep/c.py", root)
    watcher.catch_up()
    assert not watcher.covers(deep, top)
    assert watcher.covers(str(root / "src"), top)
    notifier.refused = ""
    shell("mv src/deep src/older; mv src/old src/deep", root)
    watcher.catch_up()
    assert watcher.covers(deep, top)


@needs_inotify
@pytest.mark.parametrize("state", ["limit", "lost", "hints", "unsure"])
def test_while_something_is_to_be_compared_the_layout_is_unknown(state: str, start: Start) -> None:
    lookout = start("inotify")._lookout
    assert lookout is not None
    assert lookout.layout
    if state == "limit":
        lookout.limit = "no watch is left"
    elif state == "lost":
        lookout.notifier.lost = True
    elif state == "hints":
        lookout._hints["somewhere"] = False
    else:
        lookout.snapshot.unsure["somewhere"] = None
    assert lookout.layout == 0


@needs_inotify
def test_roots_that_are_held_anew_have_another_number(root: Path, heard: Heard) -> None:
    watchers = WatchedRoots(heard)
    numbers = [watchers.layout]
    for _ in range(2):
        watchers.hold(str(root))
        reading = watchers.reading()
        if reading is not None:
            assert reading.wait(20)
        assert watchers.catch_up()
        numbers.append(watchers.layout)
        watchers.release(str(root))
        numbers.append(watchers.layout)
    watchers.close()
    first, second = numbers[1], numbers[3]
    assert numbers == [0, first, 0, second, 0]
    assert 0 < first != second > 0
