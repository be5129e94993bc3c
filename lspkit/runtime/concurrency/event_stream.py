"""Events for a consumer that may be slow: a bounded queue, which drops and counts the rest."""

from __future__ import annotations

import collections
import threading
import time
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
    """

    def __init__(self, missing: Callable[[int], T], longest: int = LONGEST) -> None:
        self._missing = missing
        self._longest = longest
        #: Guards the fields below.
        self._changed = threading.Condition(threading.Lock())
        self._events: collections.deque[T] = collections.deque()
        self._dropped = 0
        self._closed = False
        self._on_close: Callable[[], object] = lambda: None

    def put(self, event: T) -> None:
        """Add an event. Never blocks."""
        with self._changed:
            if self._closed:
                return
            if len(self._events) >= self._longest:
                self._dropped += 1
                return
            if self._dropped:
                self._events.append(self._missing(self._dropped))
                self._dropped = 0
            self._events.append(event)
            self._changed.notify()

    def get(self, timeout: float | None = None) -> T | None:
        """The next event; None after the timeout, and after the end."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._events and not self._dropped and not self._closed:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                self._changed.wait(left)
            if self._events:
                return self._events.popleft()
            dropped, self._dropped = self._dropped, 0
            return self._missing(dropped) if dropped else None

    @property
    def ended(self) -> bool:
        """Whether there are no more events, now and later."""
        with self._changed:
            return self._closed and not self._events and not self._dropped

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
        with self._changed:
            first, self._closed = not self._closed, True
            self._changed.notify_all()
        if first:
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
