"""Servers that have to be led: told to begin, asked what they have read, believed only at times."""

from __future__ import annotations

from typing import Any

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import Signal
from lspkit.servers.adapters.systems_adapters import Jdtls
from lspkit.servers.definition_parts import Readiness
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import (
    CHANGE,
    POKE,
    PULL,
    SAVE,
    adapter_with,
    asked,
    finding,
    full,
    messages_of,
    published,
    starting,
    told,
    written_outside,
)
from tests.scripted import workspace

SYMBOLS = "textDocument/documentSymbol"
RUN, STOP = "scripted/run", "scripted/stop"
STATUS = "scripted/status"
BUILD = ProofRule(how="progress", source="build", token="build", ask=SYMBOLS, sees="disk")
PUBLISHES = ProofRule(how="progress", token="Publishing", ask=SYMBOLS)
BY_PULL = Diagnostics(how="pull")


def work(kind: str, title: str = "Building") -> dict[str, Any]:
    value = {"kind": kind, "title": title}
    return {"method": "$/progress", "params": {"token": "build/1", "value": value}}


def status(*, quiet: bool) -> dict[str, Any]:
    return {"method": STATUS, "params": {"quiet": quiet}}


# Work that is started


def test_what_the_work_has_found_may_come_after_its_end(tmp_path, scripted, rules):
    rules(BUILD, adapter=starting(RUN))
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
    rules(BUILD, adapter=starting(RUN))
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
    rules(BUILD, adapter=starting(RUN, STOP))
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
    rules(BUILD, adapter=starting(RUN, STOP))
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
    rules(BUILD, adapter=starting(RUN))
    say = [Say(RUN, notification=work("begin")), Say(RUN, notification=work("end"), seconds=0.5)]
    argv = scripted(Script(diagnostics=Diagnostics(how="none"), say=say))
    for name in ("b.scr", "c.scr"):
        (tmp_path / name).write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        reports = ws.check_all(["a.scr", "b.scr", "c.scr"])
        assert len(Log.of(argv).messages(RUN)) == 1
    assert [one.verdict.value for one in reports.values()] == ["clean"] * 3


def test_a_push_in_the_course_of_the_work_counts(tmp_path, scripted, rules):
    rules(PUBLISHES, adapter=Jdtls())
    found = published(tmp_path / "a.scr", finding("found"))
    say = [
        Say(SYMBOLS, notification=work("begin", "Validate documents"), seconds=0.2),
        Say(SYMBOLS, notification=work("begin", "Publishing"), seconds=0.3),
        Say(SYMBOLS, notification=found, seconds=0.4),
    ]
    argv = scripted(Script(diagnostics=Diagnostics(version=False), say=say))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr")
        assert told(Log.of(argv)) == ["didOpen a.scr", "didChange a.scr"]
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["found"])
    assert [one.how for one in report.servers] == ["quiet"]


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


@pytest.mark.parametrize(("within", "found"), [(30.0, ["greet"]), (0.0, [])])
def test_a_server_whose_index_lags_behind_is_asked_again_while_it_finds_nothing(
    tmp_path, scripted, rules, within, found
):
    rules(ProofRule(how="version"), adapter=adapter_with(index_lag=within))
    method = "workspace/symbol"
    place = {"uri": (tmp_path / "a.scr").as_uri(), "range": finding("")["range"]}
    faults = [Fault(method, "result", nth=nth, result=[]) for nth in (1, 2)]
    answers = {method: [{"name": "greet", "kind": 12, "location": place}]}
    argv = scripted(Script(answers=answers, faults=faults))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        assert [one.name for one in ws.workspace_symbols("greet", "a.scr")] == found


def test_a_name_that_is_nowhere_is_given_up_after_a_moment(tmp_path, scripted, rules):
    """And not before it: the last question comes when there is no more time."""
    rules(ProofRule(how="version"), adapter=adapter_with(index_lag=0.2))
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
    rules(ProofRule(how="version"), adapter=adapter_with(index_lag=3.0))
    answers = {"workspace/symbol": []}
    argv = scripted(Script(answers=answers))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        asked_for = ws.submit(ws.workspace_symbols, "other", "a.scr")
        Log.of(argv).wait_for_message("workspace/symbol", 3)
        assert ws.hover("a.scr", 1, 5, text="def greet\n\n")
        assert not asked_for.done()
        assert asked_for.result() == []


def test_a_caller_without_the_time_for_that_is_told_what_is_known(tmp_path, scripted, rules):
    rules(ProofRule(how="version"), adapter=adapter_with(index_lag=30.0))
    argv = scripted(Script(answers={"workspace/symbol": []}))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        ws.document_symbols("a.scr")
        assert ws.workspace_symbols("other", "a.scr", timeout=1.0) == []
