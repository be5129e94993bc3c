"""Threads of lspkit. They end with their workspace, and never keep a program from ending.

Those of a `ThreadCache` run calls and their parts: they are cached, and not pooled. A job takes an
idle thread, or a new one is started. So there is no queue in which a healthy call waits behind
calls that hang. A thread that has had no work for a minute ends. What has to be done at a later
time is a job that pauses.
"""

from __future__ import annotations

import _thread
import contextvars
import functools
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable

log = logging.getLogger("lspkit.runtime")

#: Seconds that a thread of lspkit waits for others to end: they may wait for it.
PATIENCE = 2.0
#: Most threads of one cache, and most of them that calls and their parts may use: starts and ends
#: of servers need threads as well.
MOST_THREADS = 1000
MOST_CALLS = 900
#: Seconds without work after which a thread ends.
IDLE = 60.0

Job = Callable[[], object]


class Signal:
    """Something that happens once, for any number of waiting threads.

    A bare lock: an interrupt of the main thread in `threading.Event.wait` may leave a lock locked.
    """

    def __init__(self) -> None:
        self.is_set = False
        #: Locked until it is set.
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def set(self) -> None:
        """It has happened."""
        if not self.is_set:
            self.is_set = True
            self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it happens; False after the timeout."""
        if not self.is_set and self._lock.acquire(timeout=_lock_timeout(timeout)):
            self._lock.release()  # for the next waiter
        return self.is_set


def _lock_timeout(seconds: float | None) -> float:
    return -1 if seconds is None else min(max(0.0, seconds), threading.TIMEOUT_MAX)


class OwnThread(threading.Thread):
    """Runs only code of lspkit and callbacks of futures."""

    def __init__(self, job: Callable[[], object], name: str) -> None:
        super().__init__(target=job, name=f"lspkit-{name}", daemon=True)
        #: Python before 3.13 regards a thread as ended when a `join` is interrupted.
        self.over = Signal()
        #: Whether it is about to start.
        self.is_begun = False

    def start(self) -> None:
        """Start it."""
        self.is_begun = True
        try:
            super().start()
        except (RuntimeError, OSError, MemoryError):
            self.is_begun = False  # nobody has to wait for it
            raise

    def run(self) -> None:
        """Do the job."""
        try:
            super().run()
        finally:
            self.over.set()


def on_own_thread() -> bool:
    """Whether this is a thread of lspkit. Others may wait for it; it gets no interrupts."""
    return isinstance(threading.current_thread(), OwnThread)


def on_main_thread() -> bool:
    """Whether this is the main thread, the only one that gets interrupts."""
    return threading.get_ident() == threading.main_thread().ident


def joined(threads: Iterable[OwnThread], timeout: float | None = None) -> bool:
    """Wait for threads to end, except the current one; False if one still runs."""
    if timeout is None and on_own_thread():
        timeout = PATIENCE
    deadline = None if timeout is None else time.monotonic() + timeout
    ended = True
    for thread in threads:
        if not thread.is_begun:
            continue
        if thread is threading.current_thread():
            ended = False
        elif thread.over.wait(None if deadline is None else max(0.0, deadline - time.monotonic())):
            if thread.ident is not None:  # else there were no resources
                thread.join()
        else:
            ended = False
    return ended


class _Worker(OwnThread):
    """A thread that does one job after the other."""

    def __init__(self, cache: ThreadCache, job: Job, number: int) -> None:
        super().__init__(self._work, f"call-{number}")
        self._cache = cache
        #: Guarded by the lock of the cache.
        self.job: Job | None = job
        #: Released when there is a job, or the thread has to end, under the lock of the cache.
        self.baton = _thread.allocate_lock()
        self.baton.acquire()

    def _work(self) -> None:
        try:
            while (job := self._cache.next_job(self)) is not None:
                try:
                    job()
                except Exception:
                    log.exception("a job of lspkit failed")
                del job  # so that it is freed before the next one
        finally:
            self._cache.forget(self)


class ThreadCache:
    """Runs jobs, each in a thread of its own. For any thread."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        #: Those without a job, the last one that became idle at the end.
        self._idle: list[_Worker] = []
        #: Those that run code of a user.
        self._lent: set[threading.Thread] = set()
        self._end = Signal()
        self._numbers = itertools.count(1)

    def do(self, job: Job, most: int = MOST_THREADS) -> bool:
        """Begin a job, with the context variables of this thread.

        False if it cannot run: after `close`, at the interpreter's end, and with too many threads.
        """
        job = functools.partial(contextvars.copy_context().run, job)
        with self._lock:
            if self._end.is_set:
                return False
            if self._idle:
                worker = self._idle.pop()
                worker.job = job
                worker.baton.release()
                return True
            if len(self._workers) >= most:
                return False
            worker = _Worker(self, job, next(self._numbers))
            self._workers.add(worker)
        return self._start(worker)

    def _start(self, worker: _Worker) -> bool:
        try:
            worker.is_begun = True
            if on_main_thread():
                # `Thread.start` waits for an event, where an interrupt may leave a lock locked.
                _thread.start_new_thread(self._start_from_here, (worker,))
            else:
                worker.start()
        except (RuntimeError, OSError, MemoryError) as problem:
            self.forget(worker)
            worker.over.set()
            log.debug("a thread cannot be started: %s", problem)
            return False
        return True

    def _start_from_here(self, worker: _Worker) -> None:
        try:
            worker.start()
        except (RuntimeError, OSError, MemoryError):
            worker.is_begun = True
            worker.run()  # there is this thread

    def pause(self, until: float) -> bool:
        """In a job: wait until that time of the monotonic clock. False after `close`."""
        return not self._end.wait(until - time.monotonic())

    def forget(self, worker: _Worker) -> None:
        """A thread ends, or could not be started."""
        with self._lock:
            self._workers.discard(worker)

    def next_job(self, worker: _Worker) -> Job | None:
        """The next job of a thread, when there is one; None if it has to end."""
        with self._lock:
            if worker.job is None and not self._end.is_set:
                self._idle.append(worker)
        if worker.job is None and not self._end.is_set:
            worker.baton.acquire(timeout=IDLE)
        with self._lock:
            worker.baton.acquire(blocking=False)  # its job may have come before it waited
            job, worker.job = worker.job, None
            if job is None and worker in self._idle:
                # It ends. It is not there if an interrupt came between its choice and its job.
                self._idle.remove(worker)
            return job

    def call_back(self, job: Callable[[], None]) -> None:
        """Run code of a user in this thread: `close` waits for it only with `finish`."""
        thread = threading.current_thread()
        with self._lock:
            self._lent.add(thread)
        try:
            job()
        finally:
            with self._lock:
                self._lent.discard(thread)

    def close(self, *, finish: bool = False) -> bool:
        """Begin no job any more, and wait for those that run. May be called again.

        False if a thread still runs: the current one, or one that this one may not wait for.
        """
        with self._lock:
            self._end.set()
            self._idle.clear()
            workers = self._workers if finish else self._workers - self._lent
            workers = set(workers)
            for worker in workers:  # also one that an interrupt has left without a job
                if worker.baton.locked():
                    worker.baton.release()
        return joined(workers)

    @property
    def is_closed(self) -> bool:
        """Whether no job is begun any more."""
        return self._end.is_set

    def drop_after_fork(self) -> None:
        """In a forked child: the threads are the parent's."""
        self._lock, self._end = threading.Lock(), Signal()
        self._end.set()
        self._workers, self._idle = set(), []
