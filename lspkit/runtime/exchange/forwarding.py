"""Requests of one server that another server of the same root answers (`Adapter.forwarded`).

They come as notifications, and the server may do nothing else until it has the answer. So there
always is one: null if the other server is missing, refuses, ends, or takes too long.

The reader of the asking server only begins a call, which runs in a thread of its own.
"""

from __future__ import annotations

import functools
import logging
import os

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import MOST_CALLS, ThreadCache
from lspkit.runtime.exchange.ask_server import (
    wait_for_answer,
    wait_for_room,
    wait_until_up,
)
from lspkit.runtime.exchange.calls import Calls
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import SHARE, companion_of
from lspkit.runtime.server.server import Server
from lspkit.servers.adapters.adapter import ForwardedRequest

log = logging.getLogger("lspkit.runtime")


class Forwarding:
    """Forwards requests from server to server."""

    def __init__(self, calls: Calls, threads: ThreadCache) -> None:
        self._calls = calls
        self._threads = threads

    def forward(self, server: Server, request: ForwardedRequest) -> None:
        """The server has sent a request. Called by its reader; does not wait."""
        if not self._threads.do(functools.partial(self._carry, server, request), MOST_CALLS):
            _answer(server, request, None)

    def _carry(self, server: Server, request: ForwardedRequest) -> None:
        result = None
        try:
            # So a caller whose request led to this one still gets an answer in time.
            call = Call(SHARE * self._calls.pool.request_timeout(server))
            result = self._calls.run(call, lambda context: _ask(context, server, request))
        except LspkitError as problem:
            log.debug("%s gets no answer to %s: %s", server.id, request.params, problem)
        except Exception:
            log.exception("a request of %s could not be forwarded", server.id)
        _answer(server, request, result)


def _ask(context: Context, server: Server, request: ForwardedRequest) -> bytes | None:
    """The answer of the other server; None if there is none."""
    if server.choice.definition.language_of(os.path.basename(request.path)) is None:
        return None  # no file of their language
    file = context.files.locate(request.path, may_be_missing=True)
    other = companion_of(context, server, file.path)
    if other is None:
        return None
    wait_until_up(context, other)
    # It answers only about open files. A file that is not on disk may be shown to it by a caller.
    if file.stamp is not None:
        other.channel.follow_disk(file, opens=True)
    wait_for_room(context, other, request.method, context.call.deadline)
    pending = other.channel.ask(request.method, request.params)
    answer = wait_for_answer(context, other, pending, context.call.deadline)
    if isinstance(answer, RequestFailedError):
        raise answer
    return answer.result


def _answer(server: Server, request: ForwardedRequest, result: bytes | None) -> None:
    if server.channel.connection is not None and not server.channel.connection.has_room():
        return  # it has stopped reading
    try:
        server.channel.say(*server.adapter.forwarded_answer(request, result))
    except LspkitError as problem:
        log.debug("%s is gone and wants no answer any more: %s", server.id, problem)
