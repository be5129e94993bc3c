"""Waiting for one thing.

`Waiter` is a bare lock with a value, for one thread that waits. A `Future` or an `Event` would do
the same at six times the cost, on the path of every request; and both are written in Python, so an
interrupt of the main thread may leave their lock locked.
"""

from __future__ import annotations

import _thread
import threading
from typing import Any

import msgspec


class Waiter(msgspec.Struct, eq=False, weakref=True):
    """A value that is set once. Completed by any thread, awaited by one.

    Most are complete before anything waits for them, so the lock is made by the first wait.
    """

    done: bool = False
    value: Any = None
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
        lock = self._lock
        if lock is not None:
            try:
                lock.release()
            except RuntimeError:
                pass  # a wake is pending already: one is enough

    def wait(self, timeout: float) -> bool:
        """Block until it is complete, woken, or the time is up; True if complete."""
        if not self.done and timeout > 0:
            lock = self._lock
            if lock is None:
                lock = _thread.allocate_lock()
                lock.acquire()
                self._lock = lock
                if self._woken:  # before there was a lock
                    return self.done
            lock.acquire(True, min(timeout, threading.TIMEOUT_MAX))
        return self.done
