"""Servers that nobody uses are stopped, and only those."""

from __future__ import annotations

import json
import threading

import lspkit
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, comes_true, config_for, lives, workspace

PUSH = "textDocument/publishDiagnostics"
IDLE = {"idleShutdownMs": 100}


def is_idle(ws: lspkit.Workspace) -> bool:
    """Whether no thread of a workspace has a job."""
    threads = ws._engine.threads
    return len(threads._workers) == len(threads._idle)


def _is_gone(pid: int) -> bool:
    return comes_true(lambda: not lives(pid))


def test_a_server_is_not_stopped_under_a_check_that_waits_for_its_push(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(PUSH, "delay", seconds=0.8)]))
    with workspace(tmp_path, argv, timing=IDLE) as ws:
        report = ws.check("a.scr", timeout=60)
        assert report.verdict is lspkit.Verdict.CLEAN
        assert _is_gone(Log.of(argv).pids()[0])
    assert len(Log.of(argv).pids()) == 1


def test_a_submitted_check_keeps_its_server_as_well(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(PUSH, "delay", seconds=0.8)]))
    with workspace(tmp_path, argv, timing=IDLE) as ws:
        report = ws.submit(ws.check, "a.scr", timeout=60).result(60)
        assert report.verdict is lspkit.Verdict.CLEAN
        assert _is_gone(Log.of(argv).pids()[0])
    assert len(Log.of(argv).pids()) == 1


def test_a_server_that_took_long_to_come_up_has_not_been_idle_meanwhile(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.5)]))
    for _ in range(3):  # whether the caller or the look comes first is a matter of luck
        with workspace(tmp_path, argv, timing=IDLE) as ws:
            assert ask(ws) == "1:5"
            assert ws.check("a.scr", timeout=60).verdict is lspkit.Verdict.CLEAN


def test_a_server_that_nobody_waited_for_in_the_end_is_stopped(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, timing=IDLE) as ws:
        ws.sync("a.scr")
        Log.of(argv).wait_for_message("initialized")
        assert _is_gone(Log.of(argv).pids()[0])


def test_who_asks_at_the_very_moment_of_the_stop_has_an_answer(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, timing={"idleShutdownMs": 20}) as ws:
        for number in range(20):
            threading.Event().wait(0.018 + number % 10 * 0.0005)
            assert ask(ws) == "1:5"


def test_a_configuration_without_an_idle_stop_ends_it(tmp_path, scripted):
    argv = scripted(Script())
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    file = tmp_path / "lspkit.json"
    file.write_text(json.dumps({**config_for(argv), "timing": {"idleShutdownMs": 500}}))
    with lspkit.Workspace(tmp_path, config=file) as ws:
        assert ask(ws) == "1:5"
        file.write_text(json.dumps({**config_for(argv), "timing": {"idleShutdownMs": 0}}))
        ws.reload()
        assert comes_true(lambda: is_idle(ws))  # it has been looked at
        assert ask(ws) == "1:5"
    assert len(Log.of(argv).pids()) == 1


def test_one_that_is_outdated_is_stopped_as_well(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, timing={"idleShutdownMs": 500}) as ws:
        assert ask(ws) == "1:5"
        [server] = ws._engine.pool.servers()
        ws._engine.pool.renew(server)
        assert _is_gone(Log.of(argv).pids()[0])
