"""Reports that a server is asked for: their ids and sources, and when they are asked for anew."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from tests.runtime.server_log import (
    CLOSE,
    POKE,
    PULL,
    REFRESH,
    asked,
    finding,
    full,
    messages_of,
    published,
    several,
)
from tests.scripted import config_for, workspace

BY_PULL = Diagnostics(how="pull")


def ids(log: Log) -> list[str | None]:
    """The ids of earlier reports that were sent with each question."""
    return [message["params"].get("previousResultId") for message in log.messages(PULL)]


def answer(nth: int, *found: dict[str, Any], **more: Any) -> Fault:
    """The nth question gets this report."""
    return Fault(PULL, "result", nth=nth, result=full(*found, **more))


def known(ws: lspkit.Workspace) -> dict[str, list[str]]:
    """What is known now, by the names of the files."""
    return {path.name: [one.message for one in all] for path, all in ws.diagnostics().items()}


# Ids of reports


def test_an_unchanged_report_is_the_last_one_again(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        first, second = ws.check("a.scr"), ws.check("a.scr")
        log = Log.of(argv)
    assert second.verdict.dirty
    assert first.diagnostics == second.diagnostics
    assert ids(log)[0] is None
    assert ids(log)[1] is not None


def test_a_report_without_an_id_makes_the_older_id_void(tmp_path, scripted):
    faults = [answer(1, finding("old"), resultId="A"), answer(2)]
    argv = scripted(Script(diagnostics=BY_PULL, faults=faults))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        reports = [ws.check("a.scr") for _ in range(3)]
        log = Log.of(argv)
    assert ids(log) == [None, "A", None]
    assert [messages_of(report) for report in reports] == [["old"], [], ["ERROR"]]


def test_an_unchanged_report_keeps_the_id_that_was_asked_with(tmp_path, scripted):
    unchanged = Fault(PULL, "result", nth=2, result={"kind": "unchanged"})
    argv = scripted(
        Script(diagnostics=BY_PULL, faults=[answer(1, finding("old"), resultId="A"), unchanged])
    )
    with workspace(tmp_path, argv, text="fine\n") as ws:
        reports = [ws.check("a.scr") for _ in range(2)]
        ws.check("a.scr")
        log = Log.of(argv)
    assert [messages_of(report) for report in reports] == [["old"], ["old"]]
    assert ids(log)[2] == "A"


def test_unchanged_as_the_first_answer_is_no_report(tmp_path, scripted):
    unchanged = Fault(PULL, "result", nth=1, result={"kind": "unchanged", "resultId": "A"})
    argv = scripted(Script(diagnostics=BY_PULL, faults=[unchanged]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.unknown


def test_the_id_of_a_report_about_a_callers_text_is_not_used_for_the_disk(tmp_path, scripted):
    faults = [answer(1, finding("draft"), resultId="draft")]
    argv = scripted(Script(diagnostics=BY_PULL, faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert messages_of(ws.check("a.scr", text="draft\n")) == ["draft"]
        assert known(ws) == {}
        assert ws.check("a.scr").verdict.clean
        assert ids(Log.of(argv)) == [None, None]


def test_a_server_that_was_started_anew_is_sent_no_id_of_its_predecessor(tmp_path, scripted):
    crash = Fault(POKE, "crash", code=3)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[crash]))
    with workspace(tmp_path, argv, text="ERROR\n", restart={"baseMs": 0}) as ws:
        ws.check("a.scr")
        with pytest.raises(lspkit.ServerBrokenError):
            ws.request("a.scr", POKE)
        assert ws.check("a.scr").verdict.dirty
        assert ids(Log.of(argv)) == [None, None]


# Sources


def test_several_kinds_of_findings_are_asked_for_one_by_one_and_merged(tmp_path, scripted):
    faults = [
        answer(1, finding("type", 0), resultId="T"),
        answer(2, finding("style", 1), resultId="S"),
    ]
    argv = scripted(several("types", "style", faults=faults))
    with workspace(tmp_path, argv, text="one\ntwo\n") as ws:
        report = ws.check("a.scr")
        everything = known(ws)
        ws.check("a.scr")
        questions = [message["params"] for message in Log.of(argv).messages(PULL)]
    assert messages_of(report) == ["type", "style"]
    assert everything == {"a.scr": ["type", "style"]}
    names = [(one["identifier"], one.get("previousResultId")) for one in questions]
    assert names == [("types", None), ("style", None), ("types", "T"), ("style", "S")]


def test_a_newer_report_of_one_kind_replaces_only_that_kinds(tmp_path, scripted):
    faults = [
        answer(1, finding("type")),
        answer(2, finding("style")),
        answer(3),
        Fault(PULL, "error", nth=4, message="busy"),
    ]
    argv = scripted(several("types", "style", faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        report = ws.check("a.scr")
        assert report.verdict.unknown
        assert known(ws) == {"a.scr": ["style"]}


def test_a_push_leaves_what_was_asked_for_alone(tmp_path, scripted):
    pushed = Say(POKE, notification=published(tmp_path / "a.scr", finding("pushed")), nth=1)
    cleared = Say(POKE, notification=published(tmp_path / "a.scr"), nth=2)
    argv = scripted(Script(diagnostics=BY_PULL, say=[pushed, cleared], answers={POKE: None}))
    with workspace(tmp_path, argv, text="x ERROR\n") as ws:
        ws.check("a.scr")
        ws.request("a.scr", POKE)
        assert known(ws) == {"a.scr": ["pushed", "ERROR"]}
        ws.request("a.scr", POKE)
        assert known(ws) == {"a.scr": ["ERROR"]}


def test_a_finding_that_is_pushed_and_asked_for_is_known_once(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="both")))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        ws.check("a.scr")
        assert known(ws) == {"a.scr": ["ERROR"]}


def test_a_finding_of_two_servers_is_known_once_with_both_names(tmp_path, scripted):
    (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
    servers = {
        name: {"command": scripted(Script()), "extensions": [".scr"]} for name in ("one", "two")
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.check("a.scr")
        assert [one.servers for one in ws.diagnostics()[tmp_path / "a.scr"]] == [("one", "two")]


def test_related_documents_of_a_report_are_known(tmp_path, scripted):
    other = tmp_path / "b.scr"
    other.write_text("😀 x\n", encoding="utf-8")
    related = {other.as_uri(): full(finding("over there"))}
    argv = scripted(
        Script(
            diagnostics=BY_PULL,
            faults=[answer(1, relatedDocuments=related)],
        )
    )
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        assert known(ws) == {"b.scr": ["over there"]}


# Asked for anew


def refreshing(**more: Any) -> Script:
    """Says at a poke that its reports are out of date, and waits for the answer."""
    say = Say(POKE, request={"method": REFRESH}, wait=True)
    return Script(diagnostics=BY_PULL, say=[say], answers={POKE: None}, **more)


def test_open_documents_are_asked_about_again_when_the_server_says_so(tmp_path, scripted):
    argv = scripted(refreshing(faults=[answer(2, finding("newer"))]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        epoch = ws.epoch
        ws.request("a.scr", POKE)
        ws.wait_for_change(epoch, timeout=30)
        assert known(ws) == {"a.scr": ["newer"]}
        replies = [one for one in Log.of(argv).messages() if "method" not in one]
        assert [one["result"] for one in replies] == [None]
    assert Log.of(argv).complaints() == []


def test_a_document_that_is_not_open_is_not_asked_about_again(tmp_path, scripted):
    argv = scripted(refreshing())
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("b.scr")
        ws.check("a.scr")
        ws.delete("b.scr")
        log = Log.of(argv)
        log.wait_for_message(CLOSE)
        for _ in range(2):  # what the second one asks is behind whatever the first one has asked
            epoch = ws.epoch
            ws.request("a.scr", POKE)
            ws.wait_for_change(epoch, timeout=30)
        assert asked(log) == ["b.scr", "a.scr", "a.scr", "a.scr"]


def test_a_server_that_takes_its_answer_back_at_once_is_asked_again(tmp_path, scripted):
    say = [
        Say(POKE, request={"method": REFRESH}),
        Say(PULL, request={"method": REFRESH}, nth=2, times=4, seconds=0),
    ]
    argv = scripted(Script(diagnostics=BY_PULL, say=say, answers={POKE: None}))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        ws.request("a.scr", POKE)
        Log.of(argv).wait_for_message(PULL, count=6, timeout=20)


def test_every_open_document_is_asked_about(tmp_path, scripted):
    argv = scripted(refreshing())
    names = ["a.scr", "b.scr", "c.scr"]
    for name in names:
        (tmp_path / name).write_text("fine\n", encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        ws.check_all(names)
        ws.request("a.scr", POKE)
        log = Log.of(argv)
        log.wait_for_message(PULL, count=6)
        assert sorted(asked(log)[3:]) == names


def test_a_check_after_it_does_not_answer_from_memory(tmp_path, scripted):
    newer = Fault(PULL, "result", nth=2, times=0, result=full(finding("newer")))
    argv = scripted(refreshing(faults=[newer]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        ws.request("a.scr", POKE)
        assert messages_of(ws.check("a.scr")) == ["newer"]
