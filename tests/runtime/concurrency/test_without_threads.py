"""A host that can start no more threads, or open nothing: calls fail, and none waits for ever."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import lspkit
from lspkit.runtime.concurrency.threads import OwnThread, ThreadCache
from lspkit.runtime.process.process_setup import ProcessSetup
from lspkit.testing import Script
from tests.runtime.concurrency.test_thread_cache import occupy
from tests.scripted import ask, comes_true, lives, workspace

PATIENCE = 20.0
#: No system has room for a stack of this size.
TOO_LARGE = 1 << 46
REFUSED = "can't start new thread"


@contextmanager
def no_room_for_threads() -> Iterator[None]:
    before = threading.stack_size(TOO_LARGE)
    try:
        yield
    finally:
        threading.stack_size(before)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Threads whose names end like one of these cannot be started."""
    names: list[str] = []
    start = OwnThread.start

    def starts(self: OwnThread) -> None:
        if self.name.endswith(tuple(names)):
            with no_room_for_threads():
                start(self)
        else:
            start(self)

    monkeypatch.setattr(OwnThread, "start", starts)
    return names


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The servers that were started."""
    started: list[int] = []
    launch = ProcessSetup.launch

    def noted(self: ProcessSetup) -> Any:
        child = launch(self)
        started.append(child.pid)
        return child

    monkeypatch.setattr(ProcessSetup, "launch", noted)
    return started


@pytest.mark.parametrize("which", ["-stderr", "-writer", "-reader"])
def test_a_server_whose_threads_cannot_be_started_fails_and_is_ended(
    tmp_path, scripted, refused, pids, which
):
    with workspace(tmp_path, scripted(Script())) as ws:
        refused.append(which)
        call = ws.submit(ws.definition, "a.scr", 2, 4)
        problem = call.exception(PATIENCE)
        assert isinstance(problem, lspkit.ServerBrokenError)
        assert str(problem).startswith(f"scripted cannot be started: {REFUSED}")
        assert [server.state.value for server in ws._engine.pool.servers()] == ["ended"]
        [pid] = pids
        assert comes_true(lambda: not lives(pid))
        refused.clear()
        ws.reload()
        assert ask(ws) == "1:5"


def test_a_server_for_which_no_descriptor_is_left_fails_and_is_ended(
    tmp_path, scripted, pids, monkeypatch
):
    launch, before = ProcessSetup.launch, resource.getrlimit(resource.RLIMIT_NOFILE)

    def last(self: ProcessSetup) -> Any:
        child = launch(self)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))  # these are in use
        return child

    with workspace(tmp_path, scripted(Script())) as ws:
        with monkeypatch.context() as patch:
            patch.setattr(ProcessSetup, "launch", last)
            call = ws.submit(ws.definition, "a.scr", 2, 4)
            try:
                problem = call.exception(PATIENCE)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert isinstance(problem, lspkit.ServerBrokenError)
        assert "Too many open files" in str(problem)
        [pid] = pids
        assert comes_true(lambda: not lives(pid))
        ws.reload()
        assert ask(ws) == "1:5"


def test_without_any_thread_no_server_is_started_and_each_call_says_so(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script())) as ws:
        with no_room_for_threads():
            with pytest.raises(lspkit.ServerBrokenError, match="cannot start another thread"):
                ask(ws)
            refused = ws.submit(ws.definition, "a.scr", 2, 4).exception(PATIENCE)
        assert isinstance(refused, lspkit.RequestFailedError)
        assert "this process can start no more threads" in str(refused)
        assert ask(ws) == "1:5"


def test_a_thread_that_cannot_be_started_by_another_one_is_replaced_by_that(refused):
    cache, done = ThreadCache(), threading.Event()
    refused.append("-call-1")
    assert cache.do(done.set)
    assert done.wait(PATIENCE)
    refused.clear()
    assert cache.close()


def test_without_another_thread_calls_on_a_server_that_runs_are_carried_out_in_their_own(
    tmp_path, scripted
):
    names = [f"{name}.scr" for name in "abcde"]
    for name in names:
        (tmp_path / name).write_text("ERROR\n", encoding="utf-8")
    timing = {"idleShutdownMs": 0}  # else a thread waits until the server is idle
    with workspace(tmp_path, scripted(Script()), text="ERROR\n", timing=timing) as ws:
        assert ws.check("a.scr").verdict.dirty
        threads = ws._engine.threads
        assert comes_true(lambda: len(threads._idle) == len(threads._workers))
        free = occupy(threads, len(threads._idle))
        with no_room_for_threads():
            assert [symbol.name for symbol in ws.document_symbols("a.scr")] == []
            reports = ws.check_all(names)
            project = ws.check("a.scr", scope="project")
        free.set()
    assert {report.verdict.value for report in reports.values()} == {"dirty"}
    assert len(reports) == len(names)
    assert project.other_files.verdict.dirty
