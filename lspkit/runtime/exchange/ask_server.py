"""Asking the servers of a file, as generators of waits.

Each server of a file is asked by a generator of its own, from its start to its answer, and all run
at the same time. A request's own time starts when its server is ready; the caller's covers all.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from lspkit.errors import (
    LspkitError,
    RequestFailedError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
)
from lspkit.operations.effects import Ask, AskWorkspace, Reply
from lspkit.protocol.events import Answered
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, REQUEST_CANCELLED, SERVER_CANCELLED
from lspkit.runtime.concurrency.waiting import (
    CallContext,
    Outcome,
    Step,
    Steps,
    Waiter,
    together,
    uncancelled,
)
from lspkit.runtime.effects.ask_project import asked_of_project
from lspkit.runtime.effects.needed_servers import called_for
from lspkit.runtime.exchange.companions import companion_loaded
from lspkit.runtime.exchange.replies import (
    NO_TEXT,
    no_longer_there,
    nowhere,
    of_the_able,
    sorted_out,
    unsupported,
    view_of,
    worst_of,
)
from lspkit.runtime.exchange.turn_taking import in_turn, successor
from lspkit.runtime.files import File, Files, was_read_since
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting, QueueEntry
from lspkit.runtime.server.pending_request import (
    REQUEST_TIMEOUT,
    Build,
    ConnectionLost,
    NamedDeadline,
    PendingRequest,
    setting_of,
)
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: A server that gave a request up because the text had moved on is asked again after so long.
RETRY_AFTER = 0.02
#: What such a server says. pyrefly says the last, of a request that nobody has called off.
MOVED_ON = (CONTENT_MODIFIED, SERVER_CANCELLED, REQUEST_CANCELLED)
#: What is done once in a call, beside the servers whose documents were looked at.
CAUGHT_UP = "caught up with the disk"
#: Why nobody can say what is on disk, or what a server makes of it.
UNSEEN = "there was no time to look at all files that may have changed on disk"
UNTOLD = "could not be told in time of files that have changed on disk"


class Asking:
    """How the engine asks. Holds no state of its own."""

    def __init__(self, files: Files, pool: Pool) -> None:
        self.files = files
        self.pool = pool

    # The effects

    def ask(self, effect: Ask, call: CallContext) -> Steps[list[Reply]]:
        """Perform `Ask`."""
        file = self.locate(effect.path, effect.text, call)
        servers, failures = yield from self.serving(file, call, effect.text)
        if effect.server:
            servers = [one for one in servers if one.id == effect.server]
            if not servers and not failures:
                raise no_longer_there(effect)
        elif effect.ignore_capabilities:
            servers = servers[:1]
        if len(servers) == 1 and not failures:
            reply = yield from self._ask_one(servers[0], file, effect, call)
            call.heard((reply.server,))
            return [reply]
        jobs = [self._ask_one(server, file, effect, call) for server in servers]
        results = yield from together(jobs, call)
        return _replies(results, failures, effect.method, call)

    def ask_workspace(self, effect: AskWorkspace, call: CallContext) -> Steps[list[Reply]]:
        """Perform `AskWorkspace`."""
        failures: list[LspkitError] = []
        yield from self.catch_up(call)
        if effect.path is not None:
            file = self.files.locate(effect.path)
            servers, failures = self.pool.servers_for(file.path, call, file)
            asked: list[tuple[Server, File | None]] = [(server, file) for server in servers]
        else:
            running = [one for one in self.pool.in_use_by(call) if len(one.documents)]
            asked = [(one, None) for one in running] or called_for(self.files, self.pool, call)
        self._told([server for server, _ in asked], call)
        jobs = [asked_of_project(self, server, sample, effect, call) for server, sample in asked]
        results = yield from together(jobs, call)
        return _replies(results, failures, effect.method, call)

    # One server

    def _ask_one(self, server: Server, file: File, effect: Ask, call: CallContext) -> Steps[Reply]:
        """Ask a server, or, if it is replaced before it has answered, the one in its place."""
        first = True
        while True:
            try:
                reply = yield from self._ask_this(server, file, effect, call, may_leave=first)
                if reply is not None:
                    return reply
            except (ServerBrokenError, ServerUnavailableError):
                # What a question that lspkit does not know has done by then, nobody can say.
                may_go_on = server.false_start or (first and server.outdated)
                if effect.ignore_capabilities or not may_go_on:
                    raise
            server = yield from successor(self, server, file, call)
            first = False

    def _ask_this(
        self, server: Server, file: File, effect: Ask, call: CallContext, *, may_leave: bool
    ) -> Steps[Reply | None]:
        """None if it is to be replaced, and was not asked."""
        if not server.is_ready or not server.loading.done or server.choice.definition.forwards:
            yield from self.loaded(server, file, effect.text, call)
        if not effect.ignore_capabilities and not server.session.supports(
            effect.method, server.key_of(file.uri)
        ):
            raise unsupported(effect.method, server)
        method, about = effect.method, file.uri if effect.in_step else ""
        if about and effect.text is None and not server.turns.has_guests:
            until = self.until(server, call)
            try:
                asked = self.asked(server, file, None, method, effect.build, until, polite=True)
                return (yield from asked)
            except ExclusiveCallWaiting:
                pass
        # Another text is another caller's business while somebody waits for an answer about his.
        turn = QueueEntry(guest=effect.text is not None and server.choice.definition.compares_files)
        try:
            server.turns.queue(about, turn)
            if not (yield from in_turn(self, server, turn, call, method, may_leave=may_leave)):
                return None
            until = self.until(server, call)
            if about:
                asked = self.asked(server, file, effect.text, method, effect.build, until)
            else:
                params = effect.build(file.uri, NO_TEXT, server.session.encoding)
                asked = self.asked_whole(server, method, params, until)
            return (yield from asked)
        finally:
            try:
                if turn.done and effect.text is not None:
                    self.restore(server, file.uri)
            finally:
                turn.over = True
                server.turns.tidy()

    def asked_whole(self, server: Server, method: str, params: Any, until: float) -> Steps[Reply]:
        """Ask about no document."""
        answered, _ = yield from self._persist(
            server, method, until, lambda: server.ask(method, params)
        )
        return Reply(server.id, answered.result, nowhere(server), method)

    def asked(
        self,
        server: Server,
        file: File,
        text: str | None,
        method: str,
        build: Build,
        until: float,
        *,
        polite: bool = False,
    ) -> Steps[Reply]:
        """Ask about a document."""
        answered, ticket = yield from self.told(
            server, file, text, method, build, until, polite=polite
        )
        return Reply(server.id, answered.result, view_of(ticket), method)

    def told(
        self,
        server: Server,
        file: File,
        text: str | None,
        method: str,
        build: Build,
        until: float,
        *,
        polite: bool = False,
    ) -> Steps[tuple[Answered, PendingRequest]]:
        """Ask about a document: the answer, and the request that got it."""
        send = functools.partial(server.ask_about, file, text, method, build)
        return self._persist(server, method, until, send, polite=polite)

    def _persist(
        self,
        server: Server,
        method: str,
        until: float,
        send: Callable[[], PendingRequest],
        *,
        polite: bool = False,
    ) -> Steps[tuple[Answered, PendingRequest]]:
        """Ask, and again if the server gave up because the text had moved on.

        Who is polite, having no turn, raises `ExclusiveCallWaiting` rather than to ask again when
        somebody shows the server a text of his own.
        """
        pause = RETRY_AFTER
        while True:
            if server.connection is not None and not server.connection.has_room():
                yield from self.room(server, method, until)
            ticket = send()
            value = yield from self.answer(server, ticket, until)
            if isinstance(value, Answered):
                return value, ticket
            if value.server_code not in MOVED_ON or time.monotonic() + pause >= until:
                raise value
            if polite and server.turns.has_guests:
                raise ExclusiveCallWaiting
            uncancelled((yield (Waiter(), time.monotonic() + pause)))
            pause *= 2

    def answer(
        self, server: Server, ticket: PendingRequest, until: float
    ) -> Steps[Answered | RequestFailedError]:
        """Wait for one answer; a refusal is returned, everything worse is raised."""
        began = time.monotonic()
        try:
            yield from self.wait(server, ticket.waiter, until, ticket.method)
        except RequestTimeoutError:
            server.give_up_if_stuck(ticket, began, self.request_timeout(server))
            raise
        finally:
            server.finish(ticket)
        value = ticket.waiter.value
        if isinstance(value, Answered):
            took = time.monotonic() - began
            self.pool.seat(server).counts.answered(took)
            self.pool.succeeded(server)
            log.debug("%s answered %s in %.1f ms", server.id, ticket.method, took * 1000)
            return value
        if isinstance(value, ConnectionLost):
            raise value.error.copy()
        return RequestFailedError(
            f"{server.id} refused {ticket.method}: {value.message} ({value.code})",
            server=server.id,
            server_code=value.code,
            server_message=value.message,
        )

    def wait(self, server: Server, waiter: Waiter, until: float, method: str = "") -> Steps[None]:
        """Wait for something of a server, or say why it did not come."""
        began = time.monotonic()
        if uncancelled((yield (waiter, until))) is Outcome.TIMED_OUT:
            self.pool.seat(server).counts.timed_out()
            log.debug("%s did not answer %s in time", server.id, method)
            now = time.monotonic()
            raise server.timed_out(method, now - began, setting_of(until, now))

    def ready(self, server: Server, call: CallContext) -> Steps[None]:
        """Wait until the server can be asked."""
        if not server.is_ready:
            yield from self.wait(server, server.ready(), call.deadline)
        if server.failure is not None:
            raise server.failure.copy()

    def loaded(
        self, server: Server, file: File, text: str | None, call: CallContext
    ) -> Steps[None]:
        """Wait until the server knows the project that its first document belongs to."""
        yield from self.ready(server, call)
        if server.choice.definition.forwards is not None:
            yield from companion_loaded(self, server, file, call)
        if server.loading.done:
            server.believe()
            return
        server.sync(file, text)
        yield from self.project_loaded(server, call)

    def project_loaded(self, server: Server, call: CallContext) -> Steps[None]:
        """The same, when the server has been shown a document."""
        began = time.monotonic()
        begin_by = began + server.loading.begins_within
        while server.failure is None:
            news = server.news.next()
            busy, late = bool(server.session.progress.work), time.monotonic() >= begin_by
            if server.loading.look(busy=busy, late=late):
                server.believe()
                return
            until = call.deadline if busy or late else begin_by
            outcome = yield (news, until)
            if outcome is not Outcome.DONE and until == call.deadline:
                yield from self.wait(server, Waiter(), 0.0)  # says why it was slow

    def at_rest(self, server: Server, call: CallContext) -> Steps[None]:
        """Wait while the server is loading its project once more."""
        while server.loading.again and server.failure is None:
            news = server.news.next()
            if server.loading.again:
                yield from self.wait(server, news, call.deadline)

    def room(self, server: Server, method: str, until: float) -> Steps[None]:
        """Wait until the server's queue takes more: it may have stopped reading."""
        connection = server.connection
        if connection is not None and not connection.has_room():
            with server.lock:
                waiter = connection.room()
            yield from self.wait(server, waiter, until, method)

    def catch_up(self, call: CallContext) -> Steps[None] | tuple[()]:
        """Let every server hear of what had changed on disk when the call began, once for all.

        Seldom is there anything to wait for: then it is done when this returns.
        """
        reading = self.pool.watching.reading()
        if reading is not None:
            return self._read_first(reading, call)
        if CAUGHT_UP not in call.done:
            self._catch_up(call)
        return ()

    def _catch_up(self, call: CallContext) -> None:
        if not self.pool.watching.catch_up(call.deadline):
            raise RequestTimeoutError(UNSEEN)
        call.done.add(CAUGHT_UP)

    def serving(
        self, file: File, call: CallContext, text: str | None = None
    ) -> Steps[tuple[list[Server], list[LspkitError]]]:
        """The servers of a file by what had changed on disk when the call began, and who is not."""
        before, read = self.pool.turnover, file if text is None else None
        found = self.pool.servers_for(file.path, call, read)
        yield from self.catch_up(call)
        self._told(found[0], call)
        if self.pool.turnover == before:
            return found
        return self.pool.servers_for(file.path, call, read)

    def _told(self, servers: list[Server], call: CallContext) -> None:
        """See to it that these have heard of it."""
        for server in servers:
            if not self.pool.watching.told(server, call.deadline):
                raise RequestTimeoutError(
                    f"{server.id} {UNTOLD}", server=server.id, state=server.state
                )

    def _read_first(self, reading: Step, call: CallContext) -> Steps[None]:
        waiter, until = reading
        yield (waiter, min(until, call.deadline))
        self._catch_up(call)

    # Without waiting

    def request_timeout(self, server: Server) -> float:
        """Seconds that one request may take."""
        own = server.choice.config.timing.request_timeout_ms
        return (self.pool.config.timing.request_timeout_ms if own is None else own) / 1000

    def until(self, server: Server, call: CallContext) -> NamedDeadline:
        """When an answer has to be there: who sets no limit does not wait for ever."""
        if call.deadline != float("inf"):
            return NamedDeadline(call.deadline)
        return NamedDeadline(time.monotonic() + self.request_timeout(server), REQUEST_TIMEOUT)

    def locate(self, path: str, text: str | None, call: CallContext) -> File:
        """The file that a caller means; who gives a text of his own may mean one to come."""
        return self.files.locate(path, may_be_missing=text is not None, since=call.began)

    def refresh(self, server: Server, call: CallContext) -> None:
        """Bring every open document up to date with the disk, but those that show other text.

        Once for all files that a call is about: what has changed later is none of its business.
        """
        if server in call.done:
            return
        call.done.add(server)
        with server.lock:
            opened = [one for one in server.documents if one.stamp is not None]
        for document in opened:
            if was_read_since(document.stamp, call.began):
                continue
            uri = document.key.uri
            file = self.files.again(uri, since=call.began)
            if file is not None and file.stamp is None:
                server.forget(uri)
            elif file is not None and document.stamp != file.stamp:
                try:
                    server.follow_disk(file)
                except LspkitError:
                    continue  # no text any more; whoever asks about it is told

    def restore(self, server: Server, uri: str) -> None:
        """Let the server see the disk again, where its path may lead elsewhere by now."""
        try:
            server.restore(uri, self.files.again(uri))
        except LspkitError:
            return  # it has ended


def _replies(
    results: Sequence[Reply | Exception],
    failures: list[LspkitError],
    method: str,
    call: CallContext,
) -> list[Reply]:
    """What the servers have answered; raises if none has. The caller is told who has not."""
    replies, failed = sorted_out(results)
    problems = of_the_able([*failed, *failures], method)
    call.heard((one.server for one in replies), problems)
    if not replies:
        raise worst_of(problems, method)
    return replies
