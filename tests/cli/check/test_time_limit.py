"""The time of a command, and the alarm for work that cannot look at the clock."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lspkit.cli.check.time_limit import GRACE, TimeExpired, TimeLimit, alarm_at
from lspkit.errors import RequestTimeoutError


@pytest.fixture(autouse=True)
def unused_signal() -> Iterator[None]:
    """The timer that ends a test which hangs uses the same signal: it is suspended."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGALRM, before)
    signal.setitimer(signal.ITIMER_REAL, left)


def raise_alarm() -> None:
    """As the timer does."""
    signal.raise_signal(signal.SIGALRM)


def far() -> float:
    return time.monotonic() + 3600


@pytest.mark.parametrize(
    ("seconds", "deadline"), [(5.0, 4.5), (60.0, 59.0), (0.0, 0.0)], ids=["5", "60", "none"]
)
def test_a_tenth_but_at_most_a_second_is_left_for_the_end(seconds, deadline):
    limit = TimeLimit.after(100.0, seconds)
    assert (limit.deadline, limit.end) == (100.0 + deadline, 100.0 + seconds)
    assert limit.deadline <= limit.late <= limit.end < limit.latest == limit.end + GRACE


def test_the_alarm_ends_what_waits():
    with pytest.raises(TimeExpired), alarm_at(time.monotonic() - 1):
        threading.Event().wait()


def test_an_alarm_that_python_did_not_notice_is_given_again():
    handlers: list[Any] = []

    def overlook(*_: object) -> None:
        signal.signal(signal.SIGALRM, handlers[0])

    def wait() -> None:
        with alarm_at(time.monotonic() + 0.02):
            handlers.append(signal.signal(signal.SIGALRM, overlook))
            threading.Event().wait()

    with pytest.raises(TimeExpired):
        wait()


def test_an_alarm_is_not_given_again_once_it_was_raised():
    with alarm_at(far()):
        with pytest.raises(TimeExpired):
            signal.raise_signal(signal.SIGALRM)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_time_of_a_question_does_not_count_for_the_alarm():
    limit = TimeLimit.after(time.monotonic(), 3600)
    with alarm_at(far()):
        with limit.suspended():
            assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        with pytest.raises(TimeExpired):
            raise_alarm()


def test_the_time_of_a_question_is_added_to_the_limit():
    limit = TimeLimit.after(0.0, 5.0)
    began = time.monotonic()
    with limit.suspended():
        threading.Event().wait(0.01)
    asked = limit.end - 5.0
    assert 0.01 <= asked <= time.monotonic() - began
    assert limit.deadline == 4.5 + asked
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_limit_that_is_over_lets_nothing_begin():
    begun, limit = [], TimeLimit.after(time.monotonic() - 1, 0.5)
    with pytest.raises(RequestTimeoutError), limit.enforced("it was done"):
        begun.append(1)
    assert begun == []


def test_a_program_that_uses_the_signal_keeps_it():
    seen: list[int] = []
    signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    with alarm_at(time.monotonic() - 1):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
        raise_alarm()
    assert seen == [signal.SIGALRM]


def test_another_thread_has_no_alarm():
    timers: list[float] = []

    def work() -> None:
        with alarm_at(far()):
            timers.append(signal.getitimer(signal.ITIMER_REAL)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert timers == [0.0]
