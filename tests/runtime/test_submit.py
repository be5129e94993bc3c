"""Calls as futures: as an executor would give them, but without a thread per call."""

from __future__ import annotations

import threading

import pytest

import lspkit
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, workspace

HANG = Script(faults=[Fault("textDocument/definition", "hang")])


def test_a_future_has_the_result(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        future = ws.submit(ws.definition, "a.scr", 2, 4)
        assert [str(one.range.start) for one in future.result(20)] == ["1:5"]


def test_a_future_has_the_error(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        missing = ws.submit(ws.definition, "missing.scr", 2, 4)
        impossible = ws.submit(ws.definition, "a.scr", 0, 4)
        assert isinstance(missing.exception(20), lspkit.PathError)
        assert isinstance(impossible.exception(20), lspkit.PositionError)


def test_many_calls_on_a_hung_server_hold_up_nobody_and_take_no_threads(tmp_path, scripted):
    (tmp_path / "b.ok").write_text(SOURCE, encoding="utf-8")
    argv = scripted(HANG)
    servers = {
        "hung": {"command": argv, "extensions": [".scr"]},
        "well": {"command": scripted(Script()), "extensions": [".ok"]},
    }
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        hung = [ws.submit(ws.definition, "a.scr", 2, 4, timeout=60) for _ in range(100)]
        Log.of(argv).wait_for_message("textDocument/definition", count=100)
        well = ws.submit(ws.definition, "b.ok", 2, 4)
        assert [str(one.range.start) for one in well.result(20)] == ["1:5"]
        threads = [one.name for one in threading.enumerate() if "lspkit" in one.name]
        assert len(threads) <= 2 * 3 + 4 + 1 + 1  # servers, workers, timers, watcher
        assert not any(one.done() for one in hung)
    assert {type(one.exception(0)) for one in hung} == {lspkit.WorkspaceClosed}


def test_a_submitted_call_ends_at_its_deadline(tmp_path, scripted):
    argv = scripted(HANG)
    with workspace(tmp_path, argv) as ws:
        ws.hover("a.scr", 2, 4)  # else its start might take all the time that there is
        late = ws.submit(ws.definition, "a.scr", 2, 4, timeout=0.5)
        assert isinstance(late.exception(20), lspkit.RequestTimeout)
        assert Log.of(argv).wait_for_message("$/cancelRequest")


@pytest.mark.parametrize("kind", [lspkit.Cancel, threading.Event])
def test_a_submitted_call_can_be_cancelled(tmp_path, scripted, kind):
    argv, cancel = scripted(HANG), kind()
    with workspace(tmp_path, argv) as ws:
        future = ws.submit(ws.definition, "a.scr", 2, 4, cancel=cancel)
        Log.of(argv).wait_for_message("textDocument/definition")
        cancel.set()
        assert isinstance(future.exception(20), lspkit.Cancelled)


def test_a_submitted_check_reports(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="ERROR\n") as ws:
        reports = [ws.submit(ws.check, "a.scr").result(20) for _ in range(3)]
    assert {one.verdict for one in reports} == {lspkit.Verdict.DIRTY}


def test_only_methods_of_the_workspace_are_taken(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws, pytest.raises(TypeError):
        ws.submit(print, "a.scr")
