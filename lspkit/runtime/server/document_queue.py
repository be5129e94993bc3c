"""Who may go on, and who wants to hear: two small queues of waiters."""

from __future__ import annotations

import threading
import weakref

from lspkit.runtime.concurrency.waiting import Waiter

#: So many waiters are never too many to be kept.
FEW = 64


class ExclusiveCallWaiting(Exception):
    """Somebody shows the server a text of his own: whoever has no turn takes one."""


class QueueEntry(Waiter):
    """A place in the queue of a server; complete when this caller may go on."""

    __slots__ = ("guest", "over", "turns", "uri")

    def __init__(self, *, guest: bool = False) -> None:
        super().__init__()
        #: Whether the server is shown a text that is only for this caller.
        self.guest = guest
        #: Where it is queued, and for what.
        self.turns: DocumentQueue | None = None
        self.uri = ""
        #: Set by the caller who needs it no more, before it calls `DocumentQueue.tidy`. An
        #: interrupt may keep it from that call, but not from setting this: nobody waits for a lost
        #: turn.
        self.over = False


class DocumentQueue:
    """Who may ask a server about a document, or about none (""), in order of arrival.

    One caller at a time per document; any number of those who ask about none. And a guest has the
    server to himself: what he shows it is another's business as soon as one file is checked against
    another.
    """

    def __init__(self) -> None:
        #: Guards `_queue`.
        self._lock = threading.Lock()
        self._queue: list[QueueEntry] = []

    @property
    def has_guests(self) -> bool:
        """Whether somebody shows the server a text of his own, or waits for that."""
        return any(turn.guest for turn in self._queue)

    def queue(self, uri: str, turn: QueueEntry) -> None:
        """Take a place. Whoever calls this sets `over` in the end, whatever happens."""
        turn.turns, turn.uri = self, uri
        with self._lock:
            self._queue.append(turn)
        self.tidy()

    def taken(self) -> set[str]:
        """The documents that somebody has the turn of, or waits for."""
        return {turn.uri for turn in self._queue}

    def tidy(self) -> None:
        """Let those go on who may, now that some turns are over."""
        with self._lock:
            # An interrupt may come at any time: the queue is replaced in a single step.
            self._queue = queue = [turn for turn in self._queue if not turn.over]
        ahead: set[str] = set()
        for turn in queue:
            if (not turn.uri or turn.uri not in ahead) and not (turn.guest and ahead):
                turn.complete()
            ahead.add(turn.uri)
            if turn.guest:
                break


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
