"""One request to one server: sent, repeated if the server dropped it, and waited for.

`begin_…` sends a request, and `await_reply` waits for its answer: where several are needed, all are
begun before the first is waited for. The time of a request starts when its server is ready; the
caller's deadline covers everything.
"""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from lspkit.errors import LspkitError, RequestFailedError, RequestTimeoutError, UnsupportedError
from lspkit.operations.host import Question
from lspkit.operations.host_results import Reply
from lspkit.operations.reply_parsing import OWN_FAULTS, failure_caveats, with_caveats
from lspkit.protocol.events import Answered
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, REQUEST_CANCELLED, SERVER_CANCELLED
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import attempt
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.process.usage import is_asleep, usage
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting, QueueEntry
from lspkit.runtime.server.pending_request import (
    Build,
    ConnectionLost,
    NamedDeadline,
    PendingRequest,
    RequestDeadline,
    setting_of,
)
from lspkit.runtime.server.server import Server
from lspkit.servers.selection.choose import might_answer

log = logging.getLogger("lspkit.runtime")
#: Seconds between two checks of a server that does not answer. It is blocked if it has sent nothing
#: and has used no processor from one check to the next.
LOOK_EVERY = 2.5
#: Seconds after which a caller in a document's queue looks whether the server has a successor.
LOOK_FOR_SUCCESSOR = 0.5
#: Seconds after which a request is sent again that was dropped because the document changed.
RETRY_AFTER = 0.02
#: The pause doubles every time, up to this many seconds.
LONGEST_PAUSE = 1.0
#: The error codes of dropped requests. pyrefly uses the last for requests that were not cancelled.
GIVEN_UP = (CONTENT_MODIFIED, SERVER_CANCELLED, REQUEST_CANCELLED)
T = TypeVar("T")
log = logging.getLogger("lspkit.runtime")
#: For requests without a document.
NO_TEXT = Text("")


class SentRequest(NamedTuple):
    """A request without an answer, and how it is sent again if the server drops it."""

    server: Server
    pending: PendingRequest
    #: When the wait ends, and when the request was sent.
    until: float
    began: float
    send: Callable[[], PendingRequest]
    #: Whether a call with a text of its own is let pass before the request is sent again.
    gives_way: bool


def begin_request(
    context: Context, server: Server, method: str, params: Any, until: float | None = None
) -> SentRequest:
    """Send a request about no document; `until` is by default the deadline of a request."""
    until = until or request_deadline(context, server)
    wait_for_room(context, server, method, until)
    return _send(server, until, lambda: server.channel.ask(method, params))


def begin_document_request(
    context: Context,
    server: Server,
    file: File,
    text: str | None,
    method: str,
    build: Build,
    *,
    gives_way: bool = False,
) -> SentRequest:
    """Send a request about a document, brought up to date first.

    With `gives_way`, for a caller without a place in the queue, `await_reply` raises
    `ExclusiveCallWaiting` instead of sending the request again if a call with a text of its own
    waits for the server.
    """
    until = request_deadline(context, server)
    wait_for_room(context, server, method, until)
    send = functools.partial(server.channel.ask_about, file, text, method, build)
    return _send(server, until, send, gives_way=gives_way)


def _send(
    server: Server, until: float, send: Callable[[], PendingRequest], *, gives_way: bool = False
) -> SentRequest:
    return SentRequest(server, send(), until, time.monotonic(), send, gives_way)


def await_reply(context: Context, sent: SentRequest) -> Reply:
    """Wait for the answer to a request; it is sent again if the server has dropped it."""
    server, pause = sent.server, RETRY_AFTER
    while True:
        answer = wait_for_answer(context, server, sent.pending, sent.until, sent.began)
        if isinstance(answer, Answered):
            pending = sent.pending
            view = nowhere(server) if pending.view is None else pending.view
            return Reply(server.id, answer.result, view, pending.method, pending.seq)
        until = min(sent.until, context.call.deadline)
        if answer.server_code not in GIVEN_UP or time.monotonic() + pause >= until:
            raise answer
        if sent.gives_way and server.channel.queue.has_exclusive_calls:
            raise ExclusiveCallWaiting
        context.call.pause(time.monotonic() + pause)
        pause = min(2 * pause, LONGEST_PAUSE)
        wait_for_room(context, server, sent.pending.method, sent.until)
        sent = sent._replace(pending=sent.send(), began=time.monotonic())


