"""The steps that close something, each done even if others fail; then the first problem is raised.

Each step may run more than once. A step that was cut short by an interrupt is run again at once; a
step that failed, or could not finish in this thread, is left for the next call.

At interpreter exit every open workspace is closed. In a forked child every workspace is dropped:
its pipes belong to the parent, which continues.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable
from typing import Protocol

from lspkit.runtime.concurrency.threads import on_own_thread

log = logging.getLogger("lspkit.runtime")

#: How often a step is started. A user who interrupts it more often wants it to be abandoned.
ATTEMPTS = 3

#: False if something is left.
Step = Callable[[], bool | None]


class Teardown:
    """Closes one thing. For any thread, any number of times."""

    def __init__(self, *steps: Step) -> None:
        #: Held by the thread that closes.
        self._lock = threading.Lock()
        #: The id of that thread.
        self._by = 0
        self._left = list(steps)
        #: Whether nothing is waited for any more: a thread was interrupted, or there is no time.
        self.hurried = False

    def run(self) -> bool:
        """Run the remaining steps. False if another thread runs them, and this one may not wait.

        A thread of lspkit may not wait, because others wait for it; nor can a thread wait for
        itself, if a step calls this again.
        """
        if self._by == threading.get_ident():
            return False
        if not on_own_thread():
            with self._lock:
                return self._run()
        if not self._lock.acquire(blocking=False):
            return False
        try:  # no interrupt in between: this thread gets none
            return self._run()
        finally:
            self._lock.release()

    def _run(self) -> bool:
        problem: BaseException | None = None
        try:
            self._by = threading.get_ident()
            for step in list(self._left):
                failure = self._do(step)
                problem = problem or failure
        finally:
            self._by = 0
        if problem is not None:
            raise problem
        return True

    def _do(self, step: Step) -> BaseException | None:
        problem: BaseException | None = None
        for _ in range(ATTEMPTS):
            try:
                if step() is not False:
                    self._left.remove(step)
                return problem
            except Exception as failure:  # noqa: BLE001 (raised when the other steps are done)
                log.debug("a step of closing failed: %r", failure)
                return failure
            except BaseException as interrupt:  # noqa: BLE001 (raised later)
                self.hurried = True
                problem = interrupt
        return problem


class Closable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Close it."""

    def drop_after_fork(self) -> None:
        """Drop it in a forked child; takes no lock."""


#: By identity. A plain dict: the fork hook must be able to iterate it without a lock.
_open: dict[int, Closable] = {}


def register(closable: Closable) -> None:
    """Close it at exit, unless it is closed before."""
    _open[id(closable)] = closable


def unregister(closable: Closable) -> None:
    """It is closed."""
    _open.pop(id(closable), None)


def opened() -> frozenset[int]:
    """The identities of all that are open now."""
    return frozenset(_open)


def _close_all() -> None:
    # Each is closed, whatever becomes of the others; then the first problem is raised.
    Teardown(*[closable.close for closable in list(_open.values())]).run()


def _after_fork() -> None:
    for closable in list(_open.values()):
        closable.drop_after_fork()
    _open.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
