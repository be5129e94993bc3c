"""Edits that servers propose are used whole or not at all, and only at places that can be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.testing import Fault, Script
from tests.runtime.host.test_run_command import (
    ACTIONS,
    at_start,
    commanded,
    request_for,
    verdicts,
)
from tests.scripted import workspace

RENAME = "textDocument/rename"
#: `greet` on line 2 begins after a character that is two units of UTF-16, and four bytes.
TEXT = "def greet\n😀 greet\n"


def replacing(start: tuple[int, int], end: tuple[int, int], text: str = "X") -> dict[str, Any]:
    places = [{"line": line, "character": character} for line, character in (start, end)]
    return {"range": {"start": places[0], "end": places[1]}, "newText": text}


def of_file(path: Path, *edits: dict[str, Any]) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri(), "version": None}, "edits": list(edits)}


def renamed(folder: Path, argv: list[str]) -> str:
    """The file after a rename was asked for and made."""
    with workspace(folder, argv, text=TEXT) as ws:
        # `def`, which stands there alone: no other place is searched.
        ws.apply(ws.rename("a.scr", 1, 1, new_name="meet"))
    return (folder / "a.scr").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("encoding", "edit"),
    [
        ("utf-16", replacing((1, 1), (1, 3))),
        ("utf-16", replacing((1, 0), (1, 1))),
        ("utf-8", replacing((1, 3), (1, 4))),
        ("utf-8", replacing((1, 0), (1, 1))),
        ("utf-16", replacing((-1, 0), (0, 3))),
        ("utf-16", replacing((0, -3), (0, 3))),
    ],
)
@pytest.mark.parametrize("form", ["changes", "documentChanges"])
def test_a_place_that_nobody_can_mean_refuses_the_edit(tmp_path, scripted, encoding, edit, form):
    file, right = tmp_path / "a.scr", replacing((0, 4), (0, 9))
    edits = {file.as_uri(): [right, edit]} if form == "changes" else [of_file(file, right, edit)]
    argv = scripted(Script(encoding=encoding, answers={RENAME: {form: edits}}))
    with pytest.raises(lspkit.RequestFailedError) as caught:
        renamed(tmp_path, argv)
    assert "not for a place in" in caught.value.message
    assert caught.value.server == "scripted"
    assert file.read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (replacing((1, 0), (1, 2)), "def greet\nX greet\n"),
        (replacing((1, 2), (1, 3)), "def greet\n😀Xgreet\n"),
        # Beyond the end of a line is its end.
        (replacing((0, 4), (0, 900)), "def X\n😀 greet\n"),
        (replacing((1, 3), (1, 2**31 - 1)), "def greet\n😀 X\n"),
        # So is the line after the last one.
        (replacing((0, 0), (2, 0)), "X"),
        (replacing((0, 0), (3, 0)), "X"),
        (replacing((0, 0), (3, 2**31 - 1)), "X"),
    ],
)
def test_what_servers_write_for_an_end_is_understood(tmp_path, scripted, edit, after):
    changes = {"changes": {(tmp_path / "a.scr").as_uri(): [edit]}}
    assert renamed(tmp_path, scripted(Script(answers={RENAME: changes}))) == after


def test_a_line_far_beyond_the_end_is_refused(tmp_path, scripted):
    changes = {"changes": {(tmp_path / "a.scr").as_uri(): [replacing((0, 0), (50, 0))]}}
    with pytest.raises(lspkit.PositionError):
        renamed(tmp_path, scripted(Script(answers={RENAME: changes})))
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT


#: Parts of an edit that nobody understands.
PARTS: dict[str, dict[str, Any]] = {
    "unknown kind": {"kind": "chmod", "uri": "file:///a"},
    "nothing": {},
    "no range": {"textDocument": {"uri": "file:///a", "version": None}, "edits": [{}]},
    "no text": {
        "textDocument": {"uri": "file:///a", "version": None},
        "edits": [{"range": at_start("")["range"], "snippet": {"value": "$0"}}],
    },
    "no change": 17,  # type: ignore[dict-item]
}
#: Those of them that cannot even be read.
UNREADABLE = ("no range", "no text", "no change")
REFUSED = "nothing of it is used|cannot be read"


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_not_understood_refuses_the_edit(tmp_path, scripted, part):
    understood = of_file(tmp_path / "a.scr", at_start("X"))
    answer = {"documentChanges": [understood, PARTS[part]]}
    with pytest.raises(lspkit.RequestFailedError, match=REFUSED):
        renamed(tmp_path, scripted(Script(answers={RENAME: answer})))
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("part", PARTS)
def test_an_action_with_such_a_part_is_not_offered_or_says_why_it_cannot_be_done(
    tmp_path, scripted, part
):
    right = {"documentChanges": [of_file(tmp_path / "a.scr", at_start("X"))]}
    wrong = {"documentChanges": [*right["documentChanges"], PARTS[part]]}
    offers = [{"title": "wrong", "edit": wrong}, {"title": "right", "edit": right}]
    script = Script(capabilities={"codeActionProvider": True}, answers={ACTIONS: offers})
    with workspace(tmp_path, scripted(script), text=TEXT) as ws:
        good, *others = ws.code_actions("a.scr", 1, 1)
        assert (good.title, good.disabled) == ("right", "")
        assert [one.title for one in others] == ([] if part in UNREADABLE else ["wrong"])
        for bad in others:
            assert bad.edit is None
            with pytest.raises(lspkit.RequestFailedError, match=REFUSED):
                ws.apply(bad)
        assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT
        ws.apply(good)
        assert (tmp_path / "a.scr").read_text(encoding="utf-8") == f"X{TEXT}"


@pytest.mark.parametrize("part", PARTS)
def test_an_action_that_is_filled_in_with_such_a_part_is_refused(tmp_path, scripted, part):
    wrong = {"documentChanges": [of_file(tmp_path / "a.scr", at_start("X")), PARTS[part]]}
    script = Script(
        capabilities={"codeActionProvider": {"resolveProvider": True}},
        answers={
            ACTIONS: [{"title": "later", "data": 1}],
            "codeAction/resolve": {"title": "later", "edit": wrong},
        },
    )
    with workspace(tmp_path, scripted(script), text=TEXT) as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError, match=REFUSED):
            ws.apply(action)
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("part", PARTS)
def test_a_command_that_asks_for_such_a_part_is_taken_back(tmp_path, scripted, part):
    right = {"documentChanges": [of_file(tmp_path / "a.scr", at_start("X"))]}
    wrong = {"documentChanges": [*right["documentChanges"], PARTS[part]]}
    argv = scripted(commanded(request_for(right), request_for(wrong)))
    with workspace(tmp_path, argv, text=TEXT) as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError, match=REFUSED):
            ws.apply(action)
    assert [one["applied"] for one in verdicts(argv)] == [True, False]
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT


def test_a_file_that_begins_with_a_mark_may_be_counted_with_it_at_first(tmp_path, scripted):
    other = tmp_path / "b.scr"
    other.write_text("\ufeff😀 greet\n", encoding="utf-8")
    counted = {"changes": {other.as_uri(): [replacing((0, 1), (0, 3))]}}
    right = {"changes": {other.as_uri(): [replacing((0, 0), (0, 2))]}}
    script = Script(
        answers={RENAME: right}, faults=[Fault(RENAME, "result", nth=1, result=counted)]
    )
    renamed(tmp_path, scripted(script))
    assert other.read_text(encoding="utf-8") == "\ufeffX greet\n"
