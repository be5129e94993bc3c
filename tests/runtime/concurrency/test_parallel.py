"""A job in another thread that is waited for, and several jobs at the same time."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

import lspkit
from lspkit.runtime.concurrency import parallel
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import hand_over, in_parallel, submit_to
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.concurrency.waiter import Waiter
from tests.runtime.concurrency.test_thread_cache import occupy
from tests.scripted import interrupted

PATIENCE = 20.0


@pytest.fixture
def threads() -> Iterator[ThreadCache]:
    threads = ThreadCache()
    yield threads
    threads.close()


@pytest.fixture
def full(threads: ThreadCache, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadCache]:
    """All of its threads are busy."""
    monkeypatch.setattr(parallel, "MOST_CALLS", 3)
    monkeypatch.setattr(ThreadCache.do, "__defaults__", (3,))
    free = occupy(threads, 3)
    yield threads
    free.set()


def here() -> threading.Thread:
    return threading.current_thread()


# Several jobs at the same time


def test_no_jobs_have_no_results(threads):
    assert in_parallel(threads, []) == []


def test_all_jobs_run_at_the_same_time_and_the_first_one_here(threads):
    together = threading.Barrier(20)

    def job() -> threading.Thread:
        together.wait(PATIENCE)
        return here()

    first, *others = in_parallel(threads, [job] * 20)
    assert first is here()
    assert len({first, *others}) == 20


def test_results_come_in_the_order_of_the_jobs_and_an_error_is_one(threads):
    over = threading.Event()

    def last() -> str:
        over.set()
        return "last"

    def fails() -> str:
        assert over.wait(PATIENCE)
        raise lspkit.NoServerError("none")

    first, second, third = in_parallel(threads, [lambda: "first", fails, last])
    assert (first, third) == ("first", "last")
    assert isinstance(second, lspkit.NoServerError)


def nested(threads: ThreadCache, depth: int) -> int:
    """Jobs that have jobs that have jobs; how many there were."""
    if not depth:
        return 1
    numbers = in_parallel(threads, [lambda: nested(threads, depth - 1)] * 4)
    return sum(number for number in numbers if isinstance(number, int))


def test_jobs_nested_three_deep_all_run_when_every_thread_is_busy(full):
    with ThreadPoolExecutor(2) as callers:
        calls = [callers.submit(nested, full, 3) for _ in range(2)]
        assert [call.result(PATIENCE) for call in calls] == [64, 64]


def test_jobs_nested_three_deep_all_run_when_threads_run_out_meanwhile(threads, monkeypatch):
    monkeypatch.setattr(parallel, "MOST_CALLS", 3)
    with ThreadPoolExecutor(4) as callers:
        calls = [callers.submit(nested, threads, 3) for _ in range(4)]
        assert [call.result(PATIENCE) for call in calls] == [64] * 4


def test_jobs_for_which_there_is_no_thread_run_here_and_an_error_is_a_result_too(full):
    def fails() -> threading.Thread:
        raise lspkit.NoServerError("none")

    first, second, third = in_parallel(full, [here, fails, here])
    assert (first, third) == (here(), here())
    assert isinstance(second, lspkit.NoServerError)


# A call that is handed over


def test_a_call_is_carried_out_in_another_thread_with_its_result_or_error(threads):
    assert hand_over(threads, here, Call(), 0) is not here()
    with pytest.raises(ZeroDivisionError):
        hand_over(threads, lambda: 1 // 0, Call(), 0)


def test_without_another_thread_a_call_is_carried_out_here(full):
    assert hand_over(full, here, Call(), 0) is here()
    with pytest.raises(ZeroDivisionError):
        hand_over(full, lambda: 1 // 0, Call(), 0)


def test_an_interrupt_ends_the_call_and_is_raised(threads):
    call, waits, ended = Call(), threading.Event(), list[Exception]()

    def job() -> None:
        waits.set()
        try:
            call.wait(Waiter())
        except lspkit.CancelledError as problem:
            problem.add_note("a file was not put back")
            ended.append(problem)
            raise

    with pytest.raises(KeyboardInterrupt) as raised, interrupted(waits.is_set):
        hand_over(threads, job, call, -1)
    assert len(ended) == 1
    assert raised.value.__notes__ == ["a file was not put back"]


def test_a_call_that_does_not_end_after_an_interrupt_is_left(threads):
    waits, free = threading.Event(), threading.Event()
    with pytest.raises(KeyboardInterrupt), interrupted(waits.is_set):
        hand_over(threads, lambda: (waits.set(), free.wait(PATIENCE)), Call(), 0.01)
    free.set()


class Interrupting(ThreadCache):
    """The interrupt comes while a call is handed over."""

    def __init__(self, *, is_begun: bool) -> None:
        super().__init__()
        self._is_begun = is_begun
        self.job: Callable[[], object] = lambda: None

    def do(self, job: Callable[[], object], most: int = 0) -> bool:
        self.job = job
        if self._is_begun:
            job()
        raise KeyboardInterrupt


@pytest.mark.parametrize("is_begun", [False, True])
def test_an_interrupt_while_a_call_is_handed_over_waits_for_nothing_that_never_comes(is_begun):
    threads, done = Interrupting(is_begun=is_begun), []
    with pytest.raises(KeyboardInterrupt):
        hand_over(threads, lambda: done.append(1), Call(), -1)
    threads.job()  # too late: nobody waits for it
    assert done == [1] * is_begun


class InterruptedLock:
    """A lock with an interrupt right after it was waited for."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self.locked, self.release = self._lock.locked, self._lock.release

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        was_held = self._lock.locked()
        taken = self._lock.acquire(blocking, timeout)
        if was_held and taken:
            raise KeyboardInterrupt
        return taken


def test_an_interrupt_right_after_the_end_of_a_call_waits_no_more(threads, monkeypatch):
    monkeypatch.setattr(parallel, "_thread", SimpleNamespace(allocate_lock=InterruptedLock))
    free = threading.Event()
    threading.Timer(0.05, free.set).start()
    with pytest.raises(KeyboardInterrupt):
        hand_over(threads, lambda: free.wait(PATIENCE), Call(), -1)


# A call as a future


def test_a_submitted_job_and_its_callbacks_run_in_one_other_thread(threads):
    free, called = threading.Event(), threading.Event()
    callbacks: list[Any] = []

    def job() -> threading.Thread:
        free.wait(PATIENCE)
        return here()

    future = submit_to(threads, job)
    future.add_done_callback(lambda done: (callbacks.extend((done, here())), called.set()))
    free.set()
    assert future.result(PATIENCE) is not here()
    assert called.wait(PATIENCE)
    assert callbacks == [future, future.result()]


def test_a_future_that_was_cancelled_before_its_thread_came_to_it_runs_nothing(threads):
    jobs, done = [], []
    threads.do = lambda job, most: (jobs.append(job), True)[1]
    future = submit_to(threads, lambda: done.append(1))
    assert future.cancel()
    jobs[0]()
    assert done == []


def test_too_many_submitted_calls_are_refused_with_what_to_do(full):
    problem = submit_to(full, here).exception(PATIENCE)
    assert isinstance(problem, lspkit.RequestFailedError)
    assert "3 calls are under way" in str(problem)
    assert "wait for some of them" in str(problem)


def test_after_the_end_a_submitted_call_is_refused_for_that_reason(threads):
    threads.close()
    assert isinstance(submit_to(threads, here).exception(PATIENCE), lspkit.WorkspaceClosedError)
