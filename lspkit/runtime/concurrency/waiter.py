"""Waiting for one thing, and waking all who wait when something happens.

`Waiter` is a bare lock with a value, for one thread that waits. A `Future` or an `Event` would do
the same at six times the cost, on the path of every request; and both are written in Python, so an
interrupt of the main thread may leave their lock locked.
"""

from __future__ import annotations

import _thread
import threading
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

#: Up to this many waiters are kept without tidying.
FEW = 64


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


class Broadcast:
    """Wakes all waiters at the next event, once each.

    A waiter may name the subject that it waits for: then events about others do not wake it. With
    many waiters, each would look at every event otherwise.

    Many waiters are made and never waited for. So they are referenced weakly: the caller keeps its
    waiter alive.
    """

    def __init__(self, number: int = 0) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: Raised by every event but the last.
        self.number = number
        #: By subject; empty for those that wait for anything.
        self._waiters: dict[str, list[weakref.ref[Waiter]]] = {}
        self._count = 0
        #: With more waiters than this, dead references are removed.
        self._tidy_at = FEW
        self._over = False

    def next(self, about: str = "") -> Waiter:
        """A waiter that completes at the next event; at once if there will be none.

        With `about`, at the next one about this subject, or about none in particular.
        """
        waiter = Waiter()
        with self._lock:
            if not self._over:
                self._waiters.setdefault(about, []).append(weakref.ref(waiter))
                self._count += 1
                if self._count > self._tidy_at:
                    self._tidy()
                return waiter
        waiter.complete()
        return waiter

    def _tidy(self) -> None:
        alive = {
            about: [reference for reference in several if reference() is not None]
            for about, several in self._waiters.items()
        }
        self._waiters = {about: several for about, several in alive.items() if several}
        self._count = sum(map(len, self._waiters.values()))
        self._tidy_at = max(FEW, 2 * self._count)

    def tell(self, about: str = "", *, over: bool = False) -> int:
        """Something has happened, perhaps about one subject; `over`: for the last time.

        Returns the number of the event.
        """
        with self._lock:
            self._over = self._over or over
            self.number += not over
            number = self.number
            named = ("", about) if about else list(self._waiters)
            waiters = [reference for name in named for reference in self._waiters.pop(name, ())]
            self._count -= len(waiters)
        for reference in waiters:
            waiter = reference()
            if waiter is not None:
                waiter.complete()
        return number

    def wait_beyond(self, number: int, wait: Callable[[Waiter], bool]) -> int:
        """Wait for an event with a greater number, or until `wait` ends; returns the last one."""
        while self.number <= number and not self._over:
            news = self.next()
            if self.number > number or not wait(news):
                break
        return self.number
