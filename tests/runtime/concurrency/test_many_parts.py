"""Every thread is busy with calls that hang: healthy calls and their parts end nevertheless."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.runtime import engine
from lspkit.runtime.concurrency import parallel
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.runtime.host.test_run_command import asks_for, commanded
from tests.scripted import SOURCE, comes_true, config_for

#: So many threads for calls and their parts; servers may be started in two more.
CALLS, THREADS = 8, 10
PATIENCE = 40.0
DEFINITION = "textDocument/definition"
#: The first process does not answer, its successor does.
HUNG = Script(faults=[Fault(DEFINITION, "hang", run=1)])
NAMES = [f"{name}.scr" for name in "abcdef"]


@pytest.fixture(autouse=True)
def few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "MOST_CALLS", CALLS)
    monkeypatch.setattr(engine, "MOST_CALLS", CALLS)
    monkeypatch.setattr(ThreadCache.do, "__defaults__", (THREADS,))


@contextmanager
def opened(folder: Path, hung: list[str], **well: list[str]) -> Iterator[lspkit.Workspace]:
    """A workspace whose servers have been asked before: one for `.hang`, the others for `.scr`."""
    (folder / "a.hang").write_text(SOURCE, encoding="utf-8")
    for name in NAMES:
        (folder / name).write_text("ERROR\n", encoding="utf-8")
    servers: dict[str, Any] = {"hung": {"command": hung, "extensions": [".hang"]}}
    servers |= {name: config_for(argv)["lsp"]["scripted"] for name, argv in well.items()}
    timing = {"idleShutdownMs": 0}  # else a thread per server waits until it is idle
    with lspkit.Workspace(folder, config={"lsp": servers, "timing": timing}) as ws:
        ws.document_symbols("a.hang")
        assert is_all_dirty(ws.check_all(NAMES))
        yield ws


def is_all_dirty(reports: Any) -> bool:
    verdicts = [report.verdict.value for report in reports.values()]
    return verdicts == ["dirty"] * len(NAMES)


def take_every_thread(ws: lspkit.Workspace, hung: list[str], **limits: Any) -> list[Future[Any]]:
    """Submit calls that hang until one is refused."""
    calls: list[Future[Any]] = []
    while not (calls and calls[-1].done()):
        calls.append(ws.submit(ws.definition, "a.hang", 2, 4, **limits))
        assert len(calls) <= THREADS + 1
        if not calls[-1].done():
            Log.of(hung).wait_for_message(DEFINITION, count=len(calls))
    refused = calls.pop().exception()
    assert isinstance(refused, lspkit.RequestFailedError)
    assert f"{CALLS} calls are under way" in str(refused)
    assert len(calls) >= CALLS
    return calls


def is_idle(ws: lspkit.Workspace) -> bool:
    """Whether nothing of any call is left."""
    own: Any = ws._engine
    users = [server for server in own.pool.servers() if server.channel.users]
    threads = own.threads
    return not own._calls._running and not users and threads._workers == set(threads._idle)


def kill(hung: list[str], cancel: lspkit.CancelToken) -> None:
    os.kill(Log.of(hung).pids()[0], signal.SIGKILL)


def cancel_all(hung: list[str], cancel: lspkit.CancelToken) -> None:
    cancel.set()


@pytest.mark.parametrize(
    ("end", "problems"),
    [(kill, {lspkit.ServerBrokenError}), (cancel_all, {lspkit.CancelledError})],
)
def test_calls_and_their_parts_end_while_every_thread_hangs_and_after_that_all_is_as_before(
    tmp_path, scripted, end, problems
):
    hung, cancel = scripted(HUNG), lspkit.CancelToken()
    pull = Script(diagnostics=Diagnostics(how="pull"))
    with opened(tmp_path, hung, first=scripted(pull), second=scripted(Script())) as ws:
        calls = take_every_thread(ws, hung, cancel=cancel, timeout=600)
        with ThreadPoolExecutor(6) as callers:
            all_files = [callers.submit(ws.check_all, NAMES) for _ in range(3)]
            projects = [callers.submit(ws.check, name, scope="project") for name in NAMES[:3]]
            assert all(is_all_dirty(reports.result(PATIENCE)) for reports in all_files)
            for project in projects:
                report = project.result(PATIENCE)
                assert sorted({source.server for source in report.servers}) == ["first", "second"]
                assert report.verdict.dirty
                assert len(report.other_files.diagnostics) == len(NAMES) - 1
        assert is_all_dirty(ws.check_all(NAMES))  # and the main thread's own
        assert not any(call.done() for call in calls)
        end(hung, cancel)
        assert {type(call.exception(PATIENCE)) for call in calls} == problems
        assert comes_true(lambda: is_idle(ws))
        answers = [ws.submit(ws.check, name) for name in NAMES[:3]]
        assert all(answer.result(PATIENCE).verdict.dirty for answer in answers)
        if end is kill:
            [place] = ws.definition("a.hang", 2, 4, timeout=PATIENCE)
            assert str(place.range.start) == "1:5"
        assert comes_true(lambda: is_idle(ws))


def test_when_the_time_of_the_calls_that_hang_is_up_there_are_threads_again(tmp_path, scripted):
    hung = scripted(HUNG)
    with opened(tmp_path, hung, well=scripted(Script())) as ws:
        calls = take_every_thread(ws, hung, timeout=3)
        assert is_all_dirty(ws.check_all(NAMES))
        problems = {type(call.exception(PATIENCE)) for call in calls}
        assert problems == {lspkit.RequestTimeoutError}
        assert comes_true(lambda: is_idle(ws))
        assert ws.submit(ws.check_all, NAMES).result(PATIENCE).keys()


def test_a_workspace_is_closed_while_every_thread_hangs(tmp_path, scripted):
    hung = scripted(HUNG)
    with opened(tmp_path, hung, well=scripted(Script())) as ws:
        calls = take_every_thread(ws, hung, timeout=600)
    assert {type(call.exception(0)) for call in calls} == {lspkit.WorkspaceClosedError}


def test_a_server_is_started_while_every_thread_of_calls_hangs(tmp_path, scripted):
    hung = scripted(HUNG)
    servers = {
        "hung": {"command": hung, "extensions": [".hang"]},
        "well": {"command": scripted(Script()), "extensions": [".scr"]},
    }
    for name in ("a.hang", "a.scr"):
        (tmp_path / name).write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.document_symbols("a.hang")
        take_every_thread(ws, hung, timeout=600)
        with ThreadPoolExecutor(1) as callers:
            [place] = callers.submit(ws.definition, "a.scr", 2, 4).result(PATIENCE)
    assert str(place.range.start) == "1:5"


def test_the_edits_of_a_command_are_made_while_every_thread_hangs(tmp_path, scripted):
    hung = scripted(HUNG)
    command = scripted(commanded(asks_for(tmp_path / "a.scr", "new\n")))
    with opened(tmp_path, hung, well=command) as ws, ThreadPoolExecutor(1) as callers:
        [action] = ws.code_actions("a.scr", 1, 1)
        take_every_thread(ws, hung, timeout=600)
        callers.submit(ws.apply, action, timeout=10).result(PATIENCE)
        assert (tmp_path / "a.scr").read_text(encoding="utf-8").startswith("new\n")
