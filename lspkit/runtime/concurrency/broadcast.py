"""Waking all waiters when something happens."""

from __future__ import annotations

import threading
import weakref

from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.waiter import Waiter

#: Up to this many waiters are kept without tidying.
FEW = 64


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

    def wait_beyond(self, number: int, call: Call) -> int:
        """Wait for an event with a greater number, or the end of the call; returns the last one."""
        while self.number <= number and not self._over:
            news = self.next()
            if self.number > number or not call.wait(news):
                break
        return self.number
