"""Waiting for one thing, and generators of waits.

`Waiter` is a bare lock with a value: it has one consumer, either a thread that blocks on it or a
callback. A `Future` or an `Event` would do the same at six times the cost, on the path of every
request.

Everything that may wait is written as a generator that yields `(waiter, until)` and is sent the
`Outcome`. `drive.py` drives such a generator in the caller's thread; `future_task.py` drives the
same ones without a thread per call.
"""

from __future__ import annotations

import _thread
import enum
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from lspkit.errors import CancelledError

T = TypeVar("T")


class Outcome(enum.Enum):
    """How a wait ended."""

    DONE = "done"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class Waiter:
    """A value that is set once. Completed by any thread, awaited by one."""

    __slots__ = ("__weakref__", "_lock", "done", "on_done", "value")

    def __init__(self) -> None:
        #: Locked until the waiter is completed or woken.
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self.done = False
        self.value: Any = None
        #: Called instead of waking a thread, by the thread that completes it.
        self.on_done: Callable[[], None] | None = None

    def complete(self, value: Any = None) -> None:
        """Set the value and wake the consumer; only the first time counts."""
        if self.done:
            return
        self.value = value
        self.done = True
        self.wake()

    def wake(self) -> None:
        """Wake the consumer, so that it checks its state."""
        try:
            self._lock.release()
        except RuntimeError:
            pass  # a wake is pending already: one is enough
        on_done = self.on_done
        if on_done is not None:
            on_done()

    def wait(self, timeout: float) -> bool:
        """Block until it is complete, woken, or the time is up; True if complete."""
        if not self.done and timeout > 0:
            self._lock.acquire(True, min(timeout, threading.TIMEOUT_MAX))
        return self.done


#: One step of a generator that waits: for what, and until when by the monotonic clock.
Step = tuple[Waiter, float]
Steps = Generator[Step, Outcome, T]


def uncancelled(outcome: Outcome) -> Outcome:
    """The outcome; raises if the call was cancelled."""
    if outcome is Outcome.CANCELLED:
        raise CancelledError("the call was cancelled")
    return outcome
