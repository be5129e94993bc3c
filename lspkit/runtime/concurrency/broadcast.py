"""Waking all waiters when something happens."""

from __future__ import annotations

import threading
import weakref

from lspkit.runtime.concurrency.waiter import Waiter

#: Up to this many waiters are kept without tidying.
FEW = 64


class Broadcast:
    """Wakes all waiters at the next event, once each.

    Many waiters are made and never waited for. So they are referenced weakly: the caller keeps its
    waiter alive.
    """

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._waiters: list[weakref.ref[Waiter]] = []
        #: With more waiters than this, dead references are removed.
        self._tidy_at = FEW
        self._over = False

    def next(self) -> Waiter:
        """A waiter that completes at the next event; at once if there will be none."""
        waiter = Waiter()
        with self._lock:
            if not self._over:
                self._waiters.append(weakref.ref(waiter))
                if len(self._waiters) > self._tidy_at:
                    self._waiters = [one for one in self._waiters if one() is not None]
                    self._tidy_at = max(FEW, 2 * len(self._waiters))
                return waiter
        waiter.complete()
        return waiter

    def tell(self, *, over: bool = False) -> None:
        """Something has happened; `over`: for the last time."""
        with self._lock:
            waiters, self._waiters, self._tidy_at = self._waiters, [], FEW
            self._over = self._over or over
        for one in waiters:
            waiter = one()
            if waiter is not None:
                waiter.complete()
