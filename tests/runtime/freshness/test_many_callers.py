"""Several callers at once, one who gives up, and what is known from before."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import (
    CHANGE,
    OPEN,
    POKE,
    PUBLISH,
    PULL,
    define,
    full,
    messages_of,
    published,
    several,
    written_outside,
)
from tests.scripted import workspace

BY_PULL = Diagnostics(how="pull")
#: Answers the first time only.
ONCE = Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang", nth=2, times=0)])


def test_callers_with_texts_of_their_own_each_get_a_report_about_theirs(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    texts = [f"ERROR {number}\n" for number in range(6)]
    with workspace(tmp_path, argv, text="fine\n") as ws, ThreadPoolExecutor(6) as threads:
        reports = list(threads.map(lambda text: ws.check("a.scr", text=text), texts))
        log = Log.of(argv)
    assert [messages_of(report) for report in reports] == [[text.strip()] for text in texts]
    # Each was asked about the version that its report names: a text is one's own meanwhile.
    asked_about, version = [], 0
    for message in log.messages():
        if message.get("method") in (OPEN, CHANGE):
            version = message["params"]["textDocument"]["version"]
        elif message.get("method") == PULL:
            asked_about.append(version)
    named = [report.servers[0].version for report in reports]
    assert sorted(named) == sorted(set(asked_about))
    assert len(set(named)) == len(texts)


def test_a_caller_who_lost_his_turn_to_an_interrupt_holds_nobody_up_for_long(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="fine\n") as ws:
        ws.check("a.scr")
        [server] = ws._engine.pool.servers()
        lost = QueueEntry()
        server.channel.queue.join((tmp_path / "a.scr").as_uri(), lost)
        waiting = ws.submit(ws.check, "a.scr")
        lost.over = True  # he could do this, and not wake the next one
        assert waiting.result(30).verdict.clean


def test_a_cancelled_check_returns_at_once_with_what_is_known(tmp_path, scripted):
    silent = scripted(Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang")]))
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    servers = {
        name: {"command": argv, "extensions": [".scr"], "proof": "pull"}
        for name, argv in (("silent", silent), ("quick", scripted(Script(diagnostics=BY_PULL))))
    }
    cancel = lspkit.CancelToken()
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        checking = ws.submit(ws.check, "a.scr", timeout=None, cancel=cancel)
        Log.of(silent).wait_for_message(PULL)
        ws.wait_for_change(0, timeout=30)  # the other one has answered
        began = time.monotonic()
        cancel.set()
        report = checking.result(30)
        took = time.monotonic() - began
        Log.of(silent).wait_for_message("$/cancelRequest")
    assert took < 5
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["ERROR"])
    evidence = {one.server: one for one in report.servers}
    assert (evidence["quick"].how, evidence["silent"].how) == ("pull", "none")
    assert evidence["silent"].reason == "the call was cancelled"
    assert not evidence["silent"].timed_out


def test_what_a_server_said_before_is_told_where_it_says_nothing_now(tmp_path, scripted):
    with workspace(tmp_path, scripted(ONCE), text="ERROR\n") as ws:
        before = ws.check("a.scr")
        after = ws.check("a.scr", timeout=1)
    assert after.verdict.unknown
    assert after.diagnostics == []
    assert after.stale_diagnostics == before.diagnostics != []


def test_what_was_said_before_an_edit_is_told_where_nothing_is_said_after_it(tmp_path, scripted):
    with workspace(tmp_path, scripted(ONCE), text="ERROR\n") as ws:
        before = ws.check("a.scr")
        (tmp_path / "a.scr").write_text("ERROR and more\n", encoding="utf-8")
        after = ws.check("a.scr", timeout=1)
    assert after.verdict.unknown
    assert after.diagnostics == []
    assert after.stale_diagnostics == before.diagnostics != []


def test_columns_of_what_was_said_before_are_characters(tmp_path, scripted):
    with workspace(tmp_path, scripted(ONCE), text="😀 ERROR\n") as ws:
        ws.check("a.scr")
        [known] = ws.check("a.scr", timeout=1).stale_diagnostics
    assert str(known.range.start) == "1:3"


def test_who_has_answered_has_nothing_known_before(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="ERROR\n") as ws:
        ws.check("a.scr")
        assert ws.check("a.scr").stale_diagnostics == []


def test_a_push_about_an_older_text_is_not_shown(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(PUBLISH, "hang", nth=2, times=0)]))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        ws.check("a.scr")
        (tmp_path / "a.scr").write_text("fine\n", encoding="utf-8")
        ws.sync("a.scr")
        assert ws.diagnostics() == {}


def test_a_late_push_about_an_older_text_hides_nothing_of_the_newer_one(tmp_path, scripted):
    late = Say(POKE, notification=published(tmp_path / "a.scr", version=1))
    argv = scripted(Script(say=[late], answers={POKE: None}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        assert ws.check("a.scr").verdict.dirty
        ws.request("a.scr", POKE)
        known = ws.diagnostics()
    assert [one.message for one in known[tmp_path / "a.scr"]] == ["ERROR"]


def test_reports_about_two_texts_are_not_put_together(tmp_path, scripted):
    """Kinds of findings are asked for one by one, and the file changes in between."""
    faults = [
        Fault(PULL, "delay", nth=1, seconds=2),  # about the old text, in which nothing is wrong
        Fault(PULL, "result", nth=2, result=full()),  # about the new one, of another kind
    ]
    argv = scripted(several("types", "style", faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        checking = ws.submit(ws.check, "a.scr")
        log = Log.of(argv)
        log.wait_for_message(PULL)
        written_outside(tmp_path / "a.scr", "ERROR\n")
        log.wait_for_message(CHANGE)
        report = checking.result(30)
    assert (report.verdict.value, report.servers[0].version) != ("clean", 2)


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ("pull", ProofRule()),
        ("push", ProofRule()),
        ("push", ProofRule(how="version", single=True)),
    ],
    ids=["pull", "push", "one-push"],
)
def test_a_report_names_the_text_that_its_findings_are_about(
    tmp_path, scripted, monkeypatch, how, rule
):
    """The file changes once more while a server is looking at it."""
    define(monkeypatch, rule)
    faults = [Fault(PUBLISH, "hang", nth=2), Fault(PULL, "delay", nth=2, seconds=2)]
    argv = scripted(Script(diagnostics=Diagnostics(how=how), faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "a.scr", "ERROR in it\n")
        checking = ws.submit(ws.check, "a.scr")
        log = Log.of(argv)
        log.wait_for_message(CHANGE)
        written_outside(tmp_path / "a.scr", "😀 ERROR\n")
        log.wait_for_message(CHANGE, count=2)
        report = checking.result(30)
    found = [str(one) for one in report.diagnostics]
    assert report.servers[0].version == 3
    assert found == [f"{tmp_path / 'a.scr'}:1:3 error ERROR (ERROR)"]


def test_an_equal_report_wakes_who_waits_for_one(tmp_path, scripted):
    again = Say(POKE, notification=published(tmp_path / "a.scr", version=1), seconds=0.2)
    argv = scripted(Script(say=[again], answers={POKE: None}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        epoch = ws.epoch
        ws.request("a.scr", POKE)
        assert ws.wait_for_change(epoch, timeout=30) == epoch + 1
        assert ws.wait_for_change(epoch + 1, timeout=0.05) == epoch + 1


def test_opening_again_after_a_restart_does_not_disturb_a_text_of_a_caller(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(POKE, "crash", code=3)]))
    with workspace(tmp_path, argv, text="fine\n", restart={"baseMs": 0, "maxMs": 0}) as ws:
        verdicts = []
        for _ in range(3):
            assert ws.check("a.scr").verdict.clean
            with pytest.raises(lspkit.ServerBrokenError):
                ws.request("a.scr", POKE)
            verdicts.append(ws.check("a.scr", text="ERROR\n").verdict.value)
    assert verdicts == ["dirty"] * 3


def test_nobody_is_answered_while_a_text_is_shown_that_is_only_for_another(tmp_path, scripted):
    faults = [Fault(PULL, "delay", nth=3, seconds=0.5)]
    argv = scripted(Script(diagnostics=BY_PULL, faults=faults))
    (tmp_path / "b.scr").write_text("as on disk\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check_all(["a.scr", "b.scr"])
        guest = ws.submit(ws.check, "b.scr", "only for one\n")
        Log.of(argv).wait_for_message(PULL, count=3)
        others = [ws.submit(ws.check, "a.scr"), ws.submit(ws.document_symbols, "a.scr")]
        for future in (guest, *others):
            future.result(30)
        log = Log.of(argv)
    shown, during = False, []
    for message in log.messages():
        params = message.get("params") or {}
        if message.get("method") == CHANGE and params["textDocument"]["uri"].endswith("b.scr"):
            shown = not shown
        elif shown and message.get("id") is not None:
            during.append(params["textDocument"]["uri"][-5:])
    assert not shown
    assert during == ["b.scr"]
