"""The queue of callers of one server, by document.

Checks of one document are serialised; a call with a text of its own has the server to itself.
"""

from __future__ import annotations

import itertools
import operator
import threading
from typing import Self

from lspkit.runtime.concurrency.waiter import Waiter


class ExclusiveCallWaiting(Exception):
    """Another call shows the server a text of its own: a call that is not queued must queue."""


class QueueEntry(Waiter, eq=False, kw_only=True):
    """A place in the queue of a server; complete when its caller may continue.

    The caller joins a queue in a `with` block, at whose end the entry is over.
    """

    #: Whether the server is shown a text that is only for this caller.
    exclusive: bool = False
    #: The queue that it is in, and the document that it is for.
    queue: DocumentQueue | None = None
    uri: str = ""
    #: Set when the caller is done, before `DocumentQueue.tidy` is called.
    over: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        if self.queue is not None:
            self.queue.tidy()


_URI, _EXCLUSIVE, _OVER, _DONE = map(operator.attrgetter, ("uri", "exclusive", "over", "done"))


class DocumentQueue:
    """Calls that may use a document of a server, or no document (""), in order of arrival.

    One call at a time per document; any number without a document. An exclusive call has the
    server to itself, because its text affects the findings of other files.
    """

    def __init__(self, lock: threading.Lock) -> None:
        #: That of the server. It guards `_queue`.
        self._lock = lock
        self._queue: list[QueueEntry] = []

    @property
    def has_exclusive_calls(self) -> bool:
        """Whether a call shows the server a text of its own, or waits to do so."""
        return bool(self._queue) and any(turn.exclusive for turn in self._queue)

    def join(self, uri: str, turn: QueueEntry) -> None:
        """Add an entry."""
        turn.queue, turn.uri = self, uri
        with self._lock:
            self._queue.append(turn)
            queue = self._queue
        # Nearly always it is the only one of its document. Found without a loop of Python code:
        # there may be many entries.
        if list(map(_URI, queue)).count(uri) == 1 and not any(map(_EXCLUSIVE, queue)):
            turn.complete()
        else:
            self.tidy()

    def taken(self) -> set[str]:
        """The documents of all entries."""
        return {turn.uri for turn in self._queue}

    def tidy(self) -> None:
        """Remove entries that are over, and complete those that may continue now."""
        with self._lock:
            # Replaced in a single step: it is read without the lock.
            self._queue = queue = list(itertools.filterfalse(_OVER, self._queue))
        if all(map(_DONE, queue)):
            return
        ahead: set[str] = set()
        for turn in queue:
            if (not turn.uri or turn.uri not in ahead) and not (turn.exclusive and ahead):
                turn.complete()
            ahead.add(turn.uri)
            if turn.exclusive:
                break
