"""The remote engine: carries out requests in the service."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from lspkit.errors import CancelledError, RequestTimeoutError, ServerUnavailableError
from lspkit.late_imports import safe_imports
from lspkit.operations.request import OPERATIONS, Request
from lspkit.runtime.concurrency.call import EVENT_LOOK, CallContext, CancelLike, CancelToken
from lspkit.runtime.concurrency.drive import block
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.concurrency.waiter import Steps, Waiter
from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.engine_api import Limits
from lspkit.runtime.process import exit_hooks
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.service.client import ANSWER_TIMEOUT, GRACE, Client, PendingCall
from lspkit.service.wire_values import decode_result, encode_call

if TYPE_CHECKING:
    from concurrent.futures import Future

    from lspkit.service.client_peer import ClientPeer

T = TypeVar("T")


class RemoteEngine:
    """The servers of the service that a client is connected to."""

    def __init__(self, client: Client, *, restart: bool = False) -> None:
        self.client = client
        self._restart = restart
        #: Overlays by number: over which connection they are shown. Changes are atomic.
        self._overlays: dict[int, ClientPeer] = {}
        self._workers, self._callers, self._timers = Workers(), Workers("caller"), Timers()
        exit_hooks.register(self)

    def run(self, request: Request[T], limits: Limits) -> T:
        """Carry out a request, and return its result."""
        if limits.cancel is not None:
            call = _call_context(limits)
            result: T = block(self._steps(request, limits), call)
            return result
        deadline = CallContext(limits.timeout).deadline
        if OPERATIONS[type(request)].name == "show_disk":
            ended: T = self._end_overlay(request, limits, deadline)
            return ended
        try:
            return self._ask(request, limits, deadline)
        except ServerUnavailableError:
            if not self._may_ask_again(request):
                raise
        return self._ask(request, limits, deadline)

    def _end_overlay(self, request: Any, limits: Limits, deadline: float) -> Any:
        try:
            return self._ask(request, limits, deadline)
        except ServerUnavailableError:
            return None  # it has ended with its service
        finally:
            self._overlays.pop(request.number, None)

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request without a thread that waits."""
        with safe_imports():
            from lspkit.runtime.concurrency.future_task import (
                Task,  # here, to keep `import lspkit` quick
            )

        call = _call_context(limits)
        task = Task(self._steps(request, limits), call, self._workers, self._timers, self._callers)
        task.start()
        return task.future

    def _may_ask_again(self, request: Request[Any]) -> bool:
        """Whether a request that failed is sent to a new service."""
        # The service may have ended just now. A server that is missing raises the same error.
        return self._restart and not self.client.is_alive() and not request.only_once

    def _ask(self, request: Request[T], limits: Limits, deadline: float) -> T:
        """Carry out a request that nothing cancels, in the caller's thread."""
        with self._send(request, deadline) as pending:
            if not pending.waiter.wait(deadline + _grace(request) - time.monotonic()):
                raise _silent_error()
        value = _value_of(pending, request, limits)
        if isinstance(value, int) and OPERATIONS[type(request)].name == "show_texts":
            self._overlays[value] = pending.peer
        return value

    def _steps(self, request: Request[Any], limits: Limits) -> Steps[Any]:
        """Carry out a request as a generator of waits; a cancel is passed on."""
        deadline = CallContext(limits.timeout).deadline
        try:
            return (yield from self._attempt(request, limits, deadline))
        except ServerUnavailableError:
            if not self._may_ask_again(request):
                raise
        return (yield from self._attempt(request, limits, deadline))

    def _attempt(self, request: Request[Any], limits: Limits, deadline: float) -> Steps[Any]:
        # With the request: a cancel that follows it would race with the answer.
        cancelled = limits.cancel is not None and limits.cancel.is_set()
        with self._send(request, deadline, cancelled=cancelled) as pending:
            yield from self._await_answer(pending, limits.cancel, deadline, _grace(request))
        return _value_of(pending, request, limits)

    def _send(
        self, request: Request[Any], deadline: float, *, cancelled: bool = False
    ) -> PendingCall:
        left = deadline - time.monotonic()
        params = encode_call(request, left, cancelled=cancelled)
        # All that are in use are shown over one connection: calls over another one fail.
        return self.client.begin("lsp/call", params, over=next(iter(self._overlays.values()), None))

    def _await_answer(
        self, pending: PendingCall, cancel: CancelLike | None, deadline: float, grace: float
    ) -> Steps[None]:
        """Wait for the answer, and pass a cancel on meanwhile."""
        waiter = pending.waiter
        if cancel is not None:
            relay = _CancelRelay(pending=pending, timers=self._timers, grace=grace)
            yield from self._await_with_cancel(relay, cancel, deadline + grace)
        elif not waiter.done:
            yield waiter, deadline + grace
        if not waiter.done:
            raise _silent_error()

    def _await_with_cancel(
        self, relay: _CancelRelay, cancel: CancelLike, until: float
    ) -> Steps[None]:
        waiter = relay.pending.waiter
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


def _grace(request: Request[Any]) -> float:
    """Seconds for the service to answer after the timeout, or after a cancel."""
    # Without the answer, a caller does not know whether files were changed. And one about many
    # files has what is known of them: it takes time to make it and to send it.
    return ANSWER_TIMEOUT if request.only_once or request.is_about_many_files else GRACE


def _silent_error() -> RequestTimeoutError:
    return RequestTimeoutError("the service did not answer in time", state="running")


def _value_of(pending: PendingCall, request: Request[T], limits: Limits) -> T:
    """The result of a call that is complete."""
    value: T
    value, answered, failed = decode_result(OPERATIONS[type(request)], pending.result())
    if limits.answer_log is not None:
        limits.answer_log.answered.update(answered)
        limits.answer_log.failed += failed
    return value


def _call_context(limits: Limits) -> CallContext:
    """Checks the limits. The service ends the call; this side waits for its answer."""
    if limits.timeout is not None or limits.cancel is not None:
        CallContext(limits.timeout, limits.cancel)
    return CallContext()


class _CancelRelay(Waiter, eq=False, kw_only=True):
    """Passes a cancel on to the service."""

    pending: PendingCall
    timers: Timers
    grace: float

    def wake(self) -> None:
        """The caller has cancelled: the service answers, or the call ends without an answer."""
        self.pending.cancel()
        ended = CancelledError("the call was cancelled")
        waiter = self.pending.waiter
        self.timers.at(time.monotonic() + self.grace, lambda: waiter.complete(ended))
