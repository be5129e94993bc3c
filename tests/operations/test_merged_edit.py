"""Two renamings as one edit: all of both, each place once, or nothing."""

from __future__ import annotations

from pathlib import Path

from lspkit.edit_types import FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.operations.renaming.rename import covers, merge
from lspkit.types import Location, Position, Range

TEXT = "one two one\n"


def edit(name: str, *columns: int, new: str = "six", before: str = TEXT) -> WorkspaceEdit:
    edits = tuple(
        TextEdit(Range(Position(1, column), Position(1, column + 3)), new) for column in columns
    )
    return WorkspaceEdit((FileEdit(Path(name), f"file://{name}", edits, before, ""),), "s")


def test_edits_of_one_file_become_one_change() -> None:
    merged = merge(edit("/a", 1), edit("/a", 1, 9))
    assert merged is not None
    [change] = merged.changes
    assert isinstance(change, FileEdit)
    assert change.after == "six two six\n"
    assert len(change.edits) == 2


def test_edits_of_several_files_are_kept_apart() -> None:
    merged = merge(edit("/a", 1), edit("/b", 9))
    assert merged is not None
    assert [str(one) for one in merged.files] == ["/a", "/b"]


def test_edits_that_contradict_each_other_are_not_merged() -> None:
    assert merge(edit("/a", 1), edit("/a", 1, new="ten")) is None
    assert merge(edit("/a", 1), edit("/a", 2)) is None
    assert merge(edit("/a", 1), edit("/a", 9, before="other text\n")) is None
    operation = WorkspaceEdit((FileOperation("delete", Path("/a"), "file:///a"),))
    assert merge(edit("/a", 1), operation) is None


def test_an_edit_covers_the_names_that_it_changes() -> None:
    def place(name: str, column: int) -> Location:
        here = Range(Position(1, column), Position(1, column + 3))
        return Location(Path(name), here, f"file://{name}")

    one = edit("/a", 1, 9)
    assert covers(one, place("/a", 9))
    assert not covers(one, place("/a", 5))
    assert not covers(one, place("/b", 1))
