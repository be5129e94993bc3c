"""Commands that run inside of a server, and the edits that it asks for while one runs.

Only then are edits of a server made: whoever lets a command run has asked for them. Each goes
through the edit jail, and the server hears what became of it before it goes on.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Generator
from typing import Any

from lspkit.errors import LspkitError, RequestFailedError
from lspkit.limits import LARGEST_EDITS, MOST_EDITS
from lspkit.operations.effects import Effect, Reply, RunCommand
from lspkit.protocol.events import EditAsked
from lspkit.runtime.concurrency.waiting import CallContext, Outcome, Steps, together
from lspkit.runtime.exchange.ask_server import Asking
from lspkit.runtime.exchange.replies import view_of
from lspkit.runtime.exchange.turn_taking import in_turn
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import Broadcast, QueueEntry
from lspkit.runtime.server.server import Server

COMMAND = "workspace/executeCommand"
EDIT = "workspace/applyEdit"
TOO_MANY = f"a command may ask for {MOST_EDITS} edits at most; those beyond were not made"


class EditInbox:
    """The edits that a server has asked for, and nobody has made yet. For any thread."""

    def __init__(self, server: Server) -> None:
        self.asked: collections.deque[EditAsked] = collections.deque()
        self.news = Broadcast()
        self.closed = False
        self._server = server
        #: Edits that were refused, since there were too many.
        self.refused = 0
        #: Edits so far, and bytes of them. Written by the reader of the server only.
        self._edits = self._size = 0

    def put(self, event: EditAsked) -> None:
        """One more."""
        self._edits += 1
        self._size += len(event.edit)
        if self._edits > MOST_EDITS or self._size > LARGEST_EDITS:
            self.refused += 1
            self._server.edit_done(event, TOO_MANY)
            return
        self.asked.append(event)
        self.news.tell()

    def close(self) -> None:
        """There will be no more."""
        self.closed = True
        self.news.tell(over=True)


class Commanding:
    """How the engine lets servers run commands. Holds no state of its own."""

    def __init__(
        self,
        asking: Asking,
        drive: Callable[[Generator[Effect, Any, None], CallContext], Steps[None]],
    ) -> None:
        self._asking = asking
        self._drive = drive

    def run(self, effect: RunCommand, call: CallContext) -> Steps[None]:
        """Perform `RunCommand`. One at a time for a server: its edits do not say whose they are."""
        file = self._asking.files.locate(effect.via)
        servers, failures = self._asking.pool.servers_for(file.path, call, file)
        server = next((one for one in servers if one.id == effect.server), None)
        if server is None:
            raise failures[0] if failures else _no_longer_there(effect)
        # The second: what it changes is what is on disk, and not another caller's own text.
        turn, alone = QueueEntry(), QueueEntry()
        try:
            server.commands.queue(COMMAND, turn)
            yield from self._asking.loaded(server, file, None, call)
            yield from in_turn(self._asking, server, turn, call, COMMAND, may_leave=False)
            _refuse_unknown(server, effect.command)
            server.turns.queue("", alone)
            yield from in_turn(self._asking, server, alone, call, COMMAND, may_leave=False)
            yield from self._run(server, file, effect, call)
        finally:
            turn.over = alone.over = True
            server.commands.tidy()
            server.turns.tidy()

    def _run(
        self, server: Server, file: File, effect: RunCommand, call: CallContext
    ) -> Steps[None]:
        inbox = EditInbox(server)
        jobs = [
            self._make_edits(server, file, effect, inbox, call),
            self._command(server, effect, inbox, call),
        ]
        try:
            server.take_edits(inbox.put)
            results = yield from together(jobs, call)
        finally:
            server.take_edits(None)
            for event in inbox.asked:
                server.edit_done(event, "the command is over")
        for result in results:  # an edit that could not be made says more than the command
            if result is not None:
                raise result

    def _command(
        self, server: Server, effect: RunCommand, inbox: EditInbox, call: CallContext
    ) -> Steps[None]:
        until = self._asking.until(server, call)
        try:
            params = {"command": effect.command, "arguments": effect.arguments}
            ticket = server.ask(COMMAND, params)
            refused = yield from self._asking.answer(server, ticket, until)
            if isinstance(refused, RequestFailedError):
                raise refused
        finally:
            inbox.close()

    def _make_edits(
        self, server: Server, file: File, effect: RunCommand, inbox: EditInbox, call: CallContext
    ) -> Steps[None]:
        problem: LspkitError | None = None
        while True:
            news = inbox.news.next()
            if call.is_over:
                break  # whoever waits for the command says why
            if inbox.asked:
                failure = yield from self._make(server, file, effect, inbox.asked[0], call)
                problem = problem or failure
                inbox.asked.popleft()
            elif inbox.closed or (yield (news, call.deadline)) is not Outcome.DONE:
                break
        if inbox.refused:
            server.beyond("edits", inbox.refused)
            problem = problem or RequestFailedError(TOO_MANY, server=server.id)
        if problem is not None:
            raise problem

    def _make(
        self, server: Server, file: File, effect: RunCommand, event: EditAsked, call: CallContext
    ) -> Steps[LspkitError | None]:
        """Make one edit, and tell the server; what was wrong with it."""
        problem: LspkitError | None = None
        try:
            view = view_of(server.sync(file, None))
            yield from self._drive(effect.make(Reply(server.id, event.edit, view, EDIT)), call)
        except LspkitError as refused:
            problem = refused
        server.edit_done(event, "" if problem is None else str(problem))
        return problem


def _refuse_unknown(server: Server, command: str) -> None:
    """Some actions are for the editor that they were written for, not for the server."""
    if command not in server.session.capabilities.commands():
        raise RequestFailedError(
            f"{command} is a command for an editor: {server.id} itself does not know it",
            server=server.id,
        )


def _no_longer_there(effect: RunCommand) -> RequestFailedError:
    message = f"{effect.server} is no longer a server of {effect.via}; ask for the actions again"
    return RequestFailedError(message, server=effect.server)
