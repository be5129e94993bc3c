"""The steps by which something ends, so that nothing is left whatever comes between.

Each step may be done again, and each is tried whatever becomes of the others. One that was cut
short by an interrupt is begun anew at once; one that failed, or could not be finished in this
thread, is left to the next who closes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from lspkit.runtime.concurrency.threads import on_own_thread

log = logging.getLogger("lspkit.runtime")

#: A step is begun so often. Whoever interrupts it more often wants it to be left.
ATTEMPTS = 3

#: False if something is left.
Step = Callable[[], bool | None]


class Teardown:
    """The end of one thing. For any thread, any number of times."""

    def __init__(self, *steps: Step) -> None:
        #: Held by whoever closes.
        self._lock = threading.Lock()
        #: The thread that does.
        self._by = 0
        self._left = list(steps)
        #: Whether somebody was interrupted, and has no more patience.
        self.hurried = False

    def run(self) -> bool:
        """Do what is left to do. False if another thread is at it, and this one may not wait.

        Others wait for lspkit's own threads, and would so for ever; nor can a thread wait for
        itself, if it comes here once more out of a step.
        """
        if self._by == threading.get_ident():
            return False
        if not on_own_thread():
            with self._lock:
                return self._run()
        if not self._lock.acquire(blocking=False):
            return False
        try:  # no interrupt comes between: such a thread gets none
            return self._run()
        finally:
            self._lock.release()

    def _run(self) -> bool:
        problem: BaseException | None = None
        try:
            self._by = threading.get_ident()
            for step in list(self._left):
                problem = self._do(step) or problem
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
            except BaseException as interrupt:  # noqa: BLE001 (the same)
                self.hurried = True
                problem = interrupt
        return problem
