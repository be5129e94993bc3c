"""Threads for calls: cached, so that no job waits behind others."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lspkit.runtime.concurrency import threads
from lspkit.runtime.concurrency.threads import ThreadCache
from tests.scripted import comes_true

PATIENCE = 20.0
#: More than a pool would have.
MANY = 80


@pytest.fixture
def cache() -> Iterator[ThreadCache]:
    cache = ThreadCache()
    yield cache
    cache.close()


def running() -> int:
    return sum(thread.name.startswith("lspkit-call") for thread in threading.enumerate())


def occupy(cache: ThreadCache, count: int) -> threading.Event:
    """Keep so many threads busy until the event is set."""
    busy, free = threading.Semaphore(0), threading.Event()
    for _ in range(count):
        assert cache.do(lambda: (busy.release(), free.wait(PATIENCE)))
    assert all(busy.acquire(timeout=PATIENCE) for _ in range(count))
    return free


def do(cache: ThreadCache, job: Any = lambda: None) -> None:
    """Do a job, and wait until it is done."""
    done = threading.Event()
    assert cache.do(lambda: (job(), done.set()))
    assert done.wait(PATIENCE)


def becomes_idle(cache: ThreadCache, count: int) -> None:
    assert comes_true(lambda: len(cache._idle) == count)


def test_a_job_does_not_wait_behind_any_number_of_others(cache):
    free = occupy(cache, MANY)
    do(cache)
    free.set()


def test_an_idle_thread_is_used_again(cache):
    assert running() == 0
    for _ in range(10):
        do(cache)
        becomes_idle(cache, 1)
    assert running() == 1


def test_a_job_may_be_begun_from_the_main_thread_and_from_a_job(cache):
    assert threading.current_thread() is threading.main_thread()
    threads: list[threading.Thread] = []
    inner = threading.Event()

    def outer() -> None:
        threads.append(threading.current_thread())
        cache.do(lambda: (threads.append(threading.current_thread()), inner.set()))
        assert inner.wait(PATIENCE)

    do(cache, outer)
    assert len(set(threads)) == 2
    assert all(thread.daemon for thread in threads)
    assert threading.main_thread() not in threads


def test_a_thread_without_work_ends(cache, monkeypatch):
    monkeypatch.setattr(threads, "IDLE", 0.02)
    occupy(cache, 3).set()
    assert comes_true(lambda: running() == 0)
    assert not cache._workers
    assert not cache._idle
    do(cache)


def test_no_job_is_lost_between_threads_that_end_and_jobs_that_come(cache, monkeypatch):
    monkeypatch.setattr(threads, "IDLE", 0.001)
    for number in range(300):
        do(cache)
        threading.Event().wait(0.0005 * (number % 5))


class Slow:
    """The lock of a cache: a thread that has become idle pauses before it waits for a job."""

    def __init__(self, cache: ThreadCache) -> None:
        self._cache, self._lock = cache, cache._lock
        self.paused, self.go_on = threading.Semaphore(0), threading.Semaphore(0)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        became_idle = threading.current_thread() in self._cache._idle
        self._lock.release()
        if became_idle:
            self.paused.release()
            self.go_on.acquire(timeout=PATIENCE)


def test_a_job_that_comes_before_its_thread_waits_for_one_is_done_and_the_thread_goes_on(cache):
    cache._lock = slow = Slow(cache)
    do(cache)
    for _ in range(3):
        assert slow.paused.acquire(timeout=PATIENCE)
        done = threading.Event()
        assert cache.do(done.set)
        slow.go_on.release()
        assert done.wait(PATIENCE)
    assert running() == 1
    assert slow.paused.acquire(timeout=PATIENCE)
    slow.go_on.release()


def test_beyond_the_limit_nothing_is_begun_unless_a_thread_is_idle(cache):
    free = occupy(cache, 3)
    assert not cache.do(lambda: None, 3)
    assert cache.do(lambda: None, 4)
    free.set()
    becomes_idle(cache, 4)
    assert cache.do(lambda: None, 3)


def test_context_variables_are_those_of_who_begins_the_job(cache):
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    values: list[str] = []
    for value in ("first", "second"):
        token = variable.set(value)
        do(cache, lambda: (values.append(variable.get()), variable.set("of the job")))
        assert variable.get() == value
        variable.reset(token)
    do(cache, lambda: values.append(variable.get()))
    assert values == ["first", "second", "none"]


def test_a_job_that_fails_is_logged_and_the_next_is_done(cache, caplog):
    with caplog.at_level(logging.ERROR, "lspkit.runtime"):
        cache.do(lambda: 1 // 0)
        assert comes_true(lambda: "ZeroDivisionError" in caplog.text)
    do(cache)


def test_the_end_waits_for_what_runs_and_begins_nothing_more(cache):
    free, done = occupy(cache, 2), []
    do(cache)
    closer = threading.Thread(target=lambda: done.append(cache.close()))
    closer.start()
    assert comes_true(lambda: cache.is_closed)
    assert not cache.do(lambda: None)
    assert done == []
    free.set()
    closer.join(PATIENCE)
    assert done == [True]
    assert running() == 0


def test_the_end_waits_for_code_of_a_user_only_when_that_is_wanted(cache):
    lent, free, done = threading.Event(), threading.Event(), []

    def callback() -> None:
        lent.set()
        free.wait(PATIENCE)
        done.append("callback")

    cache.do(lambda: cache.call_back(callback))
    assert lent.wait(PATIENCE)
    assert cache.close()
    assert done == []
    closer = threading.Thread(target=lambda: (cache.close(finish=True), done.append("closed")))
    closer.start()
    free.set()
    closer.join(PATIENCE)
    assert done == ["callback", "closed"]


def test_a_job_may_close_the_cache(cache):
    closed: list[bool] = []
    do(cache, lambda: closed.append(cache.close()))
    assert closed == [False]  # its own thread is left, which ends by itself
    assert cache.close()
    assert running() == 0


def test_a_job_pauses_until_its_time_and_no_longer_than_the_end(cache):
    due, ends = time.monotonic() + 0.05, list[tuple[bool, float]]()
    first, last = threading.Event(), threading.Event()

    def work() -> None:
        ends.append((cache.pause(due), time.monotonic()))
        first.set()
        ends.append((cache.pause(due + 3600), time.monotonic()))
        last.set()

    cache.do(work)
    assert first.wait(PATIENCE)
    assert cache.close()
    assert last.is_set()
    assert [is_due for is_due, _ in ends] == [True, False]
    assert ends[0][1] >= due
