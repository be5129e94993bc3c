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

import msgspec

from lspkit.errors import CancelledError

T = TypeVar("T")


class Outcome(enum.Enum):
    """How a wait ended."""

    DONE = "done"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class Waiter(msgspec.Struct, eq=False, weakref=True):
    """A value that is set once. Completed by any thread, awaited by one.

    Most are complete before anything waits for them, so the lock is made by the first wait.
    """

    done: bool = False
    value: Any = None
    #: Called instead of waking a thread, by the thread that completes it.
    on_done: Callable[[], None] | None = None
    #: Locked until the waiter is completed or woken. Set before `_woken` is read.
    _lock: threading.Lock | None = None
    #: Whether it was completed or woken. Set before `_lock` is read.
    _woken: bool = False

    def complete(self, value: Any = None) -> None:
        """Set the value and wake the consumer; only the first time counts."""
        if self.done:
            return
        self.value = value
        self.done = True
        self.wake()

    def wake(self) -> None:
        """Wake the consumer, so that it checks its state."""
        self._woken = True
        lock, on_done = self._lock, self.on_done
        if lock is not None:
            try:
                lock.release()
            except RuntimeError:
                pass  # a wake is pending already: one is enough
        if on_done is not None:
            on_done()

    def wait(self, timeout: float) -> bool:
        """Block until it is complete, woken, or the time is up; True if complete."""
        if not self.done and timeout > 0:
            lock = self._lock
            if lock is None:
                lock = _thread.allocate_lock()
                lock.acquire()
                self._lock = lock
                if self._woken:  # by a thread that found no lock
                    return self.done
            lock.acquire(True, min(timeout, threading.TIMEOUT_MAX))
        return self.done


#: One step of a generator that waits: for what, and until when by the monotonic clock.
Step = tuple[Waiter, float]
Steps = Generator[Step, Outcome, T]


def uncancelled(outcome: Outcome) -> Outcome:
    """The outcome; raises if the call was cancelled."""
    if outcome is Outcome.CANCELLED:
        raise CancelledError("the call was cancelled")
    return outcome
