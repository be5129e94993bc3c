"""Commands that run inside a server, and the edits that it asks for meanwhile.

Only during a command are edits of a server applied: its caller has asked for them. Each goes
through the edit jail, and the server is told the result before it continues.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import NamedTuple

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.limits import LARGEST_EDITS, MOST_EDITS
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import Effects, RunCommand
from lspkit.protocol.events import EditAsked
from lspkit.protocol.methods import APPLY_EDIT, EXECUTE_COMMAND
from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Outcome, Steps
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


#: Drives an operation of the engine, here the one that applies an edit.
Drive = Callable[[Effects[None], CallContext], Steps[None]]


class _Run(NamedTuple):
    """A running command."""

    server: Server
    file: File
    effect: RunCommand
    inbox: EditInbox
    call: CallContext
    drive: Drive


def run_command(
    context: Context, effect: RunCommand, call: CallContext, drive: Drive
) -> Steps[None]:
    """Perform `RunCommand`. One at a time per server: edits do not name their command."""
    file = context.files.locate(effect.via)
    servers, failures = context.pool.servers_for(file.path, call, file)
    server = next((one for one in servers if one.id == effect.server), None)
    if server is None:
        raise failures[0] if failures else _no_longer_there(effect)
    # The second entry: the command changes what is on disk, not another caller's own text.
    with QueueEntry() as turn, QueueEntry() as alone:
        server.channel.commands.join(EXECUTE_COMMAND, turn)
        yield from prepare_server(context, server, file, None, call)
        yield from wait_for_turn(context, server, turn, call, EXECUTE_COMMAND, may_leave=False)
        _refuse_unknown(server, effect.command)
        server.channel.queue.join("", alone)
        yield from wait_for_turn(context, server, alone, call, EXECUTE_COMMAND, may_leave=False)
        yield from _run(context, _Run(server, file, effect, EditInbox(server), call, drive))


def _run(context: Context, run: _Run) -> Steps[None]:
    try:
        run.server.take_edits(run.inbox.put)
        results = yield from together([_make_edits(run), _send(context, run)], run.call)
    finally:
        run.server.take_edits(None)
        for event in run.inbox.asked:
            run.server.edit_done(event, "the command is over")
    for result in results:  # the failure of an edit says more than that of the command
        if result is not None:
            raise result


def _send(context: Context, run: _Run) -> Steps[None]:
    until = request_deadline(context, run.server, run.call)
    try:
        params = {"command": run.effect.command, "arguments": run.effect.arguments}
        pending = run.server.channel.ask(EXECUTE_COMMAND, params)
        refused = yield from wait_for_answer(context, run.server, pending, until)
        if isinstance(refused, RequestFailedError):
            raise refused
    finally:
        run.inbox.close()


def _make_edits(run: _Run) -> Steps[None]:
    inbox, problem = run.inbox, None
    while True:
        activity = inbox.activity.next()
        if run.call.is_over:
            break  # `_send` raises why
        if inbox.asked:
            failure = yield from _make_edit(run, inbox.asked[0])
            problem = problem or failure
            inbox.asked.popleft()
        elif inbox.closed or (yield (activity, run.call.deadline)) is not Outcome.DONE:
            break
    if inbox.refused:
        run.server.record.beyond("edits", inbox.refused)
        problem = problem or RequestFailedError(TOO_MANY, server=run.server.id)
    if problem is not None:
        raise problem


def _make_edit(run: _Run, event: EditAsked) -> Steps[LspkitError | None]:
    """Apply one edit, and tell the server; returns the failure."""
    server, problem = run.server, None
    try:
        view = view_of(server.channel.sync(run.file, None))
        reply = Reply(server.id, event.edit, view, APPLY_EDIT)
        yield from run.drive(run.effect.make(reply), run.call)
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


def _no_longer_there(effect: RunCommand) -> RequestFailedError:
    message = f"{effect.server} is no longer a server of {effect.via}; ask for the actions again"
    return RequestFailedError(message, server=effect.server)
