"""The queue of callers of one server, by document.

Checks of one document are serialised; a call with a text of its own has the server to itself.
"""

from __future__ import annotations

import threading

from lspkit.runtime.concurrency.waiter import Waiter


class ExclusiveCallWaiting(Exception):
    """Somebody shows the server a text of his own: whoever has no turn takes one."""


class QueueEntry(Waiter):
    """A place in the queue of a server; complete when this caller may go on."""

    __slots__ = ("exclusive", "over", "queue", "uri")

    def __init__(self, *, exclusive: bool = False) -> None:
        super().__init__()
        #: Whether the server is shown a text that is only for this caller.
        self.exclusive = exclusive
        #: Where it is queued, and for what.
        self.queue: DocumentQueue | None = None
        self.uri = ""
        #: Set by the caller who needs it no more, before it calls `DocumentQueue.tidy`. An
        #: interrupt may keep it from that call, but not from setting this: nobody waits for a lost
        #: turn.
        self.over = False


class DocumentQueue:
    """Who may ask a server about a document, or about none (""), in order of arrival.

    One caller at a time per document; any number of those who ask about none. And an exclusive call
    has the server to himself: what he shows it is another's business as soon as one file is checked
    against another.
    """

    def __init__(self) -> None:
        #: Guards `_queue`.
        self._lock = threading.Lock()
        self._queue: list[QueueEntry] = []

    @property
    def has_exclusive_calls(self) -> bool:
        """Whether somebody shows the server a text of his own, or waits for that."""
        return any(turn.exclusive for turn in self._queue)

    def join(self, uri: str, turn: QueueEntry) -> None:
        """Take a place. Whoever calls this sets `over` in the end, whatever happens."""
        turn.queue, turn.uri = self, uri
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
            if (not turn.uri or turn.uri not in ahead) and not (turn.exclusive and ahead):
                turn.complete()
            ahead.add(turn.uri)
            if turn.exclusive:
                break
