"""Requests of one server that another server of the same root answers (`Definition.forwards`).

They come as notifications, and the server may do nothing else until it has the answer. So there
always is one: null if the other server is missing, refuses, ends, or takes too long.

The reader of the asking server only starts a call. That runs on the workers, like `submit`, and
blocks no thread.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.late_imports import safe_imports
from lspkit.protocol.methods import EXECUTE_COMMAND
from lspkit.protocol.wire.messages import decode_any
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.exchange import ask_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import SHARE, companion_of
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server
from lspkit.servers.definition_parts import Forwards

log = logging.getLogger("lspkit.runtime")

#: How many requests of all servers are forwarded at the same time, at most.
MOST = 1000


class Forwarding:
    """Forwards requests from server to server."""

    def __init__(self, context: Context, workers: Workers, timers: Timers) -> None:
        self._context = context
        self._workers = workers
        self._timers = timers
        #: Guards the number of unanswered requests.
        self._lock = threading.Lock()
        self._under_way = 0

    def want(self, server: Server, forwards: Forwards, params: bytes | None) -> None:
        """The server has sent requests. Called by its reader; does not wait."""
        with safe_imports():
            # Here, to keep `import lspkit` quick.
            from lspkit.runtime.concurrency.future_task import Task

        for number, command, arguments in _questions(params):
            # So a caller whose request led to this one still gets an answer in time.
            call = CallContext(SHARE * ask_server.request_timeout(self._context, server))
            steps = self._carry(server, forwards, number, [command, arguments], call)
            if self._begun():
                task = Task(steps, call, self._workers, self._timers)
                task.start()
                if not task.future.done() or task.future.exception() is None:
                    continue
                self._ended()  # no thread can be started
            self._answer(server, forwards, [number, None])

    def _begun(self) -> bool:
        with self._lock:
            if self._under_way >= MOST:
                return False
            self._under_way += 1
            return True

    def _ended(self) -> None:
        with self._lock:
            self._under_way -= 1

    def _carry(
        self,
        server: Server,
        forwards: Forwards,
        number: Any,
        question: list[Any],
        call: CallContext,
    ) -> Steps[None]:
        body = None
        try:
            body = yield from self._answered(server, forwards, question, call)
        except LspkitError as problem:
            log.debug("%s gets no answer to %s: %s", server.id, question[0], problem)
        except Exception:
            log.exception("a question of %s could not be carried on", server.id)
        # Not when the generator is closed: the thread that does so may hold any lock.
        self._ended()
        self._answer(server, forwards, [number, body])

    def _answered(
        self, server: Server, forwards: Forwards, question: list[Any], call: CallContext
    ) -> Steps[Any]:
        """The answer of the other server; None if there is none."""
        path = _file_in(question[1])
        if server.choice.definition.language_of(os.path.basename(path)) is None:
            return None  # no file of their language
        file = self._context.files.locate(path, may_be_missing=True)
        other = companion_of(server, file.path, self._context.pool, call)
        if other is None:
            return None
        yield from ask_server.wait_until_ready(self._context, other, call)
        yield from ask_server.wait_for_room(self._context, other, EXECUTE_COMMAND, call.deadline)
        return (yield from self._asked(other, file, forwards.command, question, call))

    def _asked(
        self, other: Server, file: File, command: str, question: list[Any], call: CallContext
    ) -> Steps[Any]:
        # It answers only about open files. A file that is not on disk may be shown to it by a
        # caller.
        if file.stamp is not None:
            other.channel.follow_disk(file, opens=True)
        pending = other.channel.ask(EXECUTE_COMMAND, {"command": command, "arguments": question})
        answered = yield from ask_server.wait_for_answer(
            self._context, other, pending, call.deadline
        )
        if isinstance(answered, RequestFailedError):
            raise answered
        return _body_of(answered.result)

    def _answer(self, server: Server, forwards: Forwards, answer: list[Any]) -> None:
        if server.channel.connection is not None and not server.channel.connection.has_room():
            return  # it has stopped reading
        try:
            server.channel.say(forwards.answers, [answer])
        except LspkitError as problem:
            log.debug("%s is gone and wants no answer any more: %s", server.id, problem)


def _questions(params: bytes | None) -> list[list[Any]]:
    """Number, command and arguments of each request."""
    try:
        found = decode_any(params) if params is not None else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    return [[*one, None, None][:3] for one in found if isinstance(one, list) and one]


def _file_in(arguments: Any) -> str:
    """The file that TypeScript's server is asked about: by name, or first in a list."""
    if isinstance(arguments, dict):
        found = arguments.get("file")
    else:
        found = arguments[0] if isinstance(arguments, list) and arguments else None
    return found if isinstance(found, str) else ""


def _body_of(answer: bytes) -> Any:
    """The body of the answer of TypeScript's server."""
    try:
        response = decode_any(answer)
    except (ValueError, RecursionError):
        return None
    return response.get("body") if isinstance(response, dict) else None
