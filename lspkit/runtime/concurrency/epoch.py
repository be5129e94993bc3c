"""The number of reports so far, and waiting for the next one."""

from __future__ import annotations

import threading

from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.call import Call


class Epoch:
    """Counts reports. For any thread."""

    def __init__(self, first: int = 0) -> None:
        #: Guards `number`.
        self._lock = threading.Lock()
        self.number = first
        self._news = Broadcast()
        self._is_over = False

    def advance(self) -> int:
        """Count a report, wake those who wait for one, and return the new number."""
        with self._lock:
            self.number += 1
            number = self.number
        self._news.tell()
        return number

    def newer_than(self, after: int, call: Call) -> int:
        """Wait until the number is greater, or the time of the call is up; returns the number."""
        while self.number <= after and not self._is_over:
            call.raise_if_cancelled()
            news = self._news.next()
            if self.number > after or not call.wait(news):
                break
        return self.number

    def end(self) -> None:
        """There are no more reports: nobody waits any longer."""
        self._is_over = True
        self._news.tell(over=True)

    def drop_after_fork(self) -> None:
        """In a forked child: another thread of the parent may have held a lock."""
        self._lock, self._news = threading.Lock(), Broadcast()
