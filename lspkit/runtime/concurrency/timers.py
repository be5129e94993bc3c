"""Jobs at a later time. One thread, started on first use."""

from __future__ import annotations

import _thread
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

from lspkit.runtime.concurrency.threads import OwnThread, joined

log = logging.getLogger("lspkit.runtime")


class Timers:
    """The jobs, by time. None may wait."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        self._thread: OwnThread | None = None
        self._closed = False
        #: Released when the thread has to look again.
        self._news = _thread.allocate_lock()
        self._news.acquire()

    def at(self, when: float, job: Callable[[], object]) -> None:
        """Do `job` at that time of the monotonic clock.

        Raises what the system says if the thread cannot be started; the job is dropped then.
        """
        with self._lock:
            if self._closed:
                return
            if self._thread is None:
                self._thread = OwnThread(self._run, "timers")
                try:
                    self._thread.start()
                except (RuntimeError, OSError, MemoryError):
                    self._thread = None
                    raise
            number = next(self._order)
            heapq.heappush(self._due, (when, number, job))
            if self._due[0][1] == number:
                self._wake()

    def close(self) -> bool:
        """Drop all jobs and end the thread. False if that is the current one."""
        with self._lock:
            self._closed = True
            self._due.clear()
            self._wake()
        return self._thread is None or joined([self._thread])

    def _wake(self) -> None:
        """Wake the thread. The lock is held."""
        if self._news.locked():
            self._news.release()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except Exception:
                log.exception("a timer of lspkit failed")
            del job  # so that it is freed before the next one

    def _next(self) -> Callable[[], object] | None:
        """The next job, when its time has come; None at the end."""
        while True:
            with self._lock:
                if self._closed:
                    return None
                left = self._due[0][0] - time.monotonic() if self._due else threading.TIMEOUT_MAX
                if left <= 0:
                    return heapq.heappop(self._due)[2]
            self._news.acquire(timeout=min(left, threading.TIMEOUT_MAX))
