"""A queue that is delivered in order, by the first thread that asks, outside of all other locks.

A thread queues an item under its own lock, which keeps the order, and delivers after it has
released that lock. If another thread is delivering, it waits for that thread up to its deadline. So
a slow receiver blocks callers that need it, and none that only queue something.
"""

from __future__ import annotations

import collections
import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

log = logging.getLogger("lspkit.runtime")


class Delivery(Generic[T]):
    """A queue with its receiver. For any thread, and also from within the receiver."""

    def __init__(self, receive: Callable[[T], None]) -> None:
        self._receive = receive
        #: Items that are not delivered yet; one is removed when it has been received. Appending and
        #: removing are atomic.
        self.queue: collections.deque[T] = collections.deque()
        #: Held by the thread that delivers.
        self._lock = threading.Lock()
        #: The id of that thread, 0 for none.
        self.by = 0

    def put(self, item: T) -> None:
        """Queue an item. Does not wait."""
        self.queue.append(item)

    def deliver(self, until: float = math.inf) -> bool:
        """Return when all queued items are delivered; False if that takes longer.

        Called by the receiver it returns at once: its caller continues.
        """
        if self.by == threading.get_ident():
            return True
        while self.queue:
            if not self._lock.acquire(timeout=time_left(until)):
                return False
            try:
                self.by = threading.get_ident()
                while self.queue:
                    self._hand_over(self.queue[0])
                    self.queue.popleft()  # not before: until then it may not have been received
                    if time.monotonic() >= until:
                        break
            finally:
                self.by = 0
                self._lock.release()
            if self.queue and time.monotonic() >= until:
                return False
        return True

    def _hand_over(self, item: T) -> None:
        try:
            self._receive(item)
        except Exception:
            log.exception("what was to hear about changed files failed")

    def drop_after_fork(self) -> None:
        """In a forked child: no thread delivers, and nothing is queued."""
        self._lock, self.by = threading.Lock(), 0
        self.queue.clear()


def is_free(lock: threading.Lock, until: float) -> bool:
    """Whether a lock is free, or becomes free in time."""
    if not lock.acquire(timeout=time_left(until)):
        return False
    lock.release()
    return True


def time_left(until: float) -> float:
    """The timeout for `Lock.acquire` until that time of the monotonic clock."""
    if until == math.inf:
        return -1
    return min(max(0.0, until - time.monotonic()), threading.TIMEOUT_MAX)
