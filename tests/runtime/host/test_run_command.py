"""Code actions that are commands: the server runs one, and its edits go through the edit jail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.scripted import interrupted, workspace

ACTIONS, COMMAND, APPLY = (
    "textDocument/codeAction",
    "workspace/executeCommand",
    "workspace/applyEdit",
)
CALL = {"title": "Mend it", "command": "scripted.mend", "arguments": [1, "é"]}
#: The same thing in the two forms that the protocol has for it.
FORMS = {
    "command": CALL,
    "action": {"title": "Mend it", "kind": "quickfix", "command": CALL},
}


def at_start(text: str) -> dict[str, Any]:
    start = {"line": 0, "character": 0}
    return {"range": {"start": start, "end": start}, "newText": text}


def asks_for(path: Path, text: str, **more: Any) -> Say:
    """While the command runs, the server wants a text put before what is in a file."""
    return request_for({"changes": {path.as_uri(): [at_start(text)]}}, **more)


def request_for(edit: dict[str, Any], **more: Any) -> Say:
    """While the command runs, the server wants this edit to be made."""
    request = {"method": APPLY, "params": {"label": "mend", "edit": edit}}
    return Say(COMMAND, request=request, **{"wait": True, **more})


def commanded(*say: Say, form: str = "action", **more: Any) -> Script:
    known = {"executeCommandProvider": {"commands": ["scripted.mend"]}, "codeActionProvider": True}
    answers = {ACTIONS: [FORMS[form]], COMMAND: None}
    faults = [Fault("codeAction/resolve", "error"), *more.pop("faults", ())]
    return Script(
        say=say,
        capabilities=known,
        answers=answers,
        faults=faults,
        diagnostics=Diagnostics(how="pull"),
        **more,
    )


def verdicts(argv: list[str]) -> list[dict[str, Any]]:
    """What the server heard of its edits."""
    return [
        entry.got["result"]
        for entry in Log.of(argv).entries()
        if entry.got and "applied" in (entry.got.get("result") or {})
    ]


@pytest.mark.parametrize("form", FORMS)
def test_the_edit_of_a_command_is_made_and_can_be_taken_back(tmp_path, scripted, form):
    argv = scripted(commanded(asks_for(tmp_path / "a.scr", "new é\n"), form=form))
    with workspace(tmp_path, argv, text="old\r\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        assert (tmp_path / "a.scr").read_bytes() == b"old\r\n"
        applied = ws.apply(action)
        assert (tmp_path / "a.scr").read_bytes() == "new é\r\nold\r\n".encode()
        assert [one.name for one in applied.files] == ["a.scr"]
        assert verdicts(argv) == [{"applied": True}]
        [asked] = Log.of(argv).messages(COMMAND)
        assert asked["params"] == {"command": "scripted.mend", "arguments": [1, "é"]}
        ws.undo(applied)
        assert (tmp_path / "a.scr").read_bytes() == b"old\r\n"


def test_several_edits_of_one_command_are_one(tmp_path, scripted):
    target, other = tmp_path / "a.scr", tmp_path / "b.scr"
    other.write_bytes(b"other\n")
    edits = [asks_for(target, "2 "), asks_for(other, "3 "), asks_for(target, "1 ")]
    with workspace(tmp_path, scripted(commanded(*edits)), text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        applied = ws.apply(action)
        assert (target.read_bytes(), other.read_bytes()) == (b"1 2 old\n", b"3 other\n")
        assert sorted(one.path.name for one in applied.touched) == ["a.scr", "b.scr"]
        ws.undo(applied)
        assert (target.read_bytes(), other.read_bytes()) == (b"old\n", b"other\n")


def test_an_edit_that_would_escape_is_refused_and_those_before_it_are_taken_back(
    tmp_path, scripted, tmp_path_factory
):
    outside = tmp_path_factory.mktemp("outside") / "c.scr"
    outside.write_bytes(b"theirs\n")
    argv = scripted(commanded(asks_for(tmp_path / "a.scr", "new "), asks_for(outside, "ours ")))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.PathError) as caught:
            ws.apply(action)
        assert caught.value.code == "EOUTSIDE"
        heard = verdicts(argv)
        assert [one["applied"] for one in heard] == [True, False]
        assert heard[1]["failureReason"] == str(caught.value)
        assert (tmp_path / "a.scr").read_bytes() == b"old\n"
        assert outside.read_bytes() == b"theirs\n"


def test_half_an_edit_of_a_command_is_refused(tmp_path, scripted):
    good = asks_for(tmp_path / "a.scr", "new ")
    change = {
        "textDocument": {"uri": (tmp_path / "a.scr").as_uri()},
        "edits": [at_start("half "), {"range": "?", "newText": "other half"}],
    }
    half = {"method": APPLY, "params": {"edit": {"documentChanges": [change]}}}
    argv = scripted(commanded(good, Say(COMMAND, request=half, wait=True)))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError, match="applyEdit cannot be read"):
            ws.apply(action)
        assert [one["applied"] for one in verdicts(argv)] == [True, False]
        assert (tmp_path / "a.scr").read_bytes() == b"old\n"


def test_an_action_that_is_resolved_to_nonsense_is_not_done(tmp_path, scripted):
    answers = {ACTIONS: [{"title": "Mend it", "data": 1}], "codeAction/resolve": 42}
    argv = scripted(Script(capabilities={"codeActionProvider": True}, answers=answers))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError, match="resolve cannot be read"):
            ws.apply(action)


def test_a_command_that_fails_leaves_nothing(tmp_path, scripted):
    script = commanded(asks_for(tmp_path / "a.scr", "new "), faults=[Fault(COMMAND, "error")])
    with workspace(tmp_path, scripted(script), text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError):
            ws.apply(action)
        assert (tmp_path / "a.scr").read_bytes() == b"old\n"


def test_a_command_that_does_not_end_in_time_leaves_nothing(tmp_path, scripted):
    script = commanded(asks_for(tmp_path / "a.scr", "new "), faults=[Fault(COMMAND, "hang")])
    with workspace(tmp_path, scripted(script), text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestTimeoutError):
            ws.apply(action, timeout=0.5)
        assert (tmp_path / "a.scr").read_bytes() == b"old\n"


def test_a_command_that_is_interrupted_leaves_nothing(tmp_path, scripted):
    target = tmp_path / "a.scr"
    argv = scripted(commanded(asks_for(target, "new "), faults=[Fault(COMMAND, "hang")]))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(KeyboardInterrupt), interrupted(lambda: verdicts(argv)):
            ws.apply(action)
        assert target.read_bytes() == b"old\n"


def test_an_edit_that_comes_after_the_command_is_refused(tmp_path, scripted):
    late = asks_for(tmp_path / "a.scr", "new ", wait=False, seconds=0.3)
    argv = scripted(commanded(late))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        assert ws.apply(action).touched == ()
        Log.of(argv).wait_for(lambda _: verdicts(argv))
        assert [one["applied"] for one in verdicts(argv)] == [False]
        assert (tmp_path / "a.scr").read_bytes() == b"old\n"


def test_a_command_that_is_the_editors_is_not_sent(tmp_path, scripted):
    argv = scripted(
        Script(
            capabilities={"executeCommandProvider": {"commands": []}, "codeActionProvider": True},
            answers={ACTIONS: [CALL]},
        )
    )
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(
            lspkit.RequestFailedError, match=r"scripted\.mend is a command for an editor"
        ):
            ws.apply(action)
        assert Log.of(argv).messages(COMMAND) == []


def test_an_action_that_was_offered_for_another_text_is_not_made(tmp_path, scripted):
    argv = scripted(commanded(asks_for(tmp_path / "a.scr", "new ")))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        (tmp_path / "a.scr").write_bytes(b"other\n")
        with pytest.raises(lspkit.PathError) as caught:
            ws.apply(action)
        assert caught.value.code == "ECHANGED"
        assert Log.of(argv).messages(COMMAND) == []


@pytest.mark.parametrize(("text", "kept"), [("fine\n", True), ("ERROR\n", False)])
def test_an_edit_of_a_command_is_verified(tmp_path, scripted, text, kept):
    argv = scripted(commanded(asks_for(tmp_path / "a.scr", text)))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        if kept:
            ws.apply(action, check="project")
        else:
            with pytest.raises(lspkit.RequestFailedError, match="was undone"):
                ws.apply(action, check="project")
        expected = f"{text}old\n" if kept else "old\n"
        assert (tmp_path / "a.scr").read_text() == expected
