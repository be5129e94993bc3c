"""Checks that are begun together: all servers and files are asked before the first answer comes."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.operations import CheckAllRequest
from lspkit.runtime.engine_api import Limits
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.scripted import config_for, workspace

PULL = "textDocument/diagnostic"
NAMES = ["a.scr", "b.scr", "c.scr", "d.scr"]


def opened(folder: Path, argv: list[str], **more: Any) -> lspkit.Workspace:
    for name in NAMES:
        (folder / name).write_text("fine\n", encoding="utf-8")
    return lspkit.Workspace(folder, config=config_for(argv, **more))


def test_all_files_are_asked_about_before_the_first_answer_comes(tmp_path, scripted):
    slow = Fault(PULL, "delay", seconds=0.3)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[slow]))
    with opened(tmp_path, argv) as ws:
        ws.check_all(NAMES)
        began = len(Log.of(argv).messages(PULL))
        with ThreadPoolExecutor(1) as callers:
            checks = callers.submit(ws.check_all, NAMES)
            Log.of(argv).wait_for_message(PULL, count=began + len(NAMES))
            [server] = ws._engine.pool.servers()
            names = {os.path.basename(uri) for uri in server.channel.queue.taken()}
            assert names == set(NAMES), "nobody shows a text of his own meanwhile"
            assert not checks.done()
            assert all(report.verdict.clean for report in checks.result(20).values())


def test_the_limit_of_each_file_counts_also_for_what_was_asked_before(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    hung = scripted(
        Script(
            diagnostics=Diagnostics(how="pull"),
            faults=[Fault(PULL, "hang", nth=len(NAMES) + 1, times=0)],
        )
    )
    with opened(tmp_path, argv) as ws:
        assert all(report.verdict.clean for report in ws.check_all(NAMES).values())
    with opened(tmp_path, hung) as ws:
        ws.check_all(NAMES)
        request = CheckAllRequest(paths=tuple(NAMES), root=str(tmp_path), seconds=0.3)
        before = time.process_time()
        reports = ws._engine.run(request, Limits(timeout=20.0))
        assert {report.verdict for report in reports.values()} == {lspkit.Verdict.UNKNOWN}
        assert time.process_time() - before < 5  # it does not look again and again
        assert len(Log.of(hung).pids()) == 1


def test_the_text_of_another_caller_is_no_part_of_what_was_asked_before(tmp_path, scripted):
    """Its check waits until those that were begun are over."""
    slow = Fault(PULL, "delay", seconds=0.02)
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[slow]))
    with opened(tmp_path, argv) as ws, ThreadPoolExecutor(2) as callers:
        ws.check_all(NAMES)
        for _ in range(10):
            whole = callers.submit(ws.check_all, NAMES)
            other = callers.submit(ws.check, "c.scr", text="ERROR\n")
            assert other.result(20).verdict.dirty
            verdicts = {report.verdict for report in whole.result(20).values()}
            assert verdicts == {lspkit.Verdict.CLEAN}


def test_a_server_that_ends_while_files_are_shown_makes_its_files_unknown(tmp_path, scripted):
    argv = scripted(
        Script(diagnostics=Diagnostics(how="pull"), faults=[Fault(PULL, "crash", nth=6, run=1)])
    )
    with opened(tmp_path, argv) as ws:
        ws.check_all(NAMES)
        reports = ws.check_all(NAMES, timeout=20)
        assert len(reports) == len(NAMES)


def test_what_was_asked_before_is_cancelled_with_its_call(tmp_path, scripted):
    argv = scripted(
        Script(
            diagnostics=Diagnostics(how="pull"),
            faults=[Fault(PULL, "hang", nth=len(NAMES) + 1, times=0)],
        )
    )
    with opened(tmp_path, argv) as ws:
        ws.check_all(NAMES)
        cancel = lspkit.CancelToken()
        with ThreadPoolExecutor(1) as callers:
            checks = callers.submit(ws.check_all, NAMES, cancel=cancel)
            Log.of(argv).wait_for_message(PULL, count=2 * len(NAMES))
            cancel.set()
            checks.exception(20)
        Log.of(argv).wait_for_message("$/cancelRequest", count=len(NAMES))
        [server] = ws._engine.pool.servers()
        assert not server.channel.session.pending
        assert not server.channel.queue.taken()


def test_an_edit_that_an_interrupt_has_lost_is_taken_back(tmp_path, scripted, monkeypatch):
    """Nobody else has what `undo` needs."""
    with workspace(tmp_path, scripted(Script()), text="def greet\n") as ws:
        edit = ws.rename("a.scr", 1, 5, new_name="meets")
        engine = ws._engine
        carry_out = engine._carry_out

        def late(request: Any, client: object, call: Any) -> Any:
            result = carry_out(request, client, call)
            if isinstance(result, lspkit.Change):
                interrupt_main()
            return result

        monkeypatch.setattr(engine, "_carry_out", late)
        with pytest.raises(KeyboardInterrupt):
            ws.apply(edit, force=True)
        assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "def greet\n"


def interrupt_main() -> None:
    """Interrupt the main thread, and wait until it has taken notice."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(0.05)
