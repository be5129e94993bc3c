"""Calls at a later time, for waits without a thread. One thread, started on first use."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

from lspkit.runtime.concurrency.threads import OwnThread, joined

log = logging.getLogger("lspkit.runtime")

#: Dropped timers that stay in the list: this many, or half of the list.
UNWANTED = 100


class Timer:
    """One call."""

    __slots__ = ("job",)

    def __init__(self, job: Callable[[], None]) -> None:
        #: None when it was called or dropped. Guarded by the lock of `Timers`.
        self.job: Callable[[], None] | None = job


class Timers:
    """The timers, by time."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._changed = threading.Condition(threading.Lock())
        self._due: list[tuple[float, int, Timer]] = []
        #: How many of these were dropped.
        self._unwanted = 0
        self._order = itertools.count()
        self._thread: OwnThread | None = None
        self._closed = False

    def at(self, when: float, job: Callable[[], None]) -> Timer:
        """Call `job` at that time of the monotonic clock; infinity means never.

        Raises what the system says if the thread cannot be started; the job is dropped then.
        """
        timer = Timer(job)
        with self._changed:
            if self._closed or when == float("inf"):
                timer.job = None
                return timer
            if self._thread is None:
                self._thread = OwnThread(self._run, "timers")
                try:
                    self._thread.start()
                except (RuntimeError, OSError, MemoryError):
                    self._thread = None
                    raise
            heapq.heappush(self._due, (when, next(self._order), timer))
            if self._due[0][2] is timer:
                self._changed.notify()
        return timer

    def drop(self, timer: Timer) -> None:
        """Cancel a timer; it may just have been called."""
        with self._changed:
            if timer.job is None:
                return
            timer.job = None
            self._unwanted += 1
            if self._unwanted > max(UNWANTED, len(self._due) // 2):
                self._due = [one for one in self._due if one[2].job is not None]
                heapq.heapify(self._due)
                self._unwanted = 0

    def close(self) -> bool:
        """Drop all timers and end the thread. False if that is the current one."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()
        return self._thread is None or joined([self._thread])

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not self._is_due():
                    left = self._due[0][0] - time.monotonic() if self._due else None
                    self._changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))
                if self._closed:
                    return
                timer = heapq.heappop(self._due)[2]
                job, timer.job = timer.job, None
                if job is None:
                    self._unwanted -= 1
                    continue
            try:
                job()
            except Exception:
                log.exception("a timer of lspkit failed")
            del job, timer  # so that they are freed before the next timer

    def _is_due(self) -> bool:
        return bool(self._due) and self._due[0][0] <= time.monotonic()
