"""A few threads for work that no caller does in its own thread.

They start servers, and run the steps of `submit`'s calls. No job waits for a server: the answer
continues the call. Stops of servers do wait, and callbacks of futures may wait for anything, so
both have threads of their own.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Protocol

from lspkit.runtime.concurrency.threads import OwnThread, joined

log = logging.getLogger("lspkit.runtime")

#: More would not help: a step takes microseconds, a start some milliseconds.
THREADS = 4


class Unfinished(Protocol):
    """A call whose steps run on workers."""

    def abandon(self) -> None:
        """End the call without a result."""


class Workers:
    """A small pool of threads, which are started when needed."""

    def __init__(self, name: str = "worker") -> None:
        self._name = name
        #: Unfinished calls, kept alive here: a waiter may hold no reference to its call. Adding and
        #: removing are atomic.
        self.calls: set[Unfinished] = set()
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._threads: list[OwnThread] = []
        #: How many jobs are running or wait for a thread.
        self._unfinished = 0
        self._closed = False
        #: None ends a thread.
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

    def do(self, job: Callable[[], object]) -> bool:
        """Run a job soon. False if it cannot run: after `close`, at the interpreter's end, or when
        no thread can be started.
        """
        with self._lock:
            if self._closed:
                return False
            busy = self._unfinished >= len(self._threads)
            if busy and len(self._threads) < THREADS:
                self._start_one()
            if not self._threads:
                return False
            self._unfinished += 1
            self._jobs.put(job)
            return True

    def _start_one(self) -> None:
        thread = OwnThread(self._run, f"{self._name}_{len(self._threads)}")
        self._threads.append(thread)
        try:
            thread.start()
        except (RuntimeError, OSError, MemoryError) as problem:
            self._threads.remove(thread)
            log.debug("a thread cannot be started: %s", problem)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            _safely(job)
            job = None  # so that it is freed before the next job
            with self._lock:
                self._unfinished -= 1

    def close(self, *, finish: bool = False) -> bool:
        """Finish running jobs, and with `finish` queued ones; end the threads.

        May be called again. False if a thread still runs: the current one, or one that this one
        may not wait for.
        """
        with self._lock:
            self._closed = True
        while not finish and not self._jobs.empty():
            try:
                self._jobs.get_nowait()
            except queue.Empty:
                break
        for _ in self._threads:
            self._jobs.put(None)
        done = joined(self._threads)
        for call in list(self.calls):
            call.abandon()
        return done


def _safely(job: Callable[[], object]) -> None:
    try:
        job()
    except Exception:
        log.exception("a job of lspkit failed")
