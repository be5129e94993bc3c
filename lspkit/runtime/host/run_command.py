"""Commands that run inside a server, and the edits that it asks for meanwhile.

Only during a command are edits of a server applied: its caller has asked for them. Each goes
through the edit jail, and the server is told the result before it continues.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.limits import LARGEST_EDITS, MOST_EDITS
from lspkit.operations.host_results import Reply
from lspkit.protocol.events import EditAsked
from lspkit.protocol.methods import APPLY_EDIT, EXECUTE_COMMAND
from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.parallel import in_parallel
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
        self.asked: collections.deque[EditAsked] = collections.deque()
        self.activity = Broadcast()
        self.closed = False
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
        self.asked.append(event)
        self.activity.tell()

    def close(self) -> None:
        """No more edits will come."""
        self.closed = True
        self.activity.tell(over=True)


class Command(NamedTuple):
    """A command of a server."""

    server: str
    #: A file of the server.
    via: str
    name: str
    arguments: list[Any]
    #: Applies one edit, which is passed as a reply of the server.
    make: Callable[[Reply], None]


class _Run(NamedTuple):
    """A running command."""

    context: Context
    server: Server
    file: File
    command: Command
    inbox: EditInbox


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
        _run(_Run(context, server, file, command, EditInbox(server)))


def _run(run: _Run) -> None:
    try:
        run.server.take_edits(run.inbox.put)
        jobs = [partial(_send, run), partial(_make_edits, run)]
        results = in_parallel(run.context.threads, jobs)
    finally:
        run.server.take_edits(None)
        for event in run.inbox.asked:
            run.server.edit_done(event, "the command is over")
    for result in reversed(results):  # the failure of an edit says more than that of the command
        if result is not None:
            raise result


def _send(run: _Run) -> None:
    until = request_deadline(run.context, run.server)
    try:
        params = {"command": run.command.name, "arguments": run.command.arguments}
        pending = run.server.channel.ask(EXECUTE_COMMAND, params)
        answer = wait_for_answer(run.context, run.server, pending, until)
        if isinstance(answer, RequestFailedError):
            raise answer
    finally:
        run.inbox.close()


def _make_edits(run: _Run) -> None:
    inbox, problem = run.inbox, None
    while True:
        activity = inbox.activity.next()
        if inbox.asked and not run.context.call.is_over:
            failure = _make_edit(run, inbox.asked[0])
            problem = problem or failure
            inbox.asked.popleft()
        elif inbox.closed:
            break
        else:
            activity.wait(math.inf)  # `_send` ends it, at the latest when the call is over
    if inbox.refused:
        run.server.record.beyond("edits", inbox.refused)
        problem = problem or RequestFailedError(TOO_MANY, server=run.server.id)
    if problem is not None:
        raise problem


def _make_edit(run: _Run, event: EditAsked) -> LspkitError | None:
    """Apply one edit, and tell the server; returns the failure."""
    server, problem = run.server, None
    try:
        view = view_of(server.channel.sync(run.file, None))
        run.command.make(Reply(server.id, event.edit, view, APPLY_EDIT))
    except LspkitError as refused:
        problem = refused
    server.edit_done(event, "" if problem is None else str(problem))
    return problem


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
