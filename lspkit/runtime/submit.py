"""A call as a `Future`, without a thread of its own.

The generator of waits that a caller's thread would drive is driven by the answers instead: each
wait leaves a callback behind, and whoever completes it (a reader, a timer, a cancel) has the next
step done by a worker. So any number of calls may hang on a server that never answers, and hold
nobody up.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any

from lspkit.errors import WorkspaceClosed
from lspkit.runtime.timers import Timers
from lspkit.runtime.waiting import EVENT_LOOK, Call, Cancel, Outcome, Steps, Waiter
from lspkit.runtime.workers import Workers


class Task:
    """One submitted call."""

    def __init__(self, steps: Steps[Any], call: Call, workers: Workers, timers: Timers) -> None:
        self.future: Future[Any] = Future()
        self._steps = steps
        self._call = call
        self._workers = workers
        self._timers = timers
        #: Guards the fields below: wakes come from several threads.
        self._lock = threading.Lock()
        self._waiter: Waiter | None = None
        self._until = 0.0

    def start(self) -> None:
        """Begin, on a worker."""
        if not self._workers.do(self._begin):
            self.future.set_exception(WorkspaceClosed("this workspace was closed"))

    def _begin(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self._advance(None)

    def _advance(self, outcome: Outcome | None) -> None:
        try:
            waiter, until = next(self._steps) if outcome is None else self._steps.send(outcome)
        except StopIteration as end:
            self._call.end()
            self.future.set_result(end.value)
            return
        except BaseException as problem:  # noqa: BLE001 (the future carries it on)
            self._call.end()
            self.future.set_exception(problem)
            return
        with self._lock:
            self._waiter, self._until = waiter, min(until, self._call.deadline)
        cancel = self._call.cancel
        if isinstance(cancel, Cancel):
            cancel.watch(waiter)
        waiter.on_done = self._look
        self._look()

    def _look(self) -> None:
        """Something may have happened: go on if the wait is over. Any thread."""
        with self._lock:
            waiter = self._waiter
            if waiter is None:
                return
            outcome = self._outcome(waiter)
            if outcome is not None:
                self._waiter = None
        cancel = self._call.cancel
        if outcome is None:
            until = self._until
            if cancel is not None and not isinstance(cancel, Cancel):
                until = min(until, time.monotonic() + EVENT_LOOK)
            self._timers.at(until, self._look)
            return
        if isinstance(cancel, Cancel):
            cancel.unwatch(waiter)
        if not self._workers.do(lambda: self._advance(outcome)):
            self._steps.close()
            self.future.set_exception(WorkspaceClosed("this workspace was closed"))

    def _outcome(self, waiter: Waiter) -> Outcome | None:
        if waiter.done:
            return Outcome.DONE
        if self._call.cancelled():
            return Outcome.CANCELLED
        return Outcome.TIMED_OUT if time.monotonic() >= self._until else None
