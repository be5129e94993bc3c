"""Waking everybody who waits for something new."""

from __future__ import annotations

import threading
import weakref

from lspkit.runtime.concurrency.waiter import Waiter

#: So many waiters are never too many to be kept.
FEW = 64


class Broadcast:
    """Wakes everybody who waits for anything new, once each.

    Most ask for it and find that they need not wait, or wait no longer than until some time. So
    nobody is kept here who is kept nowhere else.
    """

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._waiters: list[weakref.ref[Waiter]] = []
        #: When there are so many, those who wait no more are left out.
        self._tidy_at = FEW
        self._over = False

    def next(self) -> Waiter:
        """Complete at the next piece of news; at once if there will be none."""
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
        """Something has happened; with `over` it was the last time."""
        with self._lock:
            waiters, self._waiters, self._tidy_at = self._waiters, [], FEW
            self._over = self._over or over
        for one in waiters:
            waiter = one()
            if waiter is not None:
                waiter.complete()
