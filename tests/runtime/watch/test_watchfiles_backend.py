"""Hints of watchfiles: where it loses something, somebody has to know."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.runtime.watch.watchfiles_backend import WatchfilesNotifier, outermost
from tests.runtime.watch.watching import PATIENCE, shell

# On Linux nobody uses it.
pytestmark = pytest.mark.slow


@pytest.fixture(params=[False, True], ids=["folders", "trees"])
def foreign(request: pytest.FixtureRequest, root: Path) -> Iterator[WatchfilesNotifier]:
    """Watches the root and a folder in it, and has started."""
    foreign = WatchfilesNotifier(recursive=request.param)
    for folder in (root, root / "src"):
        foreign.watch(str(folder), False)
    foreign.wait(0.001)
    foreign.lost = False
    yield foreign
    foreign.close()


def hints_of(foreign: WatchfilesNotifier, *wanted: Path) -> dict[str, bool]:
    """The hints, once there are these, and nothing was lost."""
    hints: dict[str, bool] = {}
    deadline = time.monotonic() + PATIENCE
    while not {str(path) for path in wanted} <= hints.keys():
        assert time.monotonic() < deadline, hints
        foreign.wait(1)
        assert not foreign.lost
        foreign.drain(hints)
    return hints


def test_a_change_is_hinted_at(foreign: WatchfilesNotifier, root: Path) -> None:
    shell("echo longer > src/a.py", root)
    assert hints_of(foreign, root / "src/a.py")[str(root / "src/a.py")] is False


def test_a_new_folder_is_anew_and_a_new_file_is_not(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    shell("mkdir x; echo x > y", root)
    hints = hints_of(foreign, root / "x", root / "y")
    assert (hints[str(root / "x")], hints[str(root / "y")]) == (True, False)


def test_what_happened_before_new_folders_were_watched_counts_as_lost(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    (root.parent / "lib").mkdir()
    foreign.watch(str(root.parent / "lib"), False)
    foreign.wait(0.001)
    assert foreign.lost


def test_what_it_had_when_it_was_woken_counts_as_lost(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    shell("echo x > new", root)
    foreign.wake()
    foreign.wait(PATIENCE)
    assert foreign.lost


def test_a_folder_that_is_watched_already_costs_nothing(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    for _ in range(3):
        foreign.watch(str(root / "src"), False)
        foreign.wait(0.001)
    assert not foreign.lost


def test_a_folder_in_the_place_of_another_is_watched(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    shell("mkdir new; mv src ../away; mv new src", root)
    foreign.watch(str(root / "src"), False)
    foreign.wait(0.001)
    foreign.lost = False
    foreign.drain({})
    shell("echo x > src/new.py", root)
    hints_of(foreign, root / "src/new.py")


def test_a_name_that_is_no_text_is_survived(foreign: WatchfilesNotifier, root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/n\xff")).write_text("x")
    deadline = time.monotonic() + PATIENCE
    while not foreign.lost:
        assert time.monotonic() < deadline
        foreign.wait(1)
    foreign.wait(0.001)
    foreign.lost = False
    shell("echo x > new", root)
    hints_of(foreign, root / "new")


def test_a_folder_that_vanished_does_not_keep_the_others_from_being_watched(
    foreign: WatchfilesNotifier, root: Path
) -> None:
    for name in ("1", "2"):
        (root.parent / name).mkdir()
        foreign.watch(str(root.parent / name), False)
    (root.parent / "1").rmdir()
    foreign.wait(0.001)
    foreign.lost = False
    foreign.drain({})
    shell("echo x > 2/new", root.parent)
    hints_of(foreign, root.parent / "2/new")


def test_the_outermost_are_those_in_no_other() -> None:
    assert outermost(["/a/b", "/a", "/a/b/c", "/ab", "/x/y"]) == ["/a", "/ab", "/x/y"]
    assert outermost([]) == []
