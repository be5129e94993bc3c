"""The number that a watcher gives to the layout of its folders: which files are where."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.runtime.watch import WatchedRoots
from tests.runtime.watch.changes import CHANGES
from tests.runtime.watch.watching import NOTIFIERS, Heard, Start, needs_inotify, shell, until_ready

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
def test_roots_that_are_held_anew_have_another_number(root: Path, heard: Heard) -> None:
    watchers = WatchedRoots(heard)
    numbers = [watchers.number]
    for _ in range(2):
        watchers.hold(str(root))
        reading = watchers.reading()
        if reading is not None:
            assert reading.wait(20)
        assert watchers.catch_up()
        numbers.append(watchers.number)
        watchers.release(str(root))
        numbers.append(watchers.number)
    watchers.close()
    first, second = numbers[1], numbers[3]
    assert numbers == [0, first, 0, second, 0]
    assert 0 < first != second > 0
