"""Who may go on, and who wants to hear: two small queues of waiters."""

from __future__ import annotations

import threading
import weakref

from lspkit.runtime.waiting import Waiter

#: So many waiters are never too many to be kept.
FEW = 64


class Turn(Waiter):
    """A place in the queue for a document; complete when the document is this caller's alone."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        super().__init__()
        #: Set by the caller who needs it no more, before it calls `Turns.tidy`. An interrupt may
        #: keep it from that call, but not from setting this: nobody waits for a lost turn.
        self.over = False


class Turns:
    """One caller at a time per document, in order of arrival."""

    def __init__(self) -> None:
        #: Guards `_queues`.
        self._lock = threading.Lock()
        self._queues: dict[str, list[Turn]] = {}

    def queue(self, uri: str, turn: Turn) -> None:
        """Take a place. Whoever calls this sets `over` in the end, whatever happens."""
        with self._lock:
            self._queues.setdefault(uri, []).append(turn)
        self.tidy(uri)

    def taken(self) -> set[str]:
        """The documents that somebody has the turn of, or waits for."""
        return set(self._queues)

    def tidy(self, uri: str) -> None:
        """Let the first go on whose turn is not over."""
        with self._lock:
            # An interrupt may come at any time: the queue is replaced in a single step.
            queue = [turn for turn in self._queues.get(uri, ()) if not turn.over]
            if queue:
                self._queues[uri] = queue
            else:
                self._queues.pop(uri, None)
        if queue:
            queue[0].complete()


class News:
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
