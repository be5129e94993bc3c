"""Servers that say when they are done with a file, sometimes too early."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lspkit.diagnostics import freshness_decision
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal
from lspkit.runtime.watch import watcher
from lspkit.servers.definition_parts import DocumentSync
from lspkit.testing import Fault, Log, Say, Script
from tests.runtime.server_log import CHANGE, SAVE, finding, messages_of, published
from tests.scripted import workspace

STATUS = "scripted/status"
LINKS = "textDocument/documentLink"


def state_of(path: Path, state: str) -> dict[str, Any]:
    return {"method": STATUS, "params": {"uri": path.as_uri(), "state": state}}


def met(argv: list[str], *methods: str) -> list[dict[str, Any]]:
    """What the server got of these methods, in order."""
    got = [one.got for one in Log.of(argv).entries() if one.got]
    return [one for one in got if one.get("method") in methods]


def test_a_push_counts_once_the_server_says_that_it_is_done_with_the_file(
    tmp_path, scripted, rules
):
    """The first one may be from before something else was read."""
    rules(ProofRule(how="version", single=True, rests_by=(Signal(STATUS, {"state": "idle"}),)))
    path = tmp_path / "a.scr"
    second = published(path, finding("second"), version=1)
    busy, idle = state_of(path, "busy"), state_of(path, "idle")
    say = [
        Say("textDocument/didOpen", notification=busy),
        Say("textDocument/didOpen", notification=second, seconds=0.5),
        Say("textDocument/didOpen", notification=idle, seconds=0.6),
    ]
    argv = scripted(Script(say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr")
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["second"])


@pytest.mark.parametrize(("ask", "verdict"), [(LINKS, "dirty"), ("", "clean")])
def test_a_server_that_says_too_early_that_it_is_done_is_asked_something(
    tmp_path, scripted, rules, ask, verdict
):
    """It answers when it is: the rule without a question has a stale push for the last."""
    states = tuple(Signal(STATUS, {"state": state}) for state in ("idle", "waiting"))
    rules(ProofRule(how="version", single=True, rests_by=states, ask=ask))
    path = tmp_path / "a.scr"
    waiting, idle = state_of(path, "waiting"), state_of(path, "idle")
    second = published(path, finding("second"), version=2)
    say = [
        Say("textDocument/didOpen", notification=idle, seconds=0.05),
        Say("textDocument/didChange", notification=waiting, seconds=0.05),
        Say(LINKS, nth=2, notification=second),
        Say(LINKS, nth=2, notification=idle),
    ]
    argv = scripted(Script(say=say, answers={LINKS: []}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        assert ws.write("a.scr", "as fine\n").verdict.value == verdict


@pytest.mark.parametrize("early", ["idle", "waiting"])
def test_a_server_that_seems_to_be_done_before_it_begins_is_waited_for(
    tmp_path, scripted, rules, monkeypatch, early
):
    """clangd has one thread for the text and one for what it includes, which may begin later."""
    monkeypatch.setattr(freshness_decision, "BEGINS_WITHIN", 30.0)  # however busy the machine is
    states = tuple(Signal(STATUS, {"state": state}) for state in ("idle", "waiting"))
    rules(ProofRule(how="version", single=True, rests_by=states, ask=LINKS))
    path = tmp_path / "a.scr"

    def says(state: str, seconds: float) -> Say:
        return Say(CHANGE, notification=state_of(path, state), seconds=seconds)

    second = published(path, finding("second"), version=2)
    say = [
        Say("textDocument/didOpen", notification=state_of(path, "busy")),
        Say("textDocument/didOpen", notification=state_of(path, "idle"), seconds=0.05),
        says(early, 0.05),  # after the push about the text with the old includes
        says("busy", 0.25),
        says("idle", 0.5),
        Say(CHANGE, notification=second, seconds=0.55),
        says("idle", 0.6),
    ]
    late = Fault(LINKS, "delay", seconds=0.15, nth=2)
    argv = scripted(Script(say=say, answers={LINKS: []}, faults=[late]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        assert ws.write("a.scr", "as fine\n").verdict.dirty


@pytest.mark.parametrize(("text", "verdict"), [("ERROR\n", "dirty"), ("fine\n", "unknown")])
def test_who_refuses_the_question_is_believed_only_if_something_is_wrong(
    tmp_path, scripted, rules, text, verdict
):
    """clangd finds nothing in a file for a language or a machine that it does not know."""
    rests_by = (Signal(STATUS, {"state": "idle"}),)
    rules(ProofRule(how="version", single=True, rests_by=rests_by, ask=LINKS))
    uri = (tmp_path / "a.scr").as_uri()
    idle = {"method": STATUS, "params": {"uri": uri, "state": "idle"}}
    say = [Say("textDocument/didOpen", notification=idle, seconds=0.05)]
    argv = scripted(Script(say=say, faults=[Fault(LINKS, "error", message="invalid AST")]))
    with workspace(tmp_path, argv, text=text) as ws:
        report = ws.check("a.scr")
    assert report.verdict.value == verdict
    assert ("invalid AST" in report.why) is (verdict == "unknown")


def test_a_first_question_about_the_project_waits_until_the_server_is_done_with_its_file(
    tmp_path, scripted, rules
):
    """Only then is the file in its index."""
    rules(ProofRule(how="version", rests_by=(Signal(STATUS, {"state": "idle"}),)))
    uri = (tmp_path / "a.scr").as_uri()
    idle = {"method": STATUS, "params": {"uri": uri, "state": "idle"}}
    say = [Say("textDocument/didOpen", notification=idle, seconds=0.5)]
    argv = scripted(Script(say=say, answers={"workspace/symbol": []}))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        assert ws.workspace_symbols("greet", "a.scr") == []
    at = {one.got.get("method"): one.time for one in Log.of(argv).entries() if one.got}
    assert at["workspace/symbol"] - at["textDocument/didOpen"] > 0.4


def saves_of(tmp_path: Path, argv: list[str], rounds: int) -> Iterator[list[str]]:
    """What a server was told when three open files had changed on disk, in each round."""
    paths = [tmp_path / f"{name}.scr" for name in "abc"]
    with workspace(tmp_path, argv, text="fine\n") as ws:
        for path in paths:
            path.write_text("fine\n", encoding="utf-8")
        assert all(one.verdict.clean for one in ws.check_all(paths).values())
        before = 0
        for number in range(rounds):
            for path in paths:
                path.write_text(f"ERROR {number}\n", encoding="utf-8")
            assert all(one.verdict.dirty for one in ws.check_all(paths).values())
            methods = [one["method"] for one in met(argv, CHANGE, SAVE)]
            yield methods[before:]
            before = len(methods)


def test_of_files_that_changed_together_one_is_saved_if_that_is_enough(
    tmp_path, scripted, rules, monkeypatch
):
    rules(ProofRule(how="version", single=True), documents=DocumentSync(saves_once=True))
    # Else the watcher may announce the first write before there is another one.
    for name in ("SETTLE", "LONGEST"):
        monkeypatch.setattr(watcher, name, 60.0)
    for told in saves_of(tmp_path, scripted(Script()), 10):
        assert told[:4] == [CHANGE, CHANGE, CHANGE, SAVE]
        assert told.count(SAVE) == 1


def test_otherwise_each_of_them_is_saved(tmp_path, scripted, rules):
    rules(ProofRule(how="version", single=True))
    for told in saves_of(tmp_path, scripted(Script()), 3):
        assert told.count(SAVE) == 3
