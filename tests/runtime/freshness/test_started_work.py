"""Servers that have to be led: told to begin, asked what they have read, believed only at times."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.server_signal import Signal
from lspkit.servers.definition_parts import Exceptions, Readiness
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import (
    CHANGE,
    POKE,
    PULL,
    SAVE,
    asked,
    finding,
    full,
    messages_of,
    published,
    told,
    written_outside,
)
from tests.scripted import workspace

SYMBOLS = "textDocument/documentSymbol"
RUN, STOP = "scripted/run", "scripted/stop"
STATUS = "scripted/status"
LINKS = "textDocument/documentLink"
BUILD = ProofRule(
    how="progress", source="build", token="build", start=RUN, ask=SYMBOLS, sees="disk"
)
PUBLISHES = ProofRule(how="progress", token="Publishing", publishes=True, trusted=True, ask=SYMBOLS)
BY_PULL = Diagnostics(how="pull")


def work(kind: str, title: str = "Building") -> dict[str, Any]:
    value = {"kind": kind, "title": title}
    return {"method": "$/progress", "params": {"token": "build/1", "value": value}}


def status(*, quiet: bool) -> dict[str, Any]:
    return {"method": STATUS, "params": {"quiet": quiet}}


# Work that is started


def test_what_the_work_has_found_may_come_after_its_end(tmp_path, scripted, rules):
    rules(BUILD)
    late = published(tmp_path / "a.scr", finding("late"))
    say = [
        Say(RUN, notification=work("begin")),
        Say(RUN, notification=work("end")),
        Say(SYMBOLS, notification=late),
    ]
    argv = scripted(Script(diagnostics=Diagnostics(how="none"), say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr")
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["late"])
    assert [one.how for one in report.servers] == ["progress"]


def test_work_is_started_only_when_it_is_not_under_way(tmp_path, scripted, rules):
    """Otherwise the one under way might be cancelled, which looks like its end."""
    rules(BUILD)
    say = [
        Say(RUN, notification=work("begin"), times=0),
        Say(POKE, notification=work("end"), times=0),
    ]
    script = Script(diagnostics=Diagnostics(how="none"), say=say, answers={POKE: None})
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        first = ws.submit(ws.check, "a.scr", timeout=30)
        log.wait_for_message(RUN)
        written_outside(tmp_path / "a.scr", "fine again\n")
        second = ws.submit(ws.check, "b.scr", timeout=30)
        log.wait_for_message(CHANGE)
        ws.hover("b.scr", 1, 1)
        assert len(log.messages(RUN)) == 1
        ws.request("b.scr", POKE)
        log.wait_for_message(RUN, count=2)
        ws.request("b.scr", POKE)
        assert [one.result(30).verdict.value for one in (first, second)] == ["clean"] * 2


def test_work_that_nobody_waits_for_any_more_is_ended(tmp_path, scripted, rules):
    rules(msgspec.structs.replace(BUILD, stop=STOP))
    say = [
        Say(RUN, notification=work("begin"), times=0),
        Say(STOP, notification=work("end")),
        Say(RUN, notification=work("end"), nth=2),
    ]
    argv = scripted(Script(diagnostics=Diagnostics(how="none"), say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr", timeout=1).verdict.unknown  # the caller has given up
        written_outside(tmp_path / "a.scr", "fine again\n")
        assert ws.check("a.scr", timeout=30).verdict.clean
        methods = [message.get("method") for message in Log.of(argv).messages()]
    assert [one for one in methods if one in (RUN, STOP)] == [RUN, STOP, RUN]


def test_work_that_somebody_waits_for_is_left_alone(tmp_path, scripted, rules):
    rules(msgspec.structs.replace(BUILD, stop=STOP))
    say = [
        Say(RUN, notification=work("begin"), times=0),
        Say(POKE, notification=work("end"), times=0),
    ]
    script = Script(diagnostics=Diagnostics(how="none"), say=say, answers={POKE: None})
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        log = Log.of(argv)
        ws.hover("b.scr", 1, 1)
        first = ws.submit(ws.check, "a.scr", timeout=30)
        log.wait_for_message(RUN)
        written_outside(tmp_path / "b.scr", "fine again\n")
        second = ws.submit(ws.check, "b.scr", timeout=30)
        log.wait_for_message(SAVE)
        ws.request("b.scr", POKE)
        assert first.result(30).verdict.clean
        log.wait_for_message(RUN, count=2)
        ws.request("b.scr", POKE)
        assert second.result(30).verdict.clean
        assert log.messages(STOP) == []


def test_callers_who_wait_for_the_same_work_share_it(tmp_path, scripted, rules):
    rules(BUILD)
    say = [Say(RUN, notification=work("begin")), Say(RUN, notification=work("end"), seconds=0.5)]
    argv = scripted(Script(diagnostics=Diagnostics(how="none"), say=say))
    for name in ("b.scr", "c.scr"):
        (tmp_path / name).write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        reports = ws.check_all(["a.scr", "b.scr", "c.scr"])
        assert len(Log.of(argv).messages(RUN)) == 1
    assert [one.verdict.value for one in reports.values()] == ["clean"] * 3


def test_a_push_in_the_course_of_the_work_is_a_proof(tmp_path, scripted, rules):
    rules(PUBLISHES)
    found = published(tmp_path / "a.scr", finding("found"))
    say = [
        Say(SYMBOLS, notification=work("begin", "Publishing"), seconds=0.3),
        Say(SYMBOLS, notification=found, seconds=0.4),
    ]
    argv = scripted(Script(diagnostics=Diagnostics(version=False), say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr")
        assert told(Log.of(argv)) == ["didOpen a.scr", "didChange a.scr"]
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["found"])
    assert [one.how for one in report.servers] == ["progress"]


# Whether it is to be believed


def test_an_answer_given_while_the_project_is_loaded_anew_counts_for_nothing(
    tmp_path, scripted, rules
):
    rules(
        ProofRule(how="pull"),
        readiness=Readiness(
            load_begins_within=1.0,
            ready_by=Signal(STATUS, {"quiet": True}),
            unready_by=Signal(STATUS, {"quiet": False}),
        ),
    )
    say = [
        Say("initialized", notification=status(quiet=True)),
        Say(PULL, notification=status(quiet=False), nth=2),
        Say(PULL, notification=status(quiet=True), nth=2, seconds=0.5),
    ]
    faults = [Fault(PULL, "result", nth=2, result=full())]
    argv = scripted(Script(diagnostics=BY_PULL, say=say, faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "a.scr", "ERROR\n")
        report = ws.check("a.scr")
        assert asked(Log.of(argv)) == ["a.scr"] * 3
    assert report.verdict.dirty


def test_while_the_project_is_loaded_anew_questions_are_answered_and_findings_wait(
    tmp_path, scripted, rules
):
    rules(
        ProofRule(how="pull"),
        readiness=Readiness(
            load_begins_within=1.0,
            ready_by=Signal(STATUS, {"quiet": True}),
            unready_by=Signal(STATUS, {"quiet": False}),
        ),
    )
    say = [
        Say("initialized", notification=status(quiet=True)),
        Say(POKE, notification=status(quiet=False)),
    ]
    argv = scripted(Script(diagnostics=BY_PULL, say=say, answers={POKE: None}))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        assert ws.check("a.scr").verdict.clean
        ws.request("a.scr", POKE)
        assert ws.document_symbols("a.scr")
        assert ws.check("a.scr", timeout=0.5).verdict.unknown


def test_a_push_counts_once_the_server_says_that_it_is_done_with_the_file(
    tmp_path, scripted, rules
):
    """The first one may be from before something else was read."""
    rules(ProofRule(how="version", single=True, rests_by=(Signal(STATUS, {"state": "idle"}),)))
    uri = (tmp_path / "a.scr").as_uri()
    second = published(tmp_path / "a.scr", finding("second"), version=1)
    busy, idle = (
        {"method": STATUS, "params": {"uri": uri, "state": state}} for state in ("busy", "idle")
    )
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
    waiting, idle = (
        {"method": STATUS, "params": {"uri": path.as_uri(), "state": state}}
        for state in ("waiting", "idle")
    )
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
    tmp_path, scripted, rules, early
):
    """clangd has one thread for the text and one for what it includes, which may begin later."""
    states = tuple(Signal(STATUS, {"state": state}) for state in ("idle", "waiting"))
    rules(ProofRule(how="version", single=True, rests_by=states, ask=LINKS))
    path = tmp_path / "a.scr"

    def says(state: str, seconds: float) -> Say:
        params = {"uri": path.as_uri(), "state": state}
        return Say(
            "textDocument/didChange",
            notification={"method": STATUS, "params": params},
            seconds=seconds,
        )

    opened = {"method": STATUS, "params": {"uri": path.as_uri(), "state": "idle"}}
    second = published(path, finding("second"), version=2)
    say = [
        Say("textDocument/didOpen", notification=opened, seconds=0.05),
        says(early, 0.05),  # after the push about the text with the old includes
        says("busy", 0.25),
        says("idle", 0.5),
        Say("textDocument/didChange", notification=second, seconds=0.55),
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


@pytest.mark.parametrize(("within", "found"), [(30.0, ["greet"]), (0.0, [])])
def test_a_server_whose_index_lags_behind_is_asked_again_while_it_finds_nothing(
    tmp_path, scripted, rules, within, found
):
    rules(ProofRule(how="version"), exceptions=Exceptions(indexed_within=within))
    method = "workspace/symbol"
    place = {"uri": (tmp_path / "a.scr").as_uri(), "range": finding("")["range"]}
    faults = [Fault(method, "result", nth=nth, result=[]) for nth in (1, 2)]
    answers = {method: [{"name": "greet", "kind": 12, "location": place}]}
    argv = scripted(Script(answers=answers, faults=faults))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        assert [one.name for one in ws.workspace_symbols("greet", "a.scr")] == found


def test_a_name_that_is_nowhere_is_given_up_after_a_moment(tmp_path, scripted, rules):
    """And not before it: the last question comes when there is no more time."""
    rules(ProofRule(how="version"), exceptions=Exceptions(indexed_within=0.2))
    argv = scripted(Script(answers={"workspace/symbol": []}))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        assert ws.workspace_symbols("other", "a.scr") == []
        log = Log.of(argv).entries()
        at = {one.got.get("method"): one.time for one in log if one.got}
        assert at["workspace/symbol"] - at["textDocument/didOpen"] > 0.18
        at_first = len(Log.of(argv).messages("workspace/symbol"))
        # It was given up when everything was in the index, so the next one is asked only once.
        assert ws.workspace_symbols("other", "a.scr") == []
        assert len(Log.of(argv).messages("workspace/symbol")) == at_first + 1
    assert at_first > 1


def test_who_shows_a_text_of_his_own_does_not_wait_for_all_of_that(tmp_path, scripted, rules):
    rules(ProofRule(how="version"), exceptions=Exceptions(indexed_within=3.0))
    answers = {"workspace/symbol": []}
    argv = scripted(Script(answers=answers))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        asked_for = ws.submit(ws.workspace_symbols, "other", "a.scr")
        Log.of(argv).wait_for_message("workspace/symbol", 3)
        assert ws.hover("a.scr", 1, 5, text="def greet\n\n")
        assert not asked_for.done()
        assert asked_for.result() == []


def test_a_caller_without_the_time_for_that_is_told_what_is_known(tmp_path, scripted, rules):
    rules(ProofRule(how="version"), exceptions=Exceptions(indexed_within=30.0))
    argv = scripted(Script(answers={"workspace/symbol": []}))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        ws.document_symbols("a.scr")
        assert ws.workspace_symbols("other", "a.scr", timeout=1.0) == []
