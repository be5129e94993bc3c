"""Events for a consumer that may be slow: a bounded queue, which drops and counts the rest."""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from lspkit.runtime.concurrency.waiter import Waiter

T = TypeVar("T")

#: Events that wait for their consumer.
LONGEST = 1000


class EventStream(Generic[T]):
    """An iterator over events, which ends when it is closed. Thread-safe.

    `missing` makes the event that stands for dropped ones. It comes before the next event, and at
    the latest when all others have been taken.

    The consumer may be the main thread. So it waits for a bare lock: with a condition, an interrupt
    could leave a lock locked that `put` needs.
    """

    def __init__(self, missing: Callable[[int], T], longest: int = LONGEST) -> None:
        self._missing = missing
        self._longest = longest
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._events: collections.deque[T] = collections.deque()
        self._dropped = 0
        self._closed = False
        #: Those who wait for the next event. All are woken by it.
        self._waiters: list[Waiter] = []
        self._on_close: Callable[[], object] = lambda: None

    def put(self, event: T) -> None:
        """Add an event. Never blocks."""
        with self._lock:
            if self._closed:
                return
            if len(self._events) >= self._longest:
                self._dropped += 1
                return
            if self._dropped:
                self._events.append(self._missing(self._dropped))
                self._dropped = 0
            self._events.append(event)
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.complete()

    def get(self, timeout: float | None = None) -> T | None:
        """The next event; None after the timeout, and after the end."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            with self._lock:
                if self._events:
                    return self._events.popleft()
                if self._dropped:
                    dropped, self._dropped = self._dropped, 0
                    return self._missing(dropped)
                if self._closed:
                    return None
                waiter = Waiter()
                self._waiters.append(waiter)
            left = deadline - time.monotonic()
            if left <= 0:
                self._forget(waiter)
                return None
            waiter.wait(left)
            self._forget(waiter)

    def _forget(self, waiter: Waiter) -> None:
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    @property
    def ended(self) -> bool:
        """Whether there are no more events, now and later."""
        with self._lock:
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
        with self._lock:
            first, self._closed = not self._closed, True
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.complete()
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
