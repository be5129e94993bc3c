"""Requests of one server that another server of the same root answers (`Definition.forwards`).

They come as notifications, and the server may do nothing else until it has the answer. So there
always is one: null if the other server is missing, refuses, ends, or takes too long.

The reader of the asking server only begins a call, which runs in a thread of its own.
"""

from __future__ import annotations

import functools
import logging
import os
from typing import Any

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.protocol.methods import EXECUTE_COMMAND
from lspkit.protocol.wire.messages import decode_any
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.thread_cache import MOST_CALLS, ThreadCache
from lspkit.runtime.exchange.ask_server import (
    wait_for_answer,
    wait_for_room,
    wait_until_ready,
)
from lspkit.runtime.exchange.calls import Calls
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import SHARE, companion_of
from lspkit.runtime.server.server import Server
from lspkit.servers.definition_parts import Forwards

log = logging.getLogger("lspkit.runtime")


class Forwarding:
    """Forwards requests from server to server."""

    def __init__(self, calls: Calls, threads: ThreadCache) -> None:
        self._calls = calls
        self._threads = threads

    def want(self, server: Server, forwards: Forwards, params: bytes | None) -> None:
        """The server has sent requests. Called by its reader; does not wait."""
        for number, command, arguments in _questions(params):
            question = [command, arguments]
            carry = functools.partial(self._carry, server, forwards, number, question)
            if not self._threads.do(carry, MOST_CALLS):
                _answer(server, forwards, [number, None])

    def _carry(self, server: Server, forwards: Forwards, number: Any, question: list[Any]) -> None:
        body = None
        try:
            # So a caller whose request led to this one still gets an answer in time.
            call = Call(SHARE * self._calls.pool.request_timeout(server))
            body = self._calls.run(call, lambda context: _ask(context, server, forwards, question))
        except LspkitError as problem:
            log.debug("%s gets no answer to %s: %s", server.id, question[0], problem)
        except Exception:
            log.exception("a question of %s could not be carried on", server.id)
        _answer(server, forwards, [number, body])


def _ask(context: Context, server: Server, forwards: Forwards, question: list[Any]) -> Any:
    """The answer of the other server; None if there is none."""
    path = _file_in(question[1])
    if server.choice.definition.language_of(os.path.basename(path)) is None:
        return None  # no file of their language
    file = context.files.locate(path, may_be_missing=True)
    other = companion_of(context, server, file.path)
    if other is None:
        return None
    wait_until_ready(context, other)
    # It answers only about open files. A file that is not on disk may be shown to it by a caller.
    if file.stamp is not None:
        other.channel.follow_disk(file, opens=True)
    params = {"command": forwards.command, "arguments": question}
    wait_for_room(context, other, EXECUTE_COMMAND, context.call.deadline)
    pending = other.channel.ask(EXECUTE_COMMAND, params)
    answer = wait_for_answer(context, other, pending, context.call.deadline)
    if isinstance(answer, RequestFailedError):
        raise answer
    return _body_of(answer.result)


def _answer(server: Server, forwards: Forwards, answer: list[Any]) -> None:
    if server.channel.connection is not None and not server.channel.connection.has_room():
        return  # it has stopped reading
    try:
        server.channel.say(forwards.answers, [answer])
    except LspkitError as problem:
        log.debug("%s is gone and wants no answer any more: %s", server.id, problem)


def _questions(params: bytes | None) -> list[list[Any]]:
    """Number, command and arguments of each request."""
    try:
        requests = decode_any(params) if params is not None else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(requests, list):
        return []
    return [
        [*request, None, None][:3] for request in requests if isinstance(request, list) and request
    ]


def _file_in(arguments: Any) -> str:
    """The file that TypeScript's server is asked about: by name, or first in a list."""
    if isinstance(arguments, dict):
        path = arguments.get("file")
    else:
        path = arguments[0] if isinstance(arguments, list) and arguments else None
    return path if isinstance(path, str) else ""


def _body_of(answer: bytes) -> Any:
    """The body of the answer of TypeScript's server."""
    try:
        response = decode_any(answer)
    except (ValueError, RecursionError):
        return None
    return response.get("body") if isinstance(response, dict) else None
