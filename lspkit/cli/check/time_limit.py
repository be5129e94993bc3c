"""The time that a command has, and an alarm for work that cannot look at the clock.

Nearly everything keeps to the deadline by itself. On an overloaded machine the rest takes seconds:
the import of modules, the configuration, or an answer of the service. The alarm ends it as an
interrupt by the user would.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from lspkit.errors import RequestTimeoutError

#: The part of the timeout that is left for printing the result and for stopping the servers.
ENDING = 0.1
#: The seconds that are left for it at most.
LONGEST_ENDING = 1.0
#: Seconds beyond the timeout in which results are still taken.
GRACE = 0.25
#: Seconds after which the alarm is given again. Python does not notice a signal that comes in the
#: moment before a wait begins, until another one ends that wait.
REPEAT = 0.05


class TimeExpired(BaseException):
    """The alarm. Like an interrupt, it is no error that other code may handle."""


class TimeLimit(msgspec.Struct):
    """When the parts of a command have to end, by the monotonic clock."""

    #: For the work.
    deadline: float
    #: For the command.
    end: float

    @classmethod
    def after(cls, began: float, seconds: float) -> TimeLimit:
        """The limit of a command that began then, with this timeout."""
        end = began + seconds
        return cls(end - min(ENDING * seconds, LONGEST_ENDING), end)

    @classmethod
    def none(cls) -> TimeLimit:
        """The limit of a command that may take any time."""
        return cls(float("inf"), float("inf"))

    @property
    def late(self) -> float:
        """When work is ended that should have ended itself at the deadline."""
        return (self.deadline + self.end) / 2

    @property
    def latest(self) -> float:
        """When results are no longer taken. They come after the deadline, and take some time."""
        return self.end + GRACE

    @property
    def left(self) -> float:
        """The seconds that are left for the work."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no time is left for the work."""
        return self.left == 0.0

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """The time of the block does not count, also for an alarm: the user is asked."""
        began = time.monotonic()
        try:
            with _alarm_suspended():
                yield
        finally:
            paused = time.monotonic() - began
            self.deadline += paused
            self.end += paused

    @contextmanager
    def enforced(self, what: str) -> Iterator[None]:
        """Raise a `RequestTimeoutError` in this block if what it does is not done in time."""
        message = f"the timeout expired before {what}"
        if self.is_over:
            raise RequestTimeoutError(message)
        try:
            with alarm_at(self.late):
                yield
        except TimeExpired:
            raise RequestTimeoutError(message) from None


#: Whether an alarm is set.
_is_set = False


@contextmanager
def alarm_at(when: float) -> Iterator[None]:
    """Raise `TimeExpired` in this block at a time by the monotonic clock; never if it is infinite.

    There is no alarm if the program that calls lspkit uses the signal itself, or calls it in
    another thread than the first one.
    """
    global _is_set
    if not math.isfinite(when) or not _can_be_set():
        yield
        return
    before = signal.signal(signal.SIGALRM, _expire)
    try:
        _is_set = True
        # Zero seconds would mean no alarm.
        signal.setitimer(signal.ITIMER_REAL, max(0.000_001, when - time.monotonic()), REPEAT)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            _is_set = False
            signal.signal(signal.SIGALRM, before)


@contextmanager
def _alarm_suspended() -> Iterator[None]:
    """No alarm in this block. The time of the block does not count for it."""
    if not _is_set:
        yield
        return
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, REPEAT)


def _can_be_set() -> bool:
    if not hasattr(signal, "setitimer"):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    is_used = signal.getitimer(signal.ITIMER_REAL)[0] > 0
    return not is_used and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def _expire(*_: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    raise TimeExpired
