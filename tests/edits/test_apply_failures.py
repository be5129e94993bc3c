"""Edits of servers are made all or none, whatever goes wrong and whoever interferes."""

from __future__ import annotations

import contextlib
import resource
import shutil
from pathlib import Path

import pytest

import lspkit
from lspkit.edit_types import WorkspaceEdit
from lspkit.edits import directory, open_folders
from lspkit.edits.apply import apply, undo
from lspkit.errors import PathError
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import (
    at_step,
    edit,
    edits,
    everything,
    limited,
    operation,
    refused,
    replaced,
    snapshot,
    swap_for_link,
    without_privileges,
)

#: Each of them makes an edit many times, and each edit is flushed to the disk.
pytestmark = pytest.mark.slow


@pytest.fixture
def root(full_root):
    return full_root


@pytest.fixture
def boundary(full_boundary):
    return full_boundary


def count_steps(run) -> int:
    """How many steps it takes."""
    numbers: list[int] = []
    run(numbers.append)
    return max(numbers)


def copied(root: Path) -> Path:
    copy = root.parent / "copy" / "work"
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True)
    return copy


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, RuntimeError])
def test_a_failure_after_any_step_leaves_everything_as_it_was(root, boundary, kind):
    copy = copied(root)
    steps = count_steps(
        lambda step: apply(everything(copy), boundary_of(str(copy)), before_step=step)
    )
    before = snapshot(root)

    def fail() -> None:
        raise kind("stop")

    assert steps > 20
    for number in range(steps + 1):
        with pytest.raises((kind, lspkit.PathError)):
            apply(everything(root), boundary, before_step=at_step(number, fail))
        assert snapshot(root) == before, f"failed before step {number}"


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_a_failure_after_any_step_of_undoing_leaves_everything_as_it_was(root, boundary, kind):
    copy = copied(root)
    done = apply(everything(copy), boundary_of(str(copy)))
    steps = count_steps(lambda step: undo(done, boundary_of(str(copy)), before_step=step))
    before = snapshot(root)
    applied = apply(everything(root), boundary)
    after = snapshot(root)

    def fail() -> None:
        raise kind("stop")

    for number in range(steps + 1):
        with pytest.raises((kind, lspkit.PathError)):
            undo(applied, boundary, before_step=at_step(number, fail))
        assert snapshot(root) == after, f"failed before step {number}"
    undo(applied, boundary)
    assert snapshot(root) == before


def test_where_files_cannot_have_two_names_all_or_none_holds_too(root, boundary, monkeypatch):
    monkeypatch.setattr(directory.Directory, "link", lambda *_: False)
    before, numbers = snapshot(root), list[int]()
    applied = apply(everything(root), boundary, before_step=numbers.append)
    undo(applied, boundary)
    assert snapshot(root) == before

    def fail() -> None:
        raise OSError("stop")

    for number in numbers:
        with pytest.raises(lspkit.PathError):
            apply(everything(root), boundary, before_step=at_step(number, fail))
        assert snapshot(root) == before


def test_where_there_are_no_descriptors_all_or_none_holds_too(root, boundary, monkeypatch):
    monkeypatch.setattr(directory, "BY_DESCRIPTOR", False)
    before, numbers = snapshot(root), list[int]()
    undo(apply(everything(root), boundary, before_step=numbers.append), boundary)
    assert snapshot(root) == before

    def fail() -> None:
        raise KeyboardInterrupt

    for number in numbers:
        with pytest.raises(KeyboardInterrupt):
            apply(everything(root), boundary, before_step=at_step(number, fail))
        assert snapshot(root) == before


def test_where_there_is_no_room_nothing_is_changed(root, boundary):
    large = edit(root / "run.sh", (0, 4, "x" * 100_000))
    change = edits(replaced(root / "a.py", "name", "y"), large)
    with (
        refused(root, "EWRITE", "run.sh cannot be changed", "File too large"),
        limited(resource.RLIMIT_FSIZE, 50_000),
    ):
        apply(change, boundary)


def test_where_a_folder_is_read_only_nothing_is_changed(root, boundary):
    (root / "pkg").chmod(0o555)
    change = edits(
        replaced(root / "a.py", "name", "y"), replaced(root / "pkg" / "b.py", "name", "y")
    )

    def run() -> None:
        with refused(root, "EWRITE", "b.py cannot be changed", "Permission denied"):
            apply(change, boundary)

    without_privileges(run)