def request_server(
    context: Context, server: Server, method: str, params: Any, until: float | None = None
) -> Reply:
    """Send a request about no document, and wait for its answer."""
    return await_reply(context, begin_request(context, server, method, params, until))


def request_document(
    context: Context,
    server: Server,
    file: File,
    text: str | None,
    method: str,
    build: Build,
) -> Reply:
    """Send a request about a document, brought up to date first, and wait for its answer."""
    sent = begin_document_request(context, server, file, text, method, build)
    return await_reply(context, sent)


def await_replies(
    context: Context, sent: Iterable[SentRequest | Exception]
) -> list[Reply | Exception]:
    """The answers to several requests; what fails is its own result, as what could not be sent."""
    return [
        request
        if isinstance(request, Exception)
        else attempt(functools.partial(await_reply, context, request))
        for request in sent
    ]


def wait_for_answer(
    context: Context,
    server: Server,
    pending: PendingRequest,
    until: float | None = None,
    began: float | None = None,
) -> Answered | RequestFailedError:
    """Wait for one answer; returns also an error response, raises every other failure.

    `until` is by default the deadline of a request. `began` is when it was sent, if not now.
    """
    until = until or request_deadline(context, server)
    began = time.monotonic() if began is None else began
    if context.call.deadline < until:  # that of a part, which ends before the whole call
        until = NamedDeadline(context.call.deadline)
    try:
        context.call.raise_if_cancelled()  # also if the answer is there already
        if pending.view is not None and server.adapter.blocks_on_new_files:
            _wait_unless_blocked(context, server, pending, until, began)
        else:
            if not context.call.wait(pending.waiter, until):
                raise _timeout(context, server, pending.method, began, until)
    except RequestTimeoutError:
        server.give_up_if_stuck(pending, began, context.pool.request_timeout(server))
        raise
    finally:
        server.channel.finish(pending)
    return _answer_of(context, server, pending, began)


def _answer_of(
    context: Context, server: Server, pending: PendingRequest, began: float
) -> Answered | RequestFailedError:
    """The answer that has come; an error response is returned, every other failure is raised."""
    value = pending.waiter.value
    if isinstance(value, Answered):
        took = time.monotonic() - began
        with server.channel.lock:
            server.metrics.answered(took)
        if not server.was_of_use:
            context.pool.succeeded(server)
        log.debug("%s answered %s in %.1f ms", server.id, value.method, took * 1000)
        return value
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
) -> None:
    """Wait for an answer; end a server that blocks itself, which completes the wait.

    Only for servers that are known to block themselves: others may have a reason to wait.
    """
    before: tuple[float, float] | None = None
    while not pending.waiter.done:
        connection, next_look = server.channel.connection, time.monotonic() + LOOK_EVERY
        if connection is None or next_look >= until:
            wait_for(context, server, pending.waiter, until, pending.method, began)
            return
        context.call.wait(pending.waiter, next_look)
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
) -> None:
    """Wait for an event of a server; raises a timeout with its reason.

    `began` is when the wait began, of which this one may be the last part.
    """
    began = time.monotonic() if began is None else began
    if not context.call.wait(waiter, until):
        raise _timeout(context, server, method, began, until)


def _timeout(
    context: Context, server: Server, method: str, began: float, until: float
) -> RequestTimeoutError:
    """Count a timeout, and return its error."""
    now = time.monotonic()
    # First: it says what is in flight, and the lock may let an answer in.
    error = server.timed_out(method, now - began, setting_of(until, now))
    with server.channel.lock:
        server.metrics.timed_out()
    log.debug("%s did not answer %s in time", server.id, method)
    return error


def wait_until_up(context: Context, server: Server) -> None:
    """Wait until the server is up."""
    if not server.is_up:
        wait_for(context, server, server.when_up(), context.call.deadline)
    server.raise_if_ended()


def wait_for_room(context: Context, server: Server, method: str, until: float) -> None:
    """Wait until the server's write queue has room: it may have stopped reading."""
    connection = server.channel.connection
    if connection is not None and not connection.has_room():
        with server.channel.lock:
            waiter = connection.room()
        wait_for(context, server, waiter, until, method)


