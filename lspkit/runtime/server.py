"""One live server: its process, its documents, and the step from "as the server knows it" to "as
the caller means it".

That step, the encoding of the position, and the queueing of the change and of the question are done
under the server's one lock, with no I/O inside: files are looked at and read before, and what was
read is only used if the document has not moved on meanwhile. So a question always follows the text
that it is about, and its answer is read against that very text.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.diagnostics.store import Push, Store
from lspkit.errors import LspkitError, RequestTimeout, ServerBroken, ServerUnavailable
from lspkit.protocol import events
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.documents import Documents, View
from lspkit.protocol.opening import Opening
from lspkit.protocol.session import Session, State, params_of
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.connection import CLOSED_OUTPUT, Connection
from lspkit.runtime.files import Content, File, Files
from lspkit.runtime.launch import LaunchError, launch
from lspkit.runtime.turns import News, Turns
from lspkit.runtime.waiting import Waiter
from lspkit.servers import Choice
from lspkit.servers.readiness import Loading

log = logging.getLogger("lspkit.runtime")

#: Params of a request, made from the document as it is when the request is queued.
Build = Callable[[str, Text, Encoding], Any]


class Ticket(msgspec.Struct):
    """A request under way. Its waiter gets `Answered`, `Failed` or `Lost`."""

    method: str
    waiter: Waiter
    #: None for a request about no document.
    view: View | None
    id: int = 0


class Lost(msgspec.Struct, frozen=True):
    """What a waiter gets when the server ends."""

    error: LspkitError


class Server:
    """A server process and what it knows. `start` once, ask from any thread, `close` once."""

    def __init__(
        self,
        choice: Choice,
        root: str,
        files: Files,
        *,
        initialize_timeout: float,
        version: str,
        on_change: Callable[[], None],
        on_ready: Callable[[Server], None],
        on_gone: Callable[[Server, LspkitError], None],
    ) -> None:
        self.choice = choice
        self.id = choice.id
        self.root = root
        self._files = files
        self._initialize_timeout = initialize_timeout
        self._on_change = on_change
        self._on_ready = on_ready
        self._on_gone = on_gone
        #: Its own folder for temporary files.
        self._scratch = ""
        #: Whether its start is under way or over.
        self.begun = False
        #: URIs of documents to open again, after a restart.
        self.reopen: list[str] = []
        #: When it was last asked something, by the monotonic clock.
        self.last_used = time.monotonic()
        #: Guards everything below, and the session and queue of the connection.
        self.lock = threading.Lock()
        self.session = Session(
            Opening(
                root_uri=path_to_uri(root),
                root_name=os.path.basename(root) or root,
                process_id=os.getpid(),
                client_version=version,
                initialization=choice.definition.initialization,
                settings=choice.definition.settings,
                encodings=choice.definition.encodings,
                experimental=choice.definition.experimental,
            )
        )
        self.documents = Documents(self.session.capabilities, "utf-16")
        self.store = Store()
        self.connection: Connection | None = None
        #: Why it cannot be used (any more).
        self.failure: LspkitError | None = None
        #: Whether lspkit is ending it.
        self.closing = False
        #: Rung when it has ended.
        self.bell: Waiter | None = None
        self._ready = False
        #: Told, once and for all, when it can be asked or never will be.
        self._settled = News()
        #: Told when a push or a registration comes, some work ends, or the server does.
        self.news = News()
        #: Callers who check one document take turns.
        self.turns = Turns()
        #: Whether answers can be trusted: some servers answer before they know the project.
        self.loading = Loading(choice.definition)
        #: Whether its pushes have carried versions so far.
        self.gives_versions = True
        self._written_at: dict[str, float] = {}
        #: When what the server sees last changed, in any document: findings may depend on it.
        self.changed_at = 0.0

    def __repr__(self) -> str:
        return f"<Server {self.id} {self.state} root={self.root}>"

    @property
    def state(self) -> str:
        """One word."""
        if self.failure is not None:
            return "broken"
        if self.closing:
            return "stopping"
        return "running" if self._ready else "starting"

    # Coming up

    def start(self) -> None:
        """Start the process and begin the conversation. Blocks for some milliseconds."""
        with self.lock:
            if self.begun:
                return
            self.begun = True
        argv = self.choice.argv
        deadline = time.monotonic() + self._initialize_timeout
        self._scratch = tempfile.mkdtemp(prefix="lspkit-")
        scratch = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._scratch)
        environment = {**os.environ, **scratch, **self.choice.config.env}
        try:
            child = launch(argv, cwd=self.root, env=environment, scratch=self._scratch)
        except LaunchError as problem:
            self._sweep()
            message = f"{self.id} cannot be started: {argv[0]}: {problem.message}"
            self._fail(ServerUnavailable(message, server=self.id, looked_for=argv[0]))
            return
        connection = Connection(
            self.id,
            child,
            self.session,
            self.lock,
            on_event=self._on_event,
            on_lost=self._on_lost,
            on_exit=self._ring,
            initialize_by=deadline,
        )
        with self.lock:
            self.connection = connection
            connection.post(self.session.initialize(tag=None))
            gone = self.closing
        connection.start()
        if gone:  # the workspace was closed meanwhile, and saw no connection to close
            self.close(2.0)
        log.debug("%s started, pid %d", self.id, child.pid)

    def close(self, timeout: float) -> None:
        """End its threads, its process tree, its descriptors and its temporary files."""
        if self.connection is not None:
            self.connection.close(timeout)
        self._sweep()

    def _sweep(self) -> None:
        """Servers leave things in the folder for temporary files, so each has one of its own."""
        import shutil  # here, since it takes 5 ms to import

        scratch, self._scratch = self._scratch, ""
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)

    def ready(self) -> Waiter:
        """Complete as soon as the server can be asked, or never will be."""
        return self._settled.next()

    @property
    def usable(self) -> bool:
        """Whether it can be asked, now or as soon as it has started."""
        return self.failure is None and not self.closing

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        return self._ready and self.failure is None

    def _came_up(self) -> None:
        with self.lock:
            connection = self.connection
            if connection is None or self.closing:
                return
            self.documents = Documents(
                self.session.capabilities, self.session.encoding, in_use=self._in_use
            )
            connection.post(*self.session.initialized())
            self._ready = True
        self._settled.tell(over=True)
        self._on_ready(self)
        log.debug("%s is ready", self.id)

    # Asking

    def ask(self, method: str, params: Any) -> Ticket:
        """Queue a request about no document."""
        ticket = Ticket(method, Waiter(), None)
        with self.lock:
            self._queue(ticket, [], params)
        return ticket

    def ask_about(self, file: File, text: str | None, method: str, build: Build) -> Ticket:
        """Bring the document up to date and queue a request about it, in one step."""
        key = DocumentKey(file.uri, self.choice.language)
        given = None if text is None else Text(text)
        content: Content | None = None
        while True:
            with self.lock:
                ticket = self._ask_about(file, key, given, content, method, build)
            if ticket is not None:
                return ticket
            content = self._files.read(file)  # outside the lock, then compare and set

    def _ask_about(
        self,
        file: File,
        key: DocumentKey,
        given: Text | None,
        content: Content | None,
        method: str,
        build: Build,
    ) -> Ticket | None:
        document = self.documents.get(file.uri)
        encoding = self.session.encoding
        notes: list[Any] = []
        stamp: object = document.stamp if document is not None else None
        if (
            given is None
            and document is not None
            and not document.unsure
            and document.stamp == file.stamp
        ):
            params = build(key.uri, document.text, encoding)
        else:
            text, stamp = given, None
            if text is None:
                if content is None:
                    return None
                text, stamp = content.text, content.stamp
            # First the params, which may be refused: then nothing has changed and nothing is sent.
            params = build(key.uri, text, encoding)
            document, notes = self.documents.sync(key, text, stamp)
        view = View(key.uri, document.text, document.version, encoding)
        ticket = Ticket(method, Waiter(), view)
        if method:
            self._queue(ticket, notes, params)
        else:
            self._post(notes)
            ticket.waiter.complete()
        self.documents.commit(document)
        if notes:
            self._written_at[key.uri] = time.monotonic()
            if stamp is None or any(method == "textDocument/didChange" for method, _ in notes):
                self.changed_at = time.monotonic()
        return ticket

    def sync(self, file: File, text: str | None) -> Ticket:
        """Bring the document up to date, and ask nothing."""
        return self.ask_about(file, text, "", _nothing)

    def restore(self, file: File) -> None:
        """Let the server see the disk again after a caller's own text."""
        with self.lock:
            document = self.documents.get(file.uri)
            if not self.is_ready or document is None or document.stamp is not None:
                return
        if file.stamp is None:
            self.forget(file.uri)
        else:
            self.sync(file, None)

    def forget(self, uri: str) -> None:
        """The file is gone."""
        with self.lock:
            self._post(self.documents.close(uri))
            self.documents.commit()
            self.changed_at = time.monotonic()

    def _post(self, notes: list[Any]) -> None:
        connection = self._connected()
        connection.post(*[self.session.notify(method, params) for method, params in notes])

    def _queue(self, ticket: Ticket, notes: list[Any], params: Any) -> None:
        connection = self._connected()
        self.last_used = time.monotonic()
        frames = [self.session.notify(method, said) for method, said in notes]
        try:
            uri = ticket.view.uri if ticket.view is not None else ""
            ticket.id, frame = self.session.request(ticket.method, params, ticket.waiter, uri)
            connection.post(*frames, frame)
        except BaseException:
            self.session.pending.pop(ticket.id, None)
            raise

    def written_at(self, uri: str) -> float:
        """When anything last changed that this document's findings may depend on."""
        return max(self._written_at.get(uri, 0.0), self.changed_at)

    def version_of(self, uri: str) -> int:
        """The version of the document as the server knows it; 0 if it is not open."""
        with self.lock:
            document = self.documents.get(uri)
            return 0 if document is None else document.version

    def nudge(self, uri: str) -> None:
        """Let the server look again at a document that is as it was."""
        with self.lock:
            self._post(self.documents.saving(uri))

    def _connected(self) -> Connection:
        if self.failure is not None:
            raise self.failure
        if self.connection is None or self.session.state is not State.RUNNING:
            raise ServerBroken(f"{self.id} is {self.state}", server=self.id)
        return self.connection

    def finish(self, ticket: Ticket) -> None:
        """The caller no longer waits; a request without an answer is taken back."""
        if ticket.waiter.done:
            return
        with self.lock:
            cancel = self.session.cancel(ticket.id)
            if cancel is not None and self.connection is not None:
                self.connection.post(cancel)

    def _in_use(self) -> set[str]:
        """Documents that somebody waits for an answer about. The lock is held."""
        return {pending.uri for pending in self.session.pending.values()} | self.turns.taken()

    def timed_out(self, method: str, waited: float) -> RequestTimeout:
        """The error for a caller whose time is up, with what may explain it."""
        busy = self.session.progress.busy_with()
        flying = tuple(pending.method for pending in list(self.session.pending.values()))
        tail = self.connection.stderr_tail() if self.connection else ""
        doing = f"; it says it is busy with {', '.join(busy)}" if busy else ""
        what = f"did not answer {method}" if method else "was not ready"
        return RequestTimeout(
            f"{self.id} {what} within {waited:.1f} s (it is {self.state}{doing})",
            server=self.id,
            state=self.state,
            progress=busy,
            in_flight=flying,
            stderr=tail,
        )

    def last_push(self, uri: str) -> Push | None:
        """The newest push about a file."""
        with self.lock:
            return self.store.last(uri)

    # What the reader hands on

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Answered):
            event.tag.complete(event)
            return
        match event:
            case events.Failed() if event.tag is not None:
                event.tag.complete(event)
            case events.Initialized():
                self._came_up()
            case events.Failed():
                message = f"{self.id} refused initialize: {event.message}"
                self._fail(ServerBroken(message, server=self.id, stderr=self._tail()))
            case events.DiagnosticsPublished():
                with self.lock:
                    self.store.push(event.uri, event.version, event.items, time.monotonic())
                    if event.version is None and self.documents.get(event.uri) is not None:
                        self.gives_versions = False
                self.news.tell()
                self._on_change()
            case events.ProgressEnded():
                self.loading.work_ended()
                self.news.tell()
            case events.ConfigurationAsked():
                self.loading.configured()
                self.news.tell()
            case events.Notified():
                self.loading.notified(event.method, params_of(event.params))
                self.news.tell()
            case events.Registered():
                self.news.tell()
            case events.Said(level=1):
                log.debug("%s says: %s", self.id, event.text)
            case events.BadMessage():
                log.debug("%s sent something unreadable: %s", self.id, event.reason)
            case _:
                pass

    def _on_lost(self, reason: str) -> None:
        """The reader's last word: the connection is over."""
        connection = self.connection
        status = connection.child.wait(0.02) if connection else None
        if status is not None and reason == CLOSED_OUTPUT:
            reason = f"it ended with {describe_exit(status)}"
        tail = self._tail()
        if self._never_spoke(status):
            self._fail(self._no_server(status or 0, tail))
            return
        last = f"; its last words: {tail.splitlines()[-1]}" if tail else ""
        error = ServerBroken(
            f"{self.id} is gone: {reason}{last}",
            server=self.id,
            exit_status=status,
            stderr=tail,
        )
        self._fail(error)

    def _never_spoke(self, status: int | None) -> bool:
        """Whether the program is none that works: a stub that exits at once, say."""
        silent = self.connection is not None and not self.connection.has_spoken
        return silent and self.session.state is State.INITIALIZING and bool(status and status > 0)

    def _no_server(self, status: int, tail: str) -> ServerUnavailable:
        program = self.choice.argv[0]
        said = f": {tail.splitlines()[-1]}" if tail else ""
        return ServerUnavailable(
            f"{self.id} does not work: {program} ended at once with {describe_exit(status)}{said}",
            server=self.id,
            looked_for=program,
            install=next(iter(self.choice.definition.install.values()), ""),
        )

    def _fail(self, error: LspkitError) -> None:
        if self.failure is None and not self.closing:
            # Before any caller knows: its next call must find that the server is to be spared.
            self._on_gone(self, error)
        if self.connection is not None and not self.closing:
            self.connection.child.kill()
        with self.lock:
            if self.failure is None:
                self.failure = error
            if self.session.state not in (State.STOPPED, State.FAILED):
                orphans = self.session.lost()
            else:
                orphans = list(self.session.pending.values())
                self.session.pending.clear()
            waiters = [pending.tag for pending in orphans if pending.tag is not None]
            self.store.forget()
        lost = Lost(self.failure)
        for waiter in waiters:
            waiter.complete(lost)
        self._settled.tell(over=True)
        self.news.tell(over=True)

    def _ring(self) -> None:
        if self.bell is not None:
            self.bell.wake()

    def _tail(self) -> str:
        return self.connection.stderr_tail() if self.connection else ""

    def drop_after_fork(self) -> None:
        """In a forked child: let go of the parent's server without touching it."""
        self.lock = threading.Lock()
        self._settled, self.news, self.turns = News(), News(), Turns()
        self.closing = True
        if self.connection is not None:
            self.connection.drop_after_fork()
            self.connection = None


def _nothing(_: str, __: Text, ___: Encoding) -> None:
    return None


def describe_exit(status: int) -> str:
    """`exit status 3`, `signal 9`."""
    return f"exit status {status}" if status >= 0 else f"signal {-status}"
