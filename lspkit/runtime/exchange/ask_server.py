"""One request to one server: sent, repeated if the server dropped it, and waited for.

Everything that may wait is a generator of waits. The time of a request starts when its server is
ready; the caller's deadline covers everything.
"""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable
from typing import Any

from lspkit.errors import RequestFailedError, RequestTimeoutError
from lspkit.operations.effect_results import Reply
from lspkit.protocol.events import Answered
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, REQUEST_CANCELLED, SERVER_CANCELLED
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Outcome, Steps, Waiter, uncancelled
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.replies import nowhere
from lspkit.runtime.files import File
from lspkit.runtime.process.server_output import Claims
from lspkit.runtime.process.usage import is_asleep, usage
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting, QueueEntry
from lspkit.runtime.server.pending_request import (
    Build,
    ConnectionLost,
    NamedDeadline,
    PendingRequest,
    Question,
    RequestDeadline,
    setting_of,
)
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: Seconds between two checks of a server that does not answer. It is blocked if it has sent nothing
#: and has used no processor from one check to the next.
LOOK_EVERY = 2.5

#: Seconds after which a caller in a document's queue checks whether the entry before it was
#: abandoned, or whether the server has to be replaced.
LOST_TURN = 0.5
#: Seconds after which a request is sent again that was dropped because the document changed.
RETRY_AFTER = 0.02
#: The pause doubles every time, up to this many seconds.
LONGEST_PAUSE = 1.0
#: Queues a request, perhaps with the output of the server claimed for the caller.
Send = Callable[[Claims | None], PendingRequest]
#: The error codes of dropped requests. pyrefly uses the last for requests that were not cancelled.
GIVEN_UP = (CONTENT_MODIFIED, SERVER_CANCELLED, REQUEST_CANCELLED)


def request_server(
    context: Context,
    server: Server,
    method: str,
    params: Any,
    until: float,
    call: CallContext | None = None,
) -> Steps[Reply]:
    """Send a request about no document, and wait for its answer; `call` as below."""
    send = functools.partial(server.channel.ask, method, params)
    return _send_until_answered(context, server, method, until, send, call)


def request_document(
    context: Context,
    server: Server,
    file: File,
    text: str | None,
    method: str,
    build: Build,
    until: float,
    call: CallContext | None = None,
    *,
    gives_way: bool = False,
    dropped: RequestFailedError | None = None,
) -> Steps[Reply]:
    """Send a request about a document, brought up to date first, and wait for its answer.

    With a call, the thread that waits for it may read the answer by itself.
    With `gives_way`, for a caller without a place in the queue, `ExclusiveCallWaiting` is raised
    instead of a second request if a call with a text of its own waits for the server.
    With `dropped`, the server has dropped the request once already.
    """

    def send(claims: Claims | None) -> PendingRequest:
        return server.channel.ask_about(file, text, Question(method, build, claims))

    return _send_until_answered(
        context, server, method, until, send, call, gives_way=gives_way, dropped=dropped
    )


def _send_until_answered(
    context: Context,
    server: Server,
    method: str,
    until: float,
    send: Send,
    call: CallContext | None,
    *,
    gives_way: bool = False,
    dropped: RequestFailedError | None = None,
) -> Steps[Reply]:
    """Send a request, and again if the server dropped it because the document changed.

    With `dropped`, that has happened once already.
    """
    pause = RETRY_AFTER
    while True:
        if dropped is not None:
            if dropped.server_code not in GIVEN_UP or time.monotonic() + pause >= until:
                raise dropped
            if gives_way and server.channel.queue.has_exclusive_calls:
                raise ExclusiveCallWaiting
            uncancelled((yield (Waiter(), time.monotonic() + pause)))
            pause = min(2 * pause, LONGEST_PAUSE)
        if server.channel.connection is not None and not server.channel.connection.has_room():
            yield from wait_for_room(context, server, method, until)
        began = time.monotonic()
        pending, answer = send_request(server, send, call, until)
        if answer is None:
            value = yield from wait_for_answer(context, server, pending, until, began)
        else:
            value = note_answer(context, server, answer, began)
        if isinstance(value, Answered):
            view = nowhere(server) if pending.view is None else pending.view
            return Reply(server.id, value.result, view, method, pending.seq)
        dropped = value


def send_request(
    server: Server, send: Send, call: CallContext | None, until: float
) -> tuple[PendingRequest, Answered | None]:
    """Send a request. If this thread waits for the answer, and it comes soon, it is read here."""
    if call is None or not call.owner.blocks or call.is_over:
        return send(None), None
    return send_and_read(server, send, call, until)


def send_and_read(
    server: Server, send: Send, call: CallContext, until: float
) -> tuple[PendingRequest, Answered | None]:
    """Send a request, and read its answer in this thread, if it comes soon."""
    claims: Claims = []
    pending: PendingRequest | None = None
    answer: Answered | None = None
    waited = False
    try:
        try:
            pending = send(claims)
            connection = server.channel.connection
            if claims and connection is not None:
                waited = True
                left = call.patience
                if until != math.inf:
                    left = max(0.0, min(until - time.monotonic(), left))
                answer = connection.read_answer(pending.id, left)
        finally:
            if claims:
                claims[0].give_back(claims)
        if waited and answer is None:
            call.note_slow()
        return pending, answer
    except BaseException:
        if pending is not None:
            server.channel.finish(pending)
        raise
    finally:
        if claims:  # it was interrupted while it gave the output back
            claims[0].give_back(claims)