def write_into(path: Path) -> None:
    path.write_text("somebody else's")


def write_anew(path: Path) -> None:
    path.with_name("spare").write_text("somebody else's")
    path.with_name("spare").rename(path)


@pytest.mark.parametrize("write", [write_into, write_anew])
@pytest.mark.parametrize("kind", ["edit", "delete"])
def test_what_somebody_else_changes_meanwhile_is_not_overwritten(root, boundary, kind, write):
    path, other = root / "a.py", replaced(root / "run.sh", "name", "y")
    own = replaced(path, "name", "x") if kind == "edit" else operation("delete", path)
    states: list[bytes | None] = []

    def note(number: int) -> None:
        states.append(path.read_bytes() if path.exists() else None)

    undo(apply(edits(other, own), boundary, before_step=note), boundary)
    before = snapshot(root)
    # Until it is changed by the edit: what is written then is written after the edit.
    moments = [number for number, state in enumerate(states) if state == before["a.py"][2]]
    assert len(moments) > 3
    for number in moments:
        step = at_step(number, lambda: write(path))
        with pytest.raises(PathError, match="request the change again"):
            apply(edits(other, own), boundary, before_step=step)
        assert path.read_text() == "somebody else's", number
        path.write_bytes(before["a.py"][2])
        assert snapshot(root) == before


def test_a_file_that_appears_meanwhile_is_not_overwritten(root, boundary):
    numbers: list[int] = []
    change = edits(operation("create", root / "new.py"))
    undo(apply(change, boundary, before_step=numbers.append), boundary)
    for number in numbers[:3]:
        step = at_step(number, lambda: (root / "new.py").write_text("somebody else's"))
        with pytest.raises(lspkit.PathError):
            apply(change, boundary, before_step=step)
        assert (root / "new.py").read_text() == "somebody else's"
        (root / "new.py").unlink()


def in_folders(root: Path) -> WorkspaceEdit:
    """An edit in several folders, all of which stay."""
    return edits(
        replaced(root / "a.py", "name", "x"),
        replaced(root / "pkg" / "b.py", "name", "x"),
        replaced(root / "pkg" / "inner" / "c.py", "name", "x"),
        replaced(root / "old" / "d.py", "name", "x"),
        operation("delete", root / "old" / "sub" / "e.bin"),
        operation("create", root / "pkg" / "inner" / "new" / "f.py"),
    )


@pytest.mark.parametrize("by", ["link", "folder"])
@pytest.mark.parametrize("which", ["pkg", "pkg/inner", "old"])
def test_a_folder_that_is_swapped_leads_nowhere(root, boundary, which, by):
    outside, aside, whole = root.parent / "outside", root.parent / "aside", in_folders(root)
    shutil.copytree(root / which, outside, symlinks=True)

    def swap() -> None:
        swap_for_link(root / which, aside, outside)
        if by == "folder":
            (root / which).unlink()
            outside.rename(root / which)

    def swap_back() -> None:
        if by == "folder":
            (root / which).rename(outside)
        else:
            (root / which).unlink()
        aside.rename(root / which)

    numbers: list[int] = []
    undo(apply(whole, boundary, before_step=numbers.append), boundary)
    before, elsewhere, refusals = snapshot(root), snapshot(outside), 0
    for number in numbers:
        applied = None
        with contextlib.suppress(PathError):
            applied = apply(whole, boundary, before_step=at_step(number, swap))
        swap_back()
        assert snapshot(outside) == elsewhere, f"swapped before step {number}"
        if applied is None:
            refusals += 1
        else:  # it was swapped when all was done
            undo(applied, boundary)
        assert snapshot(root) == before, f"swapped before step {number}"
    # All but the steps that only tidy up.
    assert refusals >= len(numbers) - 6


def test_a_folder_that_is_swapped_while_it_is_not_held_is_noticed(root, boundary, monkeypatch):
    monkeypatch.setattr(open_folders, "MOST_OPEN", 2)
    outside, aside, whole = root.parent / "outside", root.parent / "aside", in_folders(root)
    shutil.copytree(root / "pkg", outside)
    before = snapshot(outside)

    def swap() -> None:
        (root / "pkg").rename(aside)
        outside.rename(root / "pkg")

    with pytest.raises(lspkit.PathError, match="pkg was replaced"):
        apply(whole, boundary, before_step=at_step(1, swap))
    assert snapshot(root / "pkg") == before
