"""A verdict is about exactly the text that was asked about, whatever comes in between."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.files import Files
from lspkit.testing import Diagnostics, Fault, Log, Say, Script
from lspkit.workspace_boundary import Boundary
from tests.runtime.server_log import (
    CHANGE,
    POKE,
    PUBLISH,
    PULL,
    define,
    messages_of,
    published,
    written_outside,
)
from tests.scripted import workspace

SYMBOLS = "textDocument/documentSymbol"
BARRIER = ProofRule(how="ordered", ask=SYMBOLS)
VERSION = ProofRule(how="version", single=True)


def test_what_was_pushed_about_a_later_text_is_not_taken_for_this_one(
    tmp_path, scripted, monkeypatch
):
    """The answer that shows that all is out comes late, and the text has changed by then."""
    define(monkeypatch, BARRIER)
    faults = [Fault(SYMBOLS, "delay", nth=2, seconds=3)]
    argv = scripted(Script(diagnostics=Diagnostics(version=False), faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "a.scr", "ERROR\n")
        checking = ws.submit(ws.check, "a.scr")
        Log.of(argv).wait_for_message(SYMBOLS, count=2)
        written_outside(tmp_path / "a.scr", "fine again\n")
        Log.of(argv).wait_for_message(CHANGE, count=2)
        report = checking.result(30)
    assert (report.verdict.value, report.servers[0].version) == ("clean", 3)


@pytest.mark.parametrize("how", ["pull", "push"])
def test_a_check_of_the_file_begins_anew_with_the_text_that_is_there_by_now(
    tmp_path, scripted, how
):
    faults = [Fault(PUBLISH, "hang", nth=2), Fault(PULL, "delay", nth=2, seconds=3)]
    argv = scripted(Script(diagnostics=Diagnostics(how=how), faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "a.scr", "fine as well\n")
        checking = ws.submit(ws.check, "a.scr")
        Log.of(argv).wait_for_message(CHANGE)
        written_outside(tmp_path / "a.scr", "ERROR\n")
        report = checking.result(30)
    assert (report.verdict.value, report.servers[0].version) == ("dirty", 3)


def test_a_check_of_a_text_begins_anew_with_that_text(tmp_path, scripted, monkeypatch):
    define(monkeypatch, VERSION)
    argv = scripted(Script(faults=[Fault(PUBLISH, "hang", nth=2)]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        checking = ws.submit(ws.check, "a.scr", text="ERROR mine\n", timeout=30)
        Log.of(argv).wait_for_message(CHANGE)
        ws.hover("a.scr", 1, 1)  # about the file
        report = checking.result(30)
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["ERROR mine"])


def test_a_version_from_before_another_change_proves_nothing_though_its_push_comes_after_it(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, VERSION)
    late = Say(POKE, notification=published(tmp_path / "a.scr", version=1))
    argv = scripted(Script(say=[late], answers={POKE: None}))
    (tmp_path / "b.scr").write_text("def greet\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="NEED greet\n") as ws:
        ws.document_symbols("b.scr")
        assert ws.check("a.scr").verdict.clean
        (tmp_path / "b.scr").write_text("def meet\n", encoding="utf-8")
        ws.document_symbols("b.scr")
        ws.request("b.scr", POKE)
        report = ws.check("a.scr")
    assert (report.verdict.value, messages_of(report)) == ("dirty", ["NEED greet"])


def test_following_the_disk_never_replaces_a_text_of_a_callers_own(tmp_path, scripted, monkeypatch):
    """Whoever looked at the document before the caller's text came finds it there."""
    define(monkeypatch, ProofRule(how="pull"))
    faults = [Fault(PULL, "delay", nth=2, seconds=3)]
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        [server] = ws._engine.pool.servers()
        checking = ws.submit(ws.check, "a.scr", text="ERROR mine\n")
        Log.of(argv).wait_for_message(CHANGE)
        (tmp_path / "a.scr").write_text("fine again\n", encoding="utf-8")
        file = ws._engine.files.locate(str(tmp_path / "a.scr"))
        server.channel.follow_disk(file)
        assert len(Log.of(argv).messages(CHANGE)) == 1
        assert messages_of(checking.result(30)) == ["ERROR mine"]


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    place, other = tmp_path / "a.txt", tmp_path / "new"
    place.write_text("text\n", encoding="utf-8")
    files = Files(Boundary(str(tmp_path), str(tmp_path), (), False))
    over = threading.Event()

    def replace() -> None:
        while not over.is_set():
            other.write_text("text\n", encoding="utf-8")
            other.replace(place)

    replacing = threading.Thread(target=replace)
    replacing.start()
    try:
        for _ in range(3000):
            assert files.read(files.locate(str(place))).text.value == "text\n"
    finally:
        over.set()
        replacing.join()
