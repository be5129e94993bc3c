"""Commands that run inside a server, and the edits that it asks for meanwhile.

Only during a command are edits of a server applied: its caller has asked for them. Each goes
through the edit jail, and the server is told the result before it continues.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.limits import LARGEST_EDITS, MOST_EDITS
from lspkit.operations.host_results import Reply
from lspkit.protocol.capabilities import APPLY_EDIT, EXECUTE_COMMAND
from lspkit.protocol.events import EditAsked
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.exchange.ask_server import (
    request_deadline,
    view_of,
    wait_for_answer,
    wait_for_turn,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

TOO_MANY = f"a command may ask for {MOST_EDITS} edits at most; those beyond were not made"


class Command(NamedTuple):
    """A command of a server."""

    server: str
    #: A file of the server.
    via: str
    name: str
    arguments: list[Any]
    #: Applies one edit, which is passed as a reply of the server.
    make: Callable[[Reply], None]


class _Run:
    """A running command."""

    def __init__(self, context: Context, server: Server, file: File, command: Command) -> None:
        self._context, self._server, self._file = context, server, file
        self._command = command
        #: The edits that the server has asked for and that are not applied yet.
        self._waiting: collections.deque[EditAsked] = collections.deque()
        #: Woken by each edit, once it is known: the answer to the command.
        self._answer: Waiter | None = None
        #: Edits that were refused because there were too many.
        self._refused = 0
        #: Number and bytes of edits so far. Written by the reader of the server only.
        self._edits = self._size = 0
        #: Why an edit has failed. That says more than the failure of the command.
        self._problem: LspkitError | None = None

    def run(self) -> None:
        """Ask for the command, and make the edits that the server asks for before it answers."""
        server = self._server
        try:
            server.take_edits(self._put)
            self._await_answer()
        except LspkitError as problem:
            self._problem = self._problem or problem
        finally:
            server.take_edits(None)
            for event in self._waiting:
                server.edit_done(event, "the command is over")
        if self._refused:
            server.record.beyond("edits", self._refused)
            self._problem = self._problem or RequestFailedError(TOO_MANY, server=server.id)
        if self._problem is not None:
            raise self._problem

    def _put(self, event: EditAsked) -> None:
        """The server asks for an edit. Called by its reader."""
        self._edits += 1
        self._size += len(event.edit)
        if self._edits > MOST_EDITS or self._size > LARGEST_EDITS:
            self._refused += 1
            self._server.edit_done(event, TOO_MANY)
            return
        self._waiting.append(event)
        if self._answer is not None:
            self._answer.wake()

    def _await_answer(self) -> None:
        context, server = self._context, self._server
        until = request_deadline(context, server)
        params = {"command": self._command.name, "arguments": self._command.arguments}
        pending = server.channel.ask(EXECUTE_COMMAND, params)
        self._answer = pending.waiter
        try:
            context.call.wait(pending.waiter, until, self._make_edits)
        except BaseException:
            server.channel.finish(pending)
            raise
        answer = wait_for_answer(context, server, pending, until)
        self._make_edits()
        if isinstance(answer, RequestFailedError):
            raise answer

    def _make_edits(self) -> None:
        """Apply the edits so far, and tell the server."""
        server = self._server
        while self._waiting and not self._context.call.is_over:
            event, refusal = self._waiting[0], ""
            try:
                view = view_of(server.channel.sync(self._file, None))
                self._command.make(Reply(server.id, event.edit, view, APPLY_EDIT))
            except LspkitError as problem:
                self._problem = self._problem or problem
                refusal = str(problem)
            server.edit_done(event, refusal)
            self._waiting.popleft()


def run_command(context: Context, command: Command) -> None:
    """Run a command. One at a time per server: edits do not name their command."""
    file = context.files.locate(command.via)
    servers, failures = context.pool.servers_for(file.path, context.call, file)
    server = next((server for server in servers if server.id == command.server), None)
    if server is None:
        raise failures[0] if failures else _no_longer_there(command)
    # The second entry: the command changes what is on disk, not another caller's own text.
    with QueueEntry() as turn, QueueEntry() as alone:
        server.channel.commands.join(EXECUTE_COMMAND, turn)
        prepare_server(context, server, file, None)
        wait_for_turn(context, server, turn, EXECUTE_COMMAND, may_leave=False)
        _refuse_unknown(server, command.name)
        server.channel.queue.join("", alone)
        wait_for_turn(context, server, alone, EXECUTE_COMMAND, may_leave=False)
        _Run(context, server, file, command).run()


def _refuse_unknown(server: Server, command: str) -> None:
    """Raise if the command is one for an editor, not for the server."""
    if command not in server.channel.session.capabilities.commands():
        raise RequestFailedError(
            f"{command} is a command for an editor: {server.id} itself does not know it",
            server=server.id,
        )


def _no_longer_there(command: Command) -> RequestFailedError:
    message = f"{command.server} is no longer a server of {command.via}; ask for the actions again"
    return RequestFailedError(message, server=command.server)
