"""Events for a consumer that may be slow: a bounded queue, which drops and counts the rest."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")

#: Events that wait for their consumer.
LONGEST = 1000


class EventStream(Generic[T]):
    """An iterator over events, which ends when it is closed. Thread-safe.

    `missing` makes the event that stands for dropped ones. It comes before the next event, and at
    the latest when all others have been taken.

    The consumer may be the main thread. So it waits for a `SimpleQueue`: with a condition, an
    interrupt could leave a lock locked that `put` needs.
    """

    def __init__(self, missing: Callable[[int], T], longest: int = LONGEST) -> None:
        self._missing = missing
        self._longest = longest
        #: Guards the fields below, and the order of events.
        self._lock = threading.Lock()
        self._events = queue.SimpleQueue[T | None]()  # None is the end
        self._dropped = 0
        self._closed = False
        self._on_close: Callable[[], object] = lambda: None

    def put(self, event: T) -> None:
        """Add an event. Never blocks."""
        with self._lock:
            if self._closed:
                return
            if self._events.qsize() >= self._longest:
                self._dropped += 1
                return
            self._put_missing()
            self._events.put(event)

    def _put_missing(self) -> None:
        if self._dropped:
            self._events.put(self._missing(self._dropped))
            self._dropped = 0

    def get(self, timeout: float | None = None) -> T | None:
        """The next event; None after the timeout, and after the end."""
        with self._lock:
            if self._events.empty():
                self._put_missing()
            if self._closed and self._events.empty():  # an interrupt has taken the end
                return None
        if timeout is not None:
            timeout = min(max(0.0, timeout), threading.TIMEOUT_MAX)
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._events.put(None)  # for the next call
        return event

    @property
    def ended(self) -> bool:
        """Whether there are no more events, now and later."""
        with self._lock:
            return self._closed and self._events.qsize() <= 1

    def __iter__(self) -> Iterator[T]:
        while (event := self.get()) is not None:
            yield event

    @property
    def closed(self) -> bool:
        """Whether it has ended. Events that came before may be left."""
        return self._closed

    def on_close(self, job: Callable[[], object]) -> None:
        """Call a function when the stream is closed."""
        self._on_close = job

    def close(self) -> None:
        """End the stream. May be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._put_missing()
            self._events.put(None)
        self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
