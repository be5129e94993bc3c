"""The steps that close something, each done even if others fail; then the first problem is raised.

Each step may run more than once. A step that was cut short by an interrupt is run again at once; a
step that failed, or could not finish in this thread, is left for the next call.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

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
