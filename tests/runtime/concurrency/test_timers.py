"""Calls at a later time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from lspkit.runtime.concurrency.timers import Timers

PATIENCE = 20.0


@pytest.fixture
def timers() -> Iterator[Timers]:
    timers = Timers()
    yield timers
    timers.close()


def running() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "lspkit-timers"]


def test_a_job_is_done_when_it_is_due_and_not_before(timers):
    done, at = threading.Event(), []
    due = time.monotonic() + 0.05
    timers.at(due, lambda: (at.append(time.monotonic()), done.set()))
    assert done.wait(PATIENCE)
    assert at[0] >= due


def test_jobs_are_done_in_the_order_of_their_times(timers):
    done, order = threading.Event(), []
    now = time.monotonic() + 0.05
    for name, delay in (("c", 0.03), ("a", 0.01), ("b", 0.02)):
        timers.at(now + delay, lambda name=name: order.append(name))
    timers.at(now + 0.04, done.set)
    assert done.wait(PATIENCE)
    assert order == ["a", "b", "c"]


def test_jobs_of_one_time_are_done_in_the_order_they_came(timers):
    done, order = threading.Event(), []
    due = time.monotonic() + 0.05
    for number in range(50):
        timers.at(due, lambda number=number: order.append(number))
    timers.at(due, done.set)
    assert done.wait(PATIENCE)
    assert order == list(range(50))


def test_an_earlier_job_does_not_wait_for_a_later_one(timers):
    timers.at(time.monotonic() + 3600, lambda: None)
    # More than once: at first the thread may not have begun to wait for the later one.
    for _ in range(20):
        done = threading.Event()
        timers.at(time.monotonic(), done.set)
        assert done.wait(PATIENCE)


def test_a_job_that_is_overdue_is_done_at_once(timers):
    done = threading.Event()
    timers.at(time.monotonic() - 100, done.set)
    assert done.wait(PATIENCE)


def test_a_job_that_fails_is_logged_and_the_next_is_done(timers, caplog):
    done = threading.Event()
    with caplog.at_level(logging.ERROR, "lspkit.runtime"):
        timers.at(0, lambda: 1 // 0)
        timers.at(0, done.set)
        assert done.wait(PATIENCE)
    assert "ZeroDivisionError" in caplog.text


def test_a_job_may_ask_for_another(timers):
    done = threading.Event()
    timers.at(0, lambda: timers.at(0, done.set))
    assert done.wait(PATIENCE)


def test_there_is_no_thread_before_the_first_job(timers):
    assert running() == []
    timers.at(time.monotonic() + 3600, lambda: None)
    assert running() == ["lspkit-timers"]


def test_closing_forgets_what_is_due_and_ends_the_thread():
    timers, called = Timers(), []
    timers.at(time.monotonic() + 3600, lambda: called.append(1))
    timers.close()
    assert running() == []
    timers.at(0, lambda: called.append(2))
    timers.close()
    assert running() == []
    assert called == []


def test_a_job_may_close_the_timers():
    timers, done = Timers(), threading.Event()
    timers.at(0, lambda: (timers.close(), done.set()))
    assert done.wait(PATIENCE)
    assert timers.close()
    assert running() == []
