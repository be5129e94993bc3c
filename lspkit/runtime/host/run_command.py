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
from lspkit.runtime.exchange.ask_server import request_deadline, wait_for_answer, wait_for_turn
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.replies import view_of
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

TOO_MANY = f"a command may ask for {MOST_EDITS} edits at most; those beyond were not made"


class EditInbox:
    """The edits that a server has asked for and that are not applied yet. For any thread."""

    def __init__(self, server: Server) -> None:
        self.waiting: collections.deque[EditAsked] = collections.deque()
        #: Woken by each edit, once it is known: the answer to the command.
        self.answer: Waiter | None = None
        self._server = server
        #: Edits that were refused because there were too many.
        self.refused = 0
        #: Number and bytes of edits so far. Written by the reader of the server only.
        self._edits = self._size = 0

    def put(self, event: EditAsked) -> None:
        """Add an edit."""
        self._edits += 1
        self._size += len(event.edit)
        if self._edits > MOST_EDITS or self._size > LARGEST_EDITS:
            self.refused += 1
            self._server.edit_done(event, TOO_MANY)
            return
        self.waiting.append(event)
        if self.answer is not None:
            self.answer.wake()


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
        self._inbox = EditInbox(server)
        #: Why an edit has failed. That says more than the failure of the command.
        self._problem: LspkitError | None = None

    def run(self) -> None:
        """Ask for the command, and make the edits that the server asks for before it answers."""
        inbox, server = self._inbox, self._server
        try:
            server.take_edits(inbox.put)
            self._await_answer()
        except LspkitError as problem:
            self._problem = self._problem or problem
        finally:
            server.take_edits(None)
            for event in inbox.waiting:
                server.edit_done(event, "the command is over")
        if inbox.refused:
            server.record.beyond("edits", inbox.refused)
            self._problem = self._problem or RequestFailedError(TOO_MANY, server=server.id)
        if self._problem is not None:
            raise self._problem

    def _await_answer(self) -> None:
        context, server = self._context, self._server
        until = request_deadline(context, server)
        params = {"command": self._command.name, "arguments": self._command.arguments}
        pending = server.channel.ask(EXECUTE_COMMAND, params)
        self._inbox.answer = pending.waiter
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
        while self._inbox.waiting and not self._context.call.is_over:
            failure = self._make_edit(self._inbox.waiting[0])
            self._problem = self._problem or failure
            self._inbox.waiting.popleft()

    def _make_edit(self, event: EditAsked) -> LspkitError | None:
        """Apply one edit, and tell the server; returns the failure."""
        server, problem = self._server, None
        try:
            view = view_of(server.channel.sync(self._file, None))
            self._command.make(Reply(server.id, event.edit, view, APPLY_EDIT))
        except LspkitError as refused:
            problem = refused
        server.edit_done(event, "" if problem is None else str(problem))
        return problem


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
