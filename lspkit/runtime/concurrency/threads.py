"""Threads of lspkit. They end with their workspace, and never keep a program from ending."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterable

#: Seconds that a thread of lspkit waits for others to end: they may wait for it.
PATIENCE = 2.0


class Signal:
    """Something that happens once, for any number of waiting threads.

    A bare lock: an interrupt of the main thread in `threading.Event.wait` may leave a lock locked.
    """

    def __init__(self) -> None:
        self._set = False
        #: Locked until it is set.
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def set(self) -> None:
        """It has happened."""
        if not self._set:
            self._set = True
            self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it happens; False after the timeout."""
        if not self._set and self._lock.acquire(timeout=_lock_timeout(timeout)):
            self._lock.release()  # for the next waiter
        return self._set


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
