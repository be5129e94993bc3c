"""The remote engine: carries out requests in the service."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from lspkit.errors import CancelledError, RequestTimeoutError, ServerUnavailableError
from lspkit.late_imports import safe_imports
from lspkit.operations import (
    ApplyRequest,
    DeleteRequest,
    MoveRequest,
    Request,
    ShowTextsRequest,
    UndoRequest,
    WriteRequest,
)
from lspkit.runtime.concurrency.call import EVENT_LOOK, CallContext, CancelLike, CancelToken
from lspkit.runtime.concurrency.drive import block
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.concurrency.waiter import Steps, Waiter
from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.engine_api import Limits
from lspkit.runtime.process import exit_hooks
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.service.client import GRACE, Client, PendingCall
from lspkit.service.wire_values import NAMES, decode_result, encode_call

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

#: Requests that are not sent again to a new service: they may have been carried out.
ONCE = (
    ApplyRequest,
    DeleteRequest,
    MoveRequest,
    ShowTextsRequest,
    UndoRequest,
    WriteRequest,
)


class RemoteEngine:
    """The servers of the service that a client is connected to."""

    def __init__(self, client: Client, *, restart: bool = False) -> None:
        self.client = client
        self._restart = restart
        self._workers, self._callers, self._timers = Workers(), Workers("caller"), Timers()
        exit_hooks.register(self)

    def run(self, request: Request[T], limits: Limits) -> T:
        """Carry out a request, and return its result."""
        _check(limits)
        result: T
        if limits.cancel is None:
            result = self._run_here(request, limits)
        else:
            result = block(self._steps(request, limits), CallContext())
        return result

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request without a thread that waits."""
        with safe_imports():
            from lspkit.runtime.concurrency.future_task import (
                Task,  # here, to keep `import lspkit` quick
            )

        _check(limits)
        # The service ends the call; this side waits for its answer.
        call = CallContext()
        task = Task(self._steps(request, limits), call, self._workers, self._timers, self._callers)
        task.start()
        return task.future

    def _run_here(self, request: Request[Any], limits: Limits) -> Any:
        """The same as `_steps`, for a call without a cancel: waiting here takes less time."""
        deadline = _deadline(limits)
        try:
            return self._attempt_here(request, limits, deadline)
        except ServerUnavailableError:
            if not self._may_repeat(request):
                raise
        return self._attempt_here(request, limits, deadline)

    def _attempt_here(self, request: Request[Any], limits: Limits, deadline: float | None) -> Any:
        pending = self._send(request, limits, deadline)
        until = _until(deadline)
        try:
            while not pending.waiter.wait(until - time.monotonic()):
                if time.monotonic() >= until:
                    raise _late_error()
        except BaseException:
            pending.cancel()
            raise
        finally:
            pending.forget()
        return _result(request, limits, pending)

    def _steps(self, request: Request[Any], limits: Limits) -> Steps[Any]:
        deadline = _deadline(limits)
        try:
            return (yield from self._attempt(request, limits, deadline))
        except ServerUnavailableError:
            if not self._may_repeat(request):
                raise
        return (yield from self._attempt(request, limits, deadline))

    def _may_repeat(self, request: Request[Any]) -> bool:
        """Whether the service may have ended just now; a missing server raises the same error."""
        return self._restart and not self.client.is_alive() and not isinstance(request, ONCE)

    def _attempt(self, request: Request[Any], limits: Limits, deadline: float | None) -> Steps[Any]:
        pending = self._send(request, limits, deadline)
        try:
            yield from self._await_answer(pending, limits.cancel, deadline)
        except BaseException:
            pending.cancel()
            raise
        finally:
            pending.forget()
        return _result(request, limits, pending)

    def _send(self, request: Request[Any], limits: Limits, deadline: float | None) -> PendingCall:
        left = None if deadline is None else deadline - time.monotonic()
        # With the request: a cancel that follows it would race with the answer.
        cancelled = limits.cancel is not None and limits.cancel.is_set()
        return self.client.begin("lsp/call", encode_call(request, left, cancelled=cancelled))

    def _await_answer(
        self, pending: PendingCall, cancel: CancelLike | None, deadline: float | None
    ) -> Steps[None]:
        """Wait for the answer, and pass a cancel on meanwhile."""
        until = _until(deadline)
        waiter = pending.waiter
        if cancel is not None:
            yield from self._await_with_cancel(pending, cancel, until)
        elif not waiter.done:
            yield waiter, until
        if not waiter.done:
            raise _late_error()

    def _await_with_cancel(
        self, pending: PendingCall, cancel: CancelLike, until: float
    ) -> Steps[None]:
        waiter, relay = pending.waiter, _CancelRelay(pending, self._timers)
        if isinstance(cancel, CancelToken):
            cancel.watch(relay)
        try:
            # An event cannot be watched, so it is looked at in intervals.
            while not cancel.is_set() and not waiter.done:
                if isinstance(cancel, CancelToken) or time.monotonic() >= until:
                    break
                yield waiter, min(until, time.monotonic() + EVENT_LOOK)
            if cancel.is_set() and not waiter.done:
                relay.wake()
            if not waiter.done:
                yield waiter, until
        finally:
            if isinstance(cancel, CancelToken):
                cancel.unwatch(relay)

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on."""
        return self.client.events()

    def close(self, *, at_once: bool = False) -> None:
        """End the connection, in any case at once. The service and its servers go on."""
        self.client.close()
        self._workers.close()
        self._timers.close()
        self._callers.close(finish=True)
        exit_hooks.unregister(self)

    def drop_after_fork(self) -> None:
        """In a forked child: the connection belongs to the parent."""
        self._workers, self._callers, self._timers = Workers(), Workers(), Timers()
        self._workers.close()
        self.client.drop_after_fork()


def _deadline(limits: Limits) -> float | None:
    return None if limits.timeout is None else time.monotonic() + float(limits.timeout)


def _until(deadline: float | None) -> float:
    """Until when the answer of the service is waited for."""
    return float("inf") if deadline is None else deadline + GRACE


def _late_error() -> RequestTimeoutError:
    return RequestTimeoutError("the service did not answer in time", state="running")


def _result(request: Request[Any], limits: Limits, pending: PendingCall) -> Any:
    """The result that was received; raises an error that was."""
    value, answered, failed = decode_result(NAMES[type(request)], pending.result())
    if limits.answer_log is not None:
        limits.answer_log.answered.update(answered)
        limits.answer_log.failed += failed
    return value


def _check(limits: Limits) -> None:
    """Raise a `TypeError` for limits that are none."""
    if limits.timeout is not None or limits.cancel is not None:
        CallContext(limits.timeout, limits.cancel)


class _CancelRelay(Waiter):
    """Passes a cancel on to the service."""

    __slots__ = ("_pending", "_timers")

    def __init__(self, pending: PendingCall, timers: Timers) -> None:
        super().__init__()
        self._pending, self._timers = pending, timers

    def wake(self) -> None:
        """The caller has cancelled: the service answers, or the call ends without an answer."""
        self._pending.cancel()
        ended = CancelledError("the call was cancelled")
        waiter = self._pending.waiter
        self._timers.at(time.monotonic() + GRACE, lambda: waiter.complete(ended))
