"""Things that are handed over in order, by whoever comes first, and outside of all other locks.

Whoever finds something queues it under his own lock, which keeps the order, and delivers when he
has let go of that. If another thread is at it already, he waits for it, but not longer than he has
time. So a slow receiver holds up those who need it, and nobody who only wants to queue something.
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
        #: Adding and taking are single steps; taken is what the receiver has got.
        self._queue: collections.deque[T] = collections.deque()
        #: Held by whoever delivers.
        self._lock = threading.Lock()
        #: The thread that does, 0 for none.
        self.by = 0

    def __bool__(self) -> bool:
        """Whether there is something that the receiver has not got yet."""
        return bool(self._queue)

    def put(self, one: T) -> None:
        """Queue something. Waits for nobody."""
        self._queue.append(one)

    def deliver(self, until: float = math.inf) -> bool:
        """Return when all is delivered that was queued; False if that takes longer.

        Called by the receiver it returns at once: whoever has called that goes on.
        """
        if self.by == threading.get_ident():
            return True
        while self._queue:
            # From the lock into the list within one call of C code: no interrupt comes between.
            held: list[bool] = []
            try:
                held.extend(map(self._lock.acquire, (True,), (time_left(until),)))
                if not held[0]:
                    return False
                self.by = threading.get_ident()
                while self._queue:
                    self._hand_over(self._queue[0])
                    self._queue.popleft()
                    if time.monotonic() >= until:
                        break
            finally:
                if held and held[0]:
                    self.by = 0
                    self._lock.release()
            if self._queue and time.monotonic() >= until:
                return False
        return True

    def _hand_over(self, one: T) -> None:
        """After an interrupt it stays in the queue: it is not known who has heard of it."""
        try:
            self._receive(one)
        except Exception:
            log.exception("what was to hear about changed files failed")

    def drop_after_fork(self) -> None:
        """In a forked child: nobody is delivering, and nothing is."""
        self._lock, self.by = threading.Lock(), 0
        self._queue.clear()


def is_free(lock: threading.Lock, until: float) -> bool:
    """Whether nobody holds a lock, or lets go of it in time."""
    held: list[bool] = []
    try:
        held.extend(map(lock.acquire, (True,), (time_left(until),)))
        return held[0]
    finally:
        if held and held[0]:
            lock.release()


def time_left(until: float) -> float:
    """How long to wait for a lock until that time of the monotonic clock, as `acquire` has it."""
    if until == math.inf:
        return -1
    return min(max(0.0, until - time.monotonic()), threading.TIMEOUT_MAX)
