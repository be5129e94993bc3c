"""A call as a `Future`, without a thread of its own.

The generator of waits is not driven by the caller's thread, but by callbacks: the thread that
completes a wait (a reader, a timer, a cancel) has a worker run the next step. So any number of
calls may wait for a server that never answers, without blocking other calls. Callbacks of the
caller run on other threads than calls: a callback may wait for a call.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any

from lspkit.errors import WorkspaceClosedError
from lspkit.runtime.concurrency.call import EVENT_LOOK, CallContext, CancelToken
from lspkit.runtime.concurrency.timers import Timer, Timers
from lspkit.runtime.concurrency.waiter import Outcome, Steps, Waiter
from lspkit.runtime.concurrency.workers import Workers

log = logging.getLogger("lspkit.runtime")


class CallFuture(Future[Any]):
    """A future whose callbacks run in order, on threads of their own."""

    def __init__(self, callers: Workers) -> None:
        super().__init__()
        self._callers = callers
        #: Guards `_to_call`.
        self._calling = threading.Lock()
        self._to_call: list[Callable[[Future[Any]], object]] = []

    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        """Call `fn` with the future when it is done; if it is done, at once in this thread."""
        if self.done():
            super().add_done_callback(fn)
            return
        with self._calling:
            self._to_call.append(fn)
            first = len(self._to_call) == 1
        if first:
            super().add_done_callback(self._hand_on)

    def _hand_on(self, _: Future[Any]) -> None:
        if not self._callers.do(self._call_all):
            self._call_all()

    def _call_all(self) -> None:
        with self._calling:
            to_call, self._to_call = self._to_call, []
        for fn in to_call:
            try:
                fn(self)
            except Exception:
                log.exception("a callback of a submitted call failed")


class Task:
    """One submitted call."""

    def __init__(
        self,
        steps: Steps[Any],
        call: CallContext,
        workers: Workers,
        timers: Timers,
        callers: Workers | None = None,
    ) -> None:
        self.future: Future[Any] = Future() if callers is None else CallFuture(callers)
        self._steps = steps
        self._call = call
        self._workers = workers
        self._timers = timers
        #: Guards the fields below: wakes come from several threads.
        self._lock = threading.Lock()
        self._waiter: Waiter | None = None
        self._until = 0.0
        self._timer: Timer | None = None

    def start(self, *, here: bool = False) -> None:
        """Begin, on a worker, or `here` in this thread, until it has to wait."""
        self._workers.calls.add(self)
        if here:
            self._begin()
            return
        if not self._workers.do(self._begin):
            self.abandon()

    def _begin(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self._advance(None)
        else:
            self._workers.calls.discard(self)

    def _advance(self, outcome: Outcome | None) -> None:
        try:
            waiter, until = next(self._steps) if outcome is None else self._steps.send(outcome)
        except StopIteration as end:
            self._over()
            self.future.set_result(end.value)
            return
        except BaseException as problem:  # noqa: BLE001 (the future carries it on)
            self._over()
            self.future.set_exception(problem)
            return
        with self._lock:
            self._waiter, self._until = waiter, min(until, self._call.deadline)
        cancel = self._call.cancel
        if isinstance(cancel, CancelToken):
            cancel.watch(waiter)
        waiter.on_done = self._look
        self._look()

    def _look(self) -> None:
        """Continue if the wait is over. For any thread."""
        cancelled = self._call.cancelled()  # the caller's own code, so without the lock
        with self._lock:
            waiter = self._waiter
            if waiter is None:
                return
            outcome, problem = self._outcome(waiter, cancelled), None
            if outcome is None:
                problem = self._look_later()
                if problem is None:
                    return
            self._waiter = None
            timer, self._timer = self._timer, None
        if timer is not None:
            self._timers.drop(timer)
        if isinstance(self._call.cancel, CancelToken):
            self._call.cancel.unwatch(waiter)
        if problem is not None:
            self._end_with(problem)
        elif not self._workers.do(lambda: self._advance(outcome)):
            self.abandon()

    def _outcome(self, waiter: Waiter, cancelled: bool) -> Outcome | None:
        if waiter.done:
            return Outcome.DONE
        if cancelled:
            return Outcome.CANCELLED
        return Outcome.TIMED_OUT if time.monotonic() >= self._until else None

    def _look_later(self) -> Exception | None:
        """Set a timer for the end of the wait, or return why that fails. The lock is held."""
        cancel, until = self._call.cancel, self._until
        if cancel is not None and not isinstance(cancel, CancelToken):
            until = min(until, time.monotonic() + EVENT_LOOK)
        try:
            if self._timer is None or self._timer.job is None:
                self._timer = self._timers.at(until, self._look)
        except (RuntimeError, OSError, MemoryError) as problem:  # no thread can be started
            return problem
        return None

    def _over(self) -> None:
        self._call.end()
        self._workers.calls.discard(self)

    def abandon(self) -> None:
        """The workspace was closed: the future raises that, unless it is done."""
        self._end_with(WorkspaceClosedError("this workspace was closed"))

    def _end_with(self, problem: Exception) -> None:
        """End the call early: the future raises this, unless it is done."""
        self._over()
        try:
            self._steps.close()
            self.future.set_exception(problem)
        except (ValueError, InvalidStateError) as known:
            log.debug("a call has come to its end by itself: %s", known)
