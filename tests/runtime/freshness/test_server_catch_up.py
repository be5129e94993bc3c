"""Servers that take in what has changed in their own time: they are asked, or waited for."""

from __future__ import annotations

import codecs
from typing import Any

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.adapters.systems_adapters import Jdtls
from lspkit.servers.definition_parts import DocumentSync
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, watchers
from tests.runtime.server_log import (
    CHANGE,
    POKE,
    PULL,
    SAVE,
    WATCHED,
    adapter_with,
    finding,
    messages_of,
    name_of,
    published,
    written_outside,
)
from tests.scripted import workspace

SYMBOLS, TEXT = "textDocument/documentSymbol", "scripted/text"
BY_PULL = Diagnostics(how="pull")


def work(kind: str) -> dict[str, Any]:
    value = {"kind": kind, "title": "Rechecking"}
    return {"method": "$/progress", "params": {"token": "recheck/1", "value": value}}


def test_a_push_from_before_a_server_has_looked_at_other_files_does_not_count(
    tmp_path, scripted, rules
):
    """It says by its work when it does that, in the background, after it was told of them."""
    rules(ProofRule(how="version", token="Rechecking", debounce=0.01, ask=SYMBOLS))
    found = published(tmp_path / "a.scr", finding("late"), version=2)
    say = [
        watchers("**/*.scr"),
        Say(POKE, notification=work("begin")),
        Say(POKE, notification=work("end"), nth=2),
        Say(POKE, notification=found, nth=2),
    ]
    argv = scripted(Script(say=say, answers={POKE: None}))
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "b.scr", "new\n")
        checked = ws.submit(ws.check, "a.scr", timeout=30)
        log = Log.of(argv)
        log.wait_for_message(WATCHED)
        log.wait_for_message(CHANGE)  # it has pushed about the new version by then
        ws.request("b.scr", POKE)
        assert not checked.done()
        ws.request("b.scr", POKE)
        report = checked.result(30)
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["late"])


def test_a_server_that_reads_in_the_background_is_asked_once_it_has_read(tmp_path, scripted, rules):
    rules(ProofRule(how="pull"), adapter=adapter_with(text_request=TEXT))
    faults = [Fault(TEXT, "result", nth=nth, result="old\n") for nth in (1, 2)]
    script = Script(
        diagnostics=BY_PULL, say=[watchers("**/*.scr")], faults=faults, answers={TEXT: "new\n"}
    )
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "b.scr", "new\n")
        assert ws.check("a.scr").verdict.clean
        methods = [message.get("method") for message in Log.of(argv).messages()]
    assert [one for one in methods if one in (TEXT, PULL)] == [PULL, TEXT, TEXT, TEXT, PULL]


def test_a_file_that_is_gone_is_read_when_the_server_knows_it_no_more(tmp_path, scripted, rules):
    rules(ProofRule(how="pull"), adapter=adapter_with(text_request=TEXT))
    faults = [Fault(TEXT, "error", nth=2, message="no such file")]
    script = Script(
        diagnostics=BY_PULL, say=[watchers("**/*.scr")], faults=faults, answers={TEXT: "old\n"}
    )
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        (tmp_path / "b.scr").unlink()
        assert ws.check("a.scr").verdict.clean
        assert len(Log.of(argv).messages(TEXT)) == 2


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (codecs.BOM_UTF8 + b"new\r\n", "\ufeffnew\n"),
        (b"caf\xe9\n", ""),
        (b"caf\xe9\n", "caf\ufffd\n"),
        (b"new\0\n", "new\0\n"),
    ],
    ids=["byte order mark", "not UTF-8", "not UTF-8, with a replacement", "NUL"],
)
def test_a_server_may_have_another_text_of_a_file_than_lspkit(
    tmp_path, scripted, rules, content, known
):
    rules(ProofRule(how="pull"), adapter=adapter_with(text_request=TEXT))
    faults = [Fault(TEXT, "result", nth=1, result="old\n")]
    script = Script(
        diagnostics=BY_PULL, say=[watchers("**/*.scr")], faults=faults, answers={TEXT: known}
    )
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "b.scr", content)
        assert ws.check("a.scr", timeout=20).verdict.clean
        requests = len(Log.of(argv).messages(TEXT))
        assert ws.check("a.scr", timeout=20).verdict.clean
        assert len(Log.of(argv).messages(TEXT)) == requests


@pytest.mark.parametrize("timeout", [None, 1.0])
def test_a_server_that_never_reads_a_file_proves_nothing(tmp_path, scripted, rules, timeout):
    rules(ProofRule(how="pull"), adapter=adapter_with(text_request=TEXT))
    script = Script(diagnostics=BY_PULL, say=[watchers("**/*.scr")], answers={TEXT: "old\n"})
    argv = scripted(script)
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n", timing={"requestTimeoutMs": 1000}) as ws:
        ws.check("a.scr")
        written_outside(tmp_path / "b.scr", "new\n")
        report = ws.submit(ws.check, "a.scr", timeout=timeout).result(30)
    assert report.verdict.unknown
    # The time may also be over during a request.
    assert "has not read b.scr" in report.why or f"did not answer {TEXT}" in report.why


def test_a_server_that_takes_in_changes_late_is_asked_about_what_has_changed_first(
    tmp_path, scripted, rules
):
    rules(ProofRule(how="pull"), documents=DocumentSync(takes_in_by=SYMBOLS))
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "b.scr").write_text("old\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.hover("b.scr", 1, 1)
        ws.check("a.scr")
        written_outside(tmp_path / "b.scr", "new\n")
        reports = [ws.check("a.scr") for _ in range(2)]
        messages = Log.of(argv).messages()
    assert [one.verdict.value for one in reports] == ["clean"] * 2
    about = [
        (one["method"], name_of(one))
        for one in messages
        if one.get("method") in (CHANGE, SYMBOLS, PULL)
    ]
    assert about == [
        (PULL, "a.scr"),
        (CHANGE, "b.scr"),
        (SYMBOLS, "b.scr"),
        (PULL, "a.scr"),
        (PULL, "a.scr"),
    ]


def test_a_server_may_want_whole_texts_and_not_to_hear_of_saves(tmp_path, scripted, rules):
    rules(ProofRule(how="pull"), adapter=Jdtls())
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        (tmp_path / "a.scr").write_text("ERROR\n", encoding="utf-8")
        assert ws.check("a.scr").verdict.dirty
        [change] = Log.of(argv).messages(CHANGE)
        assert Log.of(argv).messages(SAVE) == []
    assert change["params"]["contentChanges"] == [{"text": "ERROR\n"}]
