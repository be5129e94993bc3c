"""Changes, as operations: what is done, in which order, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.report import Change
from lspkit.edit_types import CodeAction, FileEdit, TextEdit, TouchedFile, WorkspaceEdit
from lspkit.errors import RequestFailedError
from lspkit.operations import (
    ApplyRequest,
    DeleteRequest,
    MoveRequest,
    ShowDiskRequest,
    ShowTextsRequest,
    UndoRequest,
    WriteRequest,
)
from lspkit.operations.host_results import Examination
from lspkit.types import Position, Range
from tests.operations.driving import PATH, URI, Canned, Engine, at

NOWHERE = Range(Position(1, 1), Position(1, 1))
EDIT = WorkspaceEdit((FileEdit(Path(PATH), URI, (TextEdit(NOWHERE, "x"),)),), server="one")
APPLIED = Change(EDIT, (TouchedFile(Path(PATH), was="file", now="file"),))


def wrong(message: str, line: int = 0) -> dict[str, Any]:
    return {"range": at(line, 0, 1), "message": message, "severity": 1}


@dataclass
class Disk(Engine):
    """A host that can also change files, and remembers what it was told to do."""

    #: The calls: the name of the method, and its arguments.
    done: list[tuple[Any, ...]] = field(default_factory=list)
    #: What the server finds once an edit is made.
    findings_then: list[Any] | None = None

    def write_file(self, path: str, text: str) -> Change:
        self.done.append(("write_file", path, text))
        return Change()

    def delete_file(self, path: str) -> Change:
        self.done.append(("delete_file", path))
        return Change()

    def move_file(self, path: str, new_path: str) -> Change:
        self.done.append(("move_file", path, new_path))
        return Change()

    def apply_edit(self, edit: WorkspaceEdit, versions: dict[str, int] | None = None) -> Change:
        self.done.append(("apply_edit", edit, versions))
        self.servers[0].findings = self.findings_then
        return APPLIED

    def undo_edit(self, change: Change) -> Change:
        self.done.append(("undo_edit", change))
        return Change()

    def show_texts(self, texts: dict[str, str]) -> int:
        self.done.append(("show_texts", texts))
        return 7

    def end_overlay(self, number: int) -> None:
        self.done.append(("end_overlay", number))

    def examine(self, path: str, text: str | None, *args: Any, **more: Any) -> Examination:
        self.done.append(("examine", path, text))
        return super().examine(path, text, *args, **more)

    def did(self) -> list[str]:
        """The methods, without their arguments."""
        return [method for method, *_ in self.done]


def test_a_file_is_written_before_it_is_checked():
    engine = Disk([Canned(findings=[wrong("bad")])])
    change = engine.run(WriteRequest(path=PATH, text="new\n", check="file"))
    # Of the disk: the text that was written is no text of the call's own.
    assert engine.done == [("write_file", PATH, "new\n"), ("examine", PATH, None)]
    assert change.verdict.dirty


def test_a_file_is_deleted_and_nothing_is_asked():
    engine = Disk([Canned()])
    change = engine.run(DeleteRequest(path=PATH))
    assert (change.report, change.verdict.value) == (None, "unknown")
    assert engine.done == [("delete_file", PATH)]


def test_a_file_is_moved_and_nothing_is_asked():
    engine = Disk([Canned()])
    assert engine.run(MoveRequest(path=PATH, new_path="/code/b.py")).report is None
    assert engine.done == [("move_file", PATH, "/code/b.py")]


def test_texts_are_shown_until_their_number_is_ended():
    engine = Disk([Canned()])
    number = engine.run(ShowTextsRequest(texts={PATH: "draft\n"}))
    assert engine.run(ShowDiskRequest(number=number)) is None
    assert engine.done == [("show_texts", {PATH: "draft\n"}), ("end_overlay", 7)]


# Edits


def test_an_edit_is_made_and_what_it_takes_to_undo_it_comes_back():
    engine = Disk([Canned(findings=[])], findings_then=[wrong("new")])
    assert engine.run(ApplyRequest(edit=EDIT)) == APPLIED
    assert engine.done == [("apply_edit", EDIT, None)]


def test_undoing_takes_it_back():
    engine = Disk([Canned()])
    assert engine.run(UndoRequest(change=APPLIED)).report is None
    assert engine.done == [("undo_edit", APPLIED)]


def test_without_an_edit_or_an_action_nothing_is_done():
    engine = Disk([Canned()])
    with pytest.raises(RequestFailedError):
        engine.run(ApplyRequest())
    assert engine.done == []


def test_an_action_with_its_edit_is_made():
    engine = Disk([Canned(findings=[])])
    action = CodeAction("Fix", edit=EDIT, server="one", via=PATH, raw='{"title": "Fix"}')
    assert engine.run(ApplyRequest(action=action)) == APPLIED
    assert engine.done == [("apply_edit", EDIT, None)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], []),
        ([wrong("old")], []),
        ([wrong("old")], [wrong("old")]),
        ([], [{**wrong("mild"), "severity": 2}]),
    ],
    ids=["clean", "fixed", "as-before", "only-a-warning"],
)
def test_an_edit_that_brings_no_new_error_stays(before, after):
    engine = Disk([Canned(findings=before)], findings_then=after)
    change = engine.run(ApplyRequest(edit=EDIT, check="project"))
    assert (change.touched, change.unchecked) == (APPLIED.touched, ())
    assert engine.did() == ["examine", "apply_edit", "examine"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [wrong("new")]),
        ([wrong("old")], [wrong("old"), wrong("new", 1)]),
        ([wrong("old")], [wrong("new")]),
    ],
    ids=["first", "one-more", "another"],
)
def test_an_edit_that_brings_a_new_error_is_taken_back_and_told(before, after):
    engine = Disk([Canned(findings=before)], findings_then=after)
    with pytest.raises(lspkit.RequestFailedError) as caught:
        engine.run(ApplyRequest(edit=EDIT, check="project"))
    assert engine.done[-1] == ("undo_edit", APPLIED)
    assert "new" in caught.value.message
    assert caught.value.server == "one"


def test_an_edit_about_which_nobody_says_anything_stays_and_is_not_called_verified():
    engine = Disk([Canned(findings=[])], findings_then=None)
    applied = engine.run(ApplyRequest(edit=EDIT, check="project"))
    assert applied.touched == APPLIED.touched
    [why] = applied.unchecked
    assert why.startswith(f"{PATH}: ")
    assert str(applied).splitlines()[0] == f"changed 1 file; not checked: {why}"


def test_an_error_where_nothing_was_known_before_is_taken_for_new():
    engine = Disk([Canned(findings=None)], findings_then=[wrong("new")])
    with pytest.raises(lspkit.RequestFailedError):
        engine.run(ApplyRequest(edit=EDIT, check="project"))
    assert engine.done[-1] == ("undo_edit", APPLIED)


def test_only_the_errors_that_an_edit_brings_are_named():
    old = [wrong(f"old {number}", number) for number in range(3)]
    engine = Disk([Canned(findings=old)], findings_then=[*old, wrong("new", 3)])
    with pytest.raises(lspkit.RequestFailedError) as caught:
        engine.run(ApplyRequest(edit=EDIT, check="project"))
    told = caught.value.message.partition("errors: ")[2]
    assert "new" in told
    assert "old" not in told