def wait_for_answer(
    context: Context,
    server: Server,
    pending: PendingRequest,
    until: float,
    began: float | None = None,
) -> Steps[Answered | RequestFailedError]:
    """Wait for one answer; returns also an error response, raises every other failure.

    `began` is when the request was sent, if not now.
    """
    began = time.monotonic() if began is None else began
    try:
        if pending.view is not None and server.choice.definition.exceptions.blocks_on_new_files:
            yield from _wait_unless_blocked(context, server, pending, until, began)
        else:
            if uncancelled((yield (pending.waiter, until))) is Outcome.TIMED_OUT:
                raise _timed_out(context, server, pending.method, began, until)
    except RequestTimeoutError:
        server.give_up_if_stuck(pending, began, request_timeout(context, server))
        raise
    finally:
        server.channel.finish(pending)
    return _answer_of(context, server, pending, began)


def note_answer(context: Context, server: Server, answer: Answered, began: float) -> Answered:
    """The answer, which is counted."""
    took = time.monotonic() - began
    server.metrics.answered(took)
    if not server.was_of_use:
        context.pool.succeeded(server)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s answered %s in %.1f ms", server.id, answer.method, took * 1000)
    return answer


def _answer_of(
    context: Context, server: Server, pending: PendingRequest, began: float
) -> Answered | RequestFailedError:
    """The answer that has come; an error response is returned, every other failure is raised."""
    value = pending.waiter.value
    if isinstance(value, Answered):
        return note_answer(context, server, value, began)
    if isinstance(value, ConnectionLost):
        raise value.error.copy()
    return RequestFailedError(
        f"{server.id} refused {pending.method}: {value.message} ({value.code})",
        server=server.id,
        server_code=value.code,
        server_message=value.message,
    )


def _wait_unless_blocked(
    context: Context, server: Server, pending: PendingRequest, until: float, began: float
) -> Steps[None]:
    """Wait for an answer; end a server that blocks itself, which completes the wait.

    Only for servers that are known to block themselves: others may have a reason to wait.
    """
    before: tuple[float, float] | None = None
    while not pending.waiter.done:
        connection, next_look = server.channel.connection, time.monotonic() + LOOK_EVERY
        if connection is None or next_look >= until:
            yield from wait_for(context, server, pending.waiter, until, pending.method, began)
            return
        uncancelled((yield (pending.waiter, next_look)))
        if pending.waiter.done:
            return
        now = (connection.last_received, usage(connection.child.pid)[1])
        if now == before and is_asleep(connection.child.pid):
            server.give_up_blocked()
        before = now


def wait_for(
    context: Context,
    server: Server,
    waiter: Waiter,
    until: float,
    method: str = "",
    began: float | None = None,
) -> Steps[None]:
    """Wait for an event of a server; raises a timeout with its reason.

    `began` is when the wait began, of which this one may be the last part.
    """
    began = time.monotonic() if began is None else began
    if uncancelled((yield (waiter, until))) is Outcome.TIMED_OUT:
        raise _timed_out(context, server, method, began, until)


def _timed_out(
    context: Context, server: Server, method: str, began: float, until: float
) -> RequestTimeoutError:
    """Count a timeout, and return its error."""
    context.pool.slot(server).metrics.timed_out()
    log.debug("%s did not answer %s in time", server.id, method)
    now = time.monotonic()
    return server.timed_out(method, now - began, setting_of(until, now))


def wait_until_ready(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait until the server is ready."""
    if not server.is_ready:
        yield from wait_for(context, server, server.ready(), call.deadline)
    if server.channel.failure is not None:
        raise server.channel.failure.copy()


def wait_for_room(context: Context, server: Server, method: str, until: float) -> Steps[None]:
    """Wait until the server's write queue has room: it may have stopped reading."""
    connection = server.channel.connection
    if connection is not None and not connection.has_room():
        with server.channel.lock:
            waiter = connection.room()
        yield from wait_for(context, server, waiter, until, method)


def request_timeout(context: Context, server: Server) -> float:
    """Seconds that one request may take."""
    own = server.choice.config.timing.request_timeout_ms
    return (context.pool.config.timing.request_timeout_ms if own is None else own) / 1000


def request_deadline(
    context: Context, server: Server, call: CallContext, began: float | None = None
) -> NamedDeadline:
    """The deadline of an answer; without one of the call, the configured timeout.

    `began` is when the request was sent, if not now.
    """
    if call.deadline != math.inf:
        return NamedDeadline(call.deadline)
    began = time.monotonic() if began is None else began
    return RequestDeadline(began + request_timeout(context, server))


def wait_for_turn(
    context: Context,
    server: Server,
    turn: QueueEntry,
    call: CallContext,
    method: str,
    *,
    may_leave: bool,
) -> Steps[bool]:
    """Wait until the queue entry is complete; the caller sets `turn.over` afterwards.

    With `may_leave`, returns False for a server that has to be replaced, without waiting.
    """
    began = time.monotonic()
    while not turn.done:
        if may_leave and server.record.outdated:
            return False
        patience = time.monotonic() + LOST_TURN
        if patience >= call.deadline:
            yield from wait_for(context, server, turn, call.deadline, method, began)
        else:
            uncancelled((yield (turn, patience)))
        # A caller before this one may have been interrupted before it called `tidy`.
        if turn.queue is not None:
            turn.queue.tidy()
    return True
