"""Calls at a later time, for those who wait without a thread. One thread, started on first use."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("lspkit.runtime")


class Timers:
    """What is due when."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._changed = threading.Condition(threading.Lock())
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._thread: threading.Thread | None = None
        self._closed = False

    def at(self, when: float, job: Callable[[], None]) -> None:
        """Call `job` at that time of the monotonic clock; infinity means never."""
        if when == float("inf"):
            return
        with self._changed:
            if self._closed:
                return
            heapq.heappush(self._due, (when, next(self._order), job))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lspkit-timers", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Forget what is due, and end the thread."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not self._is_due():
                    left = self._due[0][0] - time.monotonic() if self._due else None
                    self._changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))
                if self._closed:
                    return
                job = heapq.heappop(self._due)[2]
            try:
                job()
            except Exception:
                log.exception("a timer of lspkit failed")

    def _is_due(self) -> bool:
        return bool(self._due) and self._due[0][0] <= time.monotonic()
