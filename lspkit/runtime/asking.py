"""Asking the servers of a file, as a generator of waits.

The servers of a file start at the same time and are asked at the same time; waiting for them one
after the other then takes as long as the slowest. A request's own time starts when its server is
ready; the caller's covers everything.
"""

from __future__ import annotations

import logging
import time

from lspkit.errors import (
    Cancelled,
    LspkitError,
    NoServer,
    RequestFailed,
    ServerBroken,
    Unsupported,
)
from lspkit.operations import Ask, AskWorkspace, Reply, SyncFile
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.documents import View
from lspkit.protocol.events import Answered
from lspkit.protocol.messages import CONTENT_MODIFIED, SERVER_CANCELLED
from lspkit.protocol.text import Text
from lspkit.runtime.files import File, Files
from lspkit.runtime.pool import Pool
from lspkit.runtime.server import Lost, Server, Ticket
from lspkit.runtime.waiting import Call, Outcome, Steps, Waiter
from lspkit.servers.walking import samples

log = logging.getLogger("lspkit.runtime")

#: A server that gave a request up because the text had moved on is asked again after so long.
RETRY_AFTER = 0.02


class Asking:
    """How the engine asks. Holds no state of its own."""

    def __init__(self, files: Files, pool: Pool) -> None:
        self.files = files
        self.pool = pool

    def ask(self, effect: Ask, call: Call) -> Steps[list[Reply]]:
        """Perform `Ask`."""
        file = self.files.locate(effect.path, may_be_missing=effect.text is not None)
        ready, failures = yield from self.ready(file, effect.text, call)
        if effect.server:
            ready = [one for one in ready if one.id == effect.server]
        able = [one for one in ready if _can(one, effect, file)]
        if not able:
            raise failures[0] if failures else unsupported(effect.method, ready)
        if effect.unheard_of:
            able = able[:1]
        flying: list[tuple[Server, Ticket, float]] = []
        replies: list[Reply] = []
        try:
            for server in able:
                until = time.monotonic() + self.request_timeout(server)
                try:
                    if server.connection is not None and not server.connection.has_room():
                        yield from self.room(server, effect.method, until)
                    flying.append((server, self._send(server, file, effect), until))
                except ServerBroken as problem:
                    failures.append(problem)
            for server, ticket, until in flying:
                try:
                    replies.append((yield from self._reply(server, ticket, effect, call, until)))
                except (Cancelled, TimeoutError):
                    raise
                except LspkitError as problem:
                    failures.append(problem)
        finally:
            for server, ticket, _ in flying:
                server.finish(ticket)
            if effect.text is not None:
                for server in able:
                    self.restore(server, effect.path)
        if not replies:
            raise failures[0]
        return replies

    def request_timeout(self, server: Server) -> float:
        """Seconds that one request may take."""
        own = server.choice.config.timing.request_timeout_ms
        return (self.pool.config.timing.request_timeout_ms if own is None else own) / 1000

    def refresh(self, server: Server) -> None:
        """Bring every open document up to date with the disk, but those that show other text."""
        with server.lock:
            opened = [one for one in server.documents if one.stamp is not None]
        for document in opened:
            uri = document.key.uri
            file = self.files.again(uri)
            if file is not None and file.stamp is None:
                server.forget(uri)
            elif file is not None and not self.files.same(document.stamp, file):
                try:
                    server.sync(file, None)
                except LspkitError:
                    continue  # no text any more; whoever asks about it is told

    def restore(self, server: Server, path: str) -> None:
        """Let the server see the disk again. What fails here is mended by the next question."""
        try:
            server.restore(self.files.locate(path, may_be_missing=True))
        except LspkitError:
            return

    def ready(
        self, file: File, text: str | None, call: Call
    ) -> Steps[tuple[list[Server], list[LspkitError]]]:
        """The servers of a file that can be asked, and why the others cannot."""
        servers = self.pool.servers_for(file.path)
        ready: list[Server] = []
        failures: list[LspkitError] = []
        for server in servers:
            if not server.is_ready:
                began = time.monotonic()
                outcome = yield (server.ready(), call.deadline)
                self._raise_unless_done(outcome, server, "", began)
            if server.failure is not None:
                failures.append(server.failure)
                continue
            if not server.loaded:
                yield from self._load(server, file, text, call)
            ready.append(server)
        return ready, failures

    def _load(self, server: Server, file: File, text: str | None, call: Call) -> Steps[None]:
        """Wait until the project that the first document belongs to is loaded."""
        server.sync(file, text)
        began = time.monotonic()
        begin_by = began + server.choice.definition.load_begins
        while server.failure is None and not server.loaded:
            busy = bool(server.session.progress.work)
            if not busy and (server.progress_ended or time.monotonic() >= begin_by):
                server.loaded = True
                return
            outcome = yield (server.news.next(), call.deadline if busy else begin_by)
            if outcome is Outcome.CANCELLED or time.monotonic() >= call.deadline:
                self._raise_unless_done(outcome, server, "", began)

    def room(self, server: Server, method: str, until: float) -> Steps[None]:
        """Wait until the server's queue takes more: it may have stopped reading."""
        connection = server.connection
        if connection is None or connection.has_room():
            return
        began = time.monotonic()
        with server.lock:
            waiter = connection.room()
        outcome = yield (waiter, until)
        self._raise_unless_done(outcome, server, method, began)

    def answer(
        self, server: Server, ticket: Ticket, until: float
    ) -> Steps[Answered | RequestFailed]:
        """Wait for one answer; a refusal is returned, everything worse is raised."""
        began = time.monotonic()
        outcome = yield (ticket.waiter, until)
        server.finish(ticket)
        self._raise_unless_done(outcome, server, ticket.method, began)
        value = ticket.waiter.value
        if isinstance(value, Answered):
            took = time.monotonic() - began
            self.pool.succeeded(server, took)
            log.debug("%s answered %s in %.1f ms", server.id, ticket.method, took * 1000)
            return value
        if isinstance(value, Lost):
            raise value.error
        return RequestFailed(
            f"{server.id} refused {ticket.method}: {value.message} ({value.code})",
            server=server.id,
            server_code=value.code,
            server_message=value.message,
        )

    def _reply(
        self, server: Server, ticket: Ticket, effect: Ask, call: Call, until: float
    ) -> Steps[Reply]:
        pause = RETRY_AFTER
        while True:
            value = yield from self.answer(server, ticket, until)
            if isinstance(value, Answered):
                return Reply(server.id, value.result, view_of(ticket))
            if value.server_code not in (CONTENT_MODIFIED, SERVER_CANCELLED):
                raise value
            if time.monotonic() + pause >= min(until, call.deadline):
                raise value
            yield (Waiter(), time.monotonic() + pause)
            if call.cancelled():
                raise Cancelled("the call was cancelled")
            pause *= 2
            file = self.files.locate(effect.path, may_be_missing=effect.text is not None)
            ticket = self._send(server, file, effect)

    def ask_workspace(self, effect: AskWorkspace, call: Call) -> Steps[list[Reply]]:
        """Perform `AskWorkspace`."""
        failures: list[LspkitError] = []
        if effect.path is not None:
            file = self.files.locate(effect.path)
            servers, failures = yield from self.ready(file, None, call)
        else:
            servers = [one for one in self.pool.servers() if one.failure is None]
            if not servers:
                servers = self._called_for()
            for server in servers:
                outcome = yield (server.ready(), call.deadline)
                self._raise_unless_done(outcome, server, "", time.monotonic())
            failures = [one.failure for one in servers if one.failure is not None]
            servers = [one for one in servers if one.failure is None]
        able = [one for one in servers if one.session.supports(effect.method)]
        if not able:
            raise failures[0] if failures else unsupported(effect.method, servers)
        replies: list[Reply] = []
        flying = [(one, one.ask(effect.method, effect.params)) for one in able]
        try:
            for server, ticket in flying:
                until = time.monotonic() + self.request_timeout(server)
                try:
                    value = yield from self.answer(server, ticket, until)
                except (Cancelled, TimeoutError):
                    raise
                except LspkitError as problem:
                    failures.append(problem)
                    continue
                if isinstance(value, RequestFailed):
                    failures.append(value)
                else:
                    replies.append(Reply(server.id, value.result, _nowhere(server)))
        finally:
            for server, ticket in flying:
                server.finish(ticket)
        if not replies:
            raise failures[0]
        return replies

    def sync(self, effect: SyncFile, call: Call) -> Steps[None]:
        """Perform `SyncFile`, for servers that may still have to start."""
        file = self.files.locate(effect.path, may_be_missing=effect.text is not None)
        ready, _ = yield from self.ready(file, effect.text, call)
        for server in ready:
            server.sync(file, effect.text)

    def _called_for(self) -> list[Server]:
        """The servers that the workspace's own files call for, started."""
        servers: dict[int, Server] = {}
        for path in samples(self.files.boundary.root):
            try:
                found = self.pool.servers_for(path)
            except LspkitError:
                continue
            servers.update({id(one): one for one in found})
        if not servers:
            raise NoServer("no file of this workspace belongs to a server that can be started")
        return list(servers.values())

    def _send(self, server: Server, file: File, effect: Ask) -> Ticket:
        if effect.in_step:
            return server.ask_about(file, effect.text, effect.method, effect.build)
        ticket = server.ask(effect.method, effect.build(file.uri, NO_TEXT, server.session.encoding))
        ticket.view = _nowhere(server)
        return ticket

    def _raise_unless_done(
        self, outcome: Outcome, server: Server, method: str, began: float
    ) -> None:
        if outcome is Outcome.CANCELLED:
            raise Cancelled("the call was cancelled")
        if outcome is Outcome.TIMED_OUT:
            self.pool.seat(server).counts.timed_out()
            log.debug("%s did not answer %s in time", server.id, method)
            raise server.timed_out(method, time.monotonic() - began)


#: For questions that are about no text.
NO_TEXT = Text("")


def _nowhere(server: Server) -> View:
    """The view of a question about no document."""
    return View("", NO_TEXT, 0, server.session.encoding)


def _can(server: Server, effect: Ask, file: File) -> bool:
    return effect.unheard_of or server.session.supports(effect.method, key_of(server, file))


def key_of(server: Server, file: File) -> DocumentKey:
    """The file as this server's selectors see it."""
    return DocumentKey(file.uri, server.choice.language)


def view_of(ticket: Ticket) -> View:
    """The document that a request was about."""
    if ticket.view is None:
        raise TypeError(f"{ticket.method} is about no document")
    return ticket.view


def unsupported(method: str, servers: list[Server]) -> Unsupported:
    """No server of the file can do it."""
    ids = tuple(server.id for server in servers)
    return Unsupported(
        f"{method} is not supported by {', '.join(ids)}", operation=method, servers=ids
    )
