"""The number that a watcher gives to the layout of its folders: which files are where."""

from __future__ import annotations

import errno
import sys
import time
from pathlib import Path

import pytest

from lspkit.runtime.files import DiskState
from lspkit.runtime.watch import WatchedRoots
from lspkit.runtime.watch.event_report import Batch
from lspkit.runtime.watch.watcher import Watcher
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


@needs_inotify
@pytest.mark.parametrize("change", CHANGES)
def test_after_each_change_the_state_is_another_one(change: str, start: Start, root: Path) -> None:
    watcher = start("inotify")
    before = quiet_state(watcher)
    assert watcher.quiet_state() is before
    shell(CHANGES[change][0], root)
    assert watcher.quiet_state() is None
    watcher.catch_up()
    after = quiet_state(watcher)
    assert after is not before
    assert (after.layout == before.layout) is (change in IN_PLACE)


def quiet_state(watcher: Watcher) -> DiskState:
    """The state when everything was compared; the kernel may tell of the end of a watch later."""
    deadline = time.monotonic() + 20
    while (state := watcher.quiet_state()) is None:
        assert time.monotonic() < deadline
        watcher.catch_up()
    return state


@needs_inotify
def test_while_something_is_to_be_announced_there_is_no_state(start: Start, root: Path) -> None:
    watcher = start("inotify")
    quiet_state(watcher)
    watcher._found.queue.append(Batch([], []))
    assert watcher.quiet_state() is None
    watcher.catch_up()
    assert watcher.quiet_state() is not None


@needs_inotify
def test_another_folder_has_to_be_read_before_there_is_a_state(start: Start, root: Path) -> None:
    watcher = start("inotify")
    quiet_state(watcher)
    with watcher._caller_lock, watcher._turn:  # its thread has to wait
        watcher.also(str(root.parent))
        assert watcher.quiet_state() is None
    until_ready(watcher)
    assert quiet_state(watcher)


@pytest.mark.slow
@pytest.mark.parametrize("notifier", [name for name in NOTIFIERS if name != "inotify"])
def test_where_a_change_may_be_missed_there_is_no_state(notifier: str, start: Start) -> None:
    watcher = start(notifier)
    watcher.catch_up()
    assert watcher.quiet_state() is None


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
    scanner = start("inotify")._scanner
    assert scanner is not None
    assert scanner.layout
    if state == "limit":
        scanner.limit = "no watch is left"
    elif state == "lost":
        scanner.notifier.lost = True
    elif state == "hints":
        scanner._hints["somewhere"] = False
    else:
        scanner.snapshot.unsure["somewhere"] = None
    assert scanner.layout == 0


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
