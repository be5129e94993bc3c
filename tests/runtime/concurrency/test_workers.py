"""The few threads that do what no caller waits for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from lspkit.runtime.concurrency.workers import THREADS, Workers

PATIENCE = 20.0


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


def running() -> int:
    return sum(one.name.startswith("lspkit-worker") for one in threading.enumerate())


def test_there_is_no_thread_before_the_first_job_and_one_for_one_job_after_the_other(workers):
    assert running() == 0
    for _ in range(10):
        done = threading.Event()
        assert workers.do(done.set)
        assert done.wait(PATIENCE)
    assert 1 <= running() <= 2  # the one before may not have noticed that it is free


def test_so_many_jobs_run_at_once_and_the_others_wait(workers):
    gate, free = threading.Barrier(THREADS + 1), threading.Event()
    done = threading.Semaphore(0)
    for _ in range(THREADS):
        workers.do(lambda: (gate.wait(PATIENCE), free.wait(PATIENCE), done.release()))
    gate.wait(PATIENCE)
    workers.do(done.release)
    assert running() == THREADS
    assert not done.acquire(blocking=False)
    free.set()
    assert all(done.acquire(timeout=PATIENCE) for _ in range(THREADS + 1))


def test_a_job_that_fails_is_logged_and_the_next_is_done(workers, caplog):
    done = threading.Event()
    with caplog.at_level(logging.ERROR, "lspkit.runtime"):
        workers.do(lambda: 1 // 0)
        workers.do(done.set)
        assert done.wait(PATIENCE)
        assert workers.close()
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("finish", [True, False])
def test_what_has_not_begun_is_left_at_the_end_or_finished(workers, finish):
    busy, free, done = threading.Semaphore(0), threading.Event(), []
    for _ in range(THREADS):
        workers.do(lambda: (busy.release(), free.wait(PATIENCE)))
    assert all(busy.acquire(timeout=PATIENCE) for _ in range(THREADS))
    workers.do(lambda: done.append(1))
    closer = threading.Thread(target=lambda: workers.close(finish=finish))
    closer.start()
    deadline = time.monotonic() + PATIENCE
    while workers._jobs.qsize() < THREADS and time.monotonic() < deadline:
        threading.Event().wait(0.005)  # until it has told them all to end
    free.set()
    closer.join(PATIENCE)
    assert running() == 0
    assert bool(done) is finish
    assert not workers.do(lambda: None)


def test_a_job_may_close_them(workers):
    closed = []
    over = threading.Event()
    workers.do(lambda: (closed.append(workers.close()), over.set()))
    assert over.wait(PATIENCE)
    assert closed == [False]  # its own thread is left, which ends by itself
    assert workers.close()
    assert running() == 0
