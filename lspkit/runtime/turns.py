"""Who may go on, and who wants to hear: two small queues of waiters."""

from __future__ import annotations

import threading

from lspkit.runtime.waiting import Waiter


class Turns:
    """One caller at a time per document, in order of arrival."""

    def __init__(self) -> None:
        #: Guards `_queues`.
        self._lock = threading.Lock()
        self._queues: dict[str, list[Waiter]] = {}

    def take(self, uri: str) -> Waiter:
        """Complete when the document is this caller's alone; `end` gives it on."""
        waiter = Waiter()
        with self._lock:
            queue = self._queues.setdefault(uri, [])
            queue.append(waiter)
            first = queue[0] is waiter
        if first:
            waiter.complete()
        return waiter

    def taken(self) -> set[str]:
        """The documents that somebody has the turn of, or waits for."""
        return set(self._queues)

    def end(self, uri: str, waiter: Waiter) -> None:
        """Give the turn on, or leave the queue."""
        with self._lock:
            queue = self._queues.get(uri, [])
            if waiter in queue:
                queue.remove(waiter)
            successor = queue[0] if queue else None
            if not queue:
                self._queues.pop(uri, None)
        if successor is not None:
            successor.complete()


class News:
    """Wakes everybody who waits for anything new, once each."""

    def __init__(self) -> None:
        #: Guards the two fields below.
        self._lock = threading.Lock()
        self._waiters: list[Waiter] = []
        self._over = False

    def next(self) -> Waiter:
        """Complete at the next piece of news; at once if there will be none."""
        waiter = Waiter()
        with self._lock:
            if not self._over:
                self._waiters.append(waiter)
                return waiter
        waiter.complete()
        return waiter

    def tell(self, *, over: bool = False) -> None:
        """Something has happened; with `over` it was the last time."""
        with self._lock:
            waiters, self._waiters = self._waiters, []
            self._over = self._over or over
        for waiter in waiters:
            waiter.complete()