def request_deadline(context: Context, server: Server, began: float | None = None) -> NamedDeadline:
    """The deadline of an answer; without one of the call, the configured timeout.

    `began` is when the request was sent, if not now.
    """
    if context.call.deadline != math.inf:
        return NamedDeadline(context.call.deadline)
    began = time.monotonic() if began is None else began
    return RequestDeadline(began + context.pool.request_timeout(server))


def wait_for_turn(
    context: Context, server: Server, turn: QueueEntry, method: str, *, may_leave: bool
) -> bool:
    """Wait until the queue entry is complete; the end of its `with` block ends it.

    With `may_leave`, returns False for a server that has to be replaced, without waiting.
    """
    began = time.monotonic()
    while not turn.done:
        if may_leave and server.may_ask_again:
            return False
        next_look = time.monotonic() + LOOK_FOR_SUCCESSOR if may_leave else math.inf
        if next_look >= context.call.deadline:
            wait_for(context, server, turn, context.call.deadline, method, began)
        else:
            context.call.wait(turn, next_look)
    return True


# Combining the answers and failures of several servers


def sorted_out(results: Sequence[T | Exception]) -> tuple[list[T], list[LspkitError]]:
    """The results, and the failures of servers.

    A failure that is not the server's (a cancel, a bad path or position) is raised.
    """
    good: list[T] = []
    failed: list[LspkitError] = []
    for result in results:
        if isinstance(result, OWN_FAULTS):
            failed.append(result)
        elif isinstance(result, Exception):
            raise result
        else:
            good.append(result)
    return good, failed


def of_the_able(failures: list[LspkitError], method: str) -> list[LspkitError]:
    """The failures, with `UnsupportedError` for servers that never answer this method.

    A linter that is held back has not failed to find a definition.
    """
    return [
        failure
        if might_answer(server := str(failure.fields.get("server", "")), method)
        else unsupported(method, server)
        for failure in failures
    ]


def worst_of(failures: list[LspkitError], method: str) -> LspkitError:
    """The failure that says most, of at least one: `UnsupportedError` says least."""
    able = [failure for failure in failures if not isinstance(failure, UnsupportedError)]
    if able:
        return able[0]
    ids = tuple(server for failure in failures for server in getattr(failure, "servers", ()))
    return UnsupportedError(
        f"{method} is not supported by {', '.join(ids)}", operation=method, servers=ids
    )


def no_longer_there(question: Question) -> UnsupportedError:
    """The request was for one server, which gave something before and has left."""
    message = f"{question.server} is no longer a server of {question.path}: request the item again"
    return UnsupportedError(message, operation=question.method, servers=(question.server,))


def report_undecodable(
    context: Context, problems: Sequence[LspkitError], failed: Sequence[str]
) -> None:
    """Count answers that cannot be decoded, and record them for the caller."""
    context.call.log_undecodable(failed, problems)
    for problem in problems:
        log.debug("%s", problem.message)
        for server in context.pool.servers():
            if server.id == getattr(problem, "server", ""):
                with server.channel.lock:
                    server.channel.session.counts["answers of no use"] += 1
                break


def unsupported(method: str, server: str) -> UnsupportedError:
    """The error for a server that does not support a method."""
    message = f"{method} is not supported by {server}"
    return UnsupportedError(message, operation=method, servers=(server,))


def nowhere(server: Server) -> View:
    """The view of a request without a document."""
    return View("", NO_TEXT, 0, server.channel.session.encoding)


def view_of(pending: PendingRequest) -> View:
    """The view of the document that a request was about."""
    if pending.view is None:
        raise TypeError(f"{pending.method} is not about a document")
    return pending.view


def collect_replies(
    results: Sequence[Reply | Exception], failures: list[LspkitError], method: str, call: Call
) -> list[Reply]:
    """The answers of the servers; raises if there is none.

    Failures are recorded for the caller, and are caveats of the first answer.
    """
    replies, failed = sorted_out(results)
    problems = of_the_able([*failed, *failures], method)
    call.log_answers((reply.server for reply in replies), problems)
    if not replies:
        raise worst_of(problems, method)
    return [with_caveats(replies[0], failure_caveats(problems)), *replies[1:]]
