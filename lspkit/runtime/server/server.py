"""One live server: its process from start to end, and what it tells by itself.

What is said to it is in `document_channel.py`, its threads are in `connection.py`, the way down is
in `shutdown.py`.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable

from lspkit.errors import LspkitError, RequestTimeoutError, ServerBrokenError
from lspkit.late_imports import safe_imports
from lspkit.protocol import events
from lspkit.protocol.initialize_params import InitializeOptions
from lspkit.protocol.open_documents import Documents
from lspkit.protocol.session import Session, State, params_of
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.watch_registrations import WatchRegistrations
from lspkit.runtime.concurrency.waiting import Waiter
from lspkit.runtime.files import Files
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.launch import LaunchError, launch
from lspkit.runtime.process.sidecar import Sidecar, start_all, stop_all
from lspkit.runtime.process.usage import is_asleep
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.connection import CLOSED_OUTPUT, Connection
from lspkit.runtime.server.diagnostics_record import DiagnosticsRecord
from lspkit.runtime.server.document_queue import Broadcast, DocumentQueue
from lspkit.runtime.server.pending_request import ConnectionLost, PendingRequest
from lspkit.servers import Choice
from lspkit.servers.definition import Forwards
from lspkit.servers.restriction import server_environment
from lspkit.servers.sidecar_commands import Commands

log = logging.getLogger("lspkit.runtime")


class Server(DiagnosticsRecord):
    """A server process and what it knows. `start` once, ask from any thread, `close` once."""

    def __init__(
        self,
        choice: Choice,
        files: Files,
        *,
        initialize_timeout: float,
        version: str,
        on_change: Callable[[], None],
        on_ready: Callable[[Server], None],
        on_gone: Callable[[Server, LspkitError], LspkitError],
        on_watch: Callable[[Server], None],
        on_refresh: Callable[[Server], None],
        on_forward: Callable[[Server, Forwards, bytes | None], None],
    ) -> None:
        definition, root = choice.definition, choice.root
        opening = InitializeOptions(
            root_uri=path_to_uri(root),
            root_name=os.path.basename(root) or root,
            process_id=os.getpid(),
            client_version=version,
            initialization=definition.initialization,
            settings=definition.settings,
            encodings=definition.encodings,
            experimental=definition.experimental,
        )
        super().__init__(Session(opening, time.monotonic), choice, files, on_change)
        self.id = choice.id
        self.root = root
        self._initialize_timeout = initialize_timeout
        self._on_ready = on_ready
        self._on_edit: Callable[[events.EditAsked], None] = self._refuse_edit
        self._on_gone = on_gone
        self._on_watch = on_watch
        self._on_refresh = on_refresh
        self._on_forward = on_forward
        #: The files that it has asked to be told about.
        self.watched = WatchRegistrations(
            root, files.boundary.root, kinds=choice.definition.told_as
        )
        #: Its own folder for temporary files, and its environment.
        self._scratch = ""
        self._environment: dict[str, str] = {}
        #: Programs that run beside it, and why others do not.
        self.sidecars: list[Sidecar] = []
        self.sidecar_warnings: tuple[str, ...] = ()
        #: Whether its start is under way or over.
        self.begun = False
        #: Who was to answer its questions and could not in time.
        self.goes_on_without: Server | None = None
        #: URIs of documents to open as they are on disk, once it is up.
        self.reopen: list[str] = []
        #: Whether lspkit is ending it.
        self.closing = False
        #: Rung when it has ended, for each who is ending it.
        self.bells: list[Waiter] = []
        self._ready = False
        #: Told, once and for all, when it can be asked or never will be.
        self._settled = Broadcast()
        #: Told when a push or a registration comes, some work ends, or the server does.
        self.news = Broadcast()

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
        try:
            # Only the name, which nobody can guess: who makes it must be sure to remove it.
            self._scratch = os.path.join(tempfile.gettempdir(), f"lspkit-{os.urandom(8).hex()}")
            private = ("TMPDIR", "TEMP", "TMP", *self.choice.definition.own_folders)
            scratch = dict.fromkeys(private, self._scratch)
            self._environment = server_environment.made(
                self.choice, scratch, self._files.boundary.root
            )
            child = launch(argv, cwd=self.root, env=self._environment, scratch=self._scratch)
        except (LaunchError, OSError) as problem:
            self._sweep()
            said = problem.message if isinstance(problem, LaunchError) else str(problem)
            self._fail(failure_errors.useless(self.choice, said))
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

    def call_off(self) -> None:
        """If its start has not begun, it never will."""
        with self.lock:
            called_off, self.begun = not self.begun, True
        if called_off:
            self._fail(ServerBrokenError(f"{self.id} was not started", server=self.id))

    def close(self, timeout: float) -> None:
        """End its threads, its process tree, its descriptors and its temporary files."""
        stop_all(self.sidecars)
        if self.connection is not None:
            self.connection.close(timeout)
        self._sweep()

    def accompany(self, beside: Commands, restart: Restart) -> None:
        """Start what runs beside it."""
        self.sidecar_warnings = beside.warnings
        if beside.commands and not self.closing:
            self.sidecars = start_all(
                beside.commands, self.root, self._environment, restart=restart
            )
            if self.closing:  # meanwhile
                stop_all(self.sidecars)

    def _sweep(self) -> None:
        """Servers leave things in the folder for temporary files, so each has one of its own."""
        with safe_imports():
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
        return self.failure is None and not self.closing and not self.outdated

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        return self._ready and self.failure is None

    def _came_up(self) -> None:
        definition = self.choice.definition
        with self.lock:
            connection = self.connection
            if connection is None or self.closing:
                return
            self.documents = Documents(
                self.session.capabilities,
                self.session.encoding,
                in_use=self._in_use,
                change_with=definition.change_with,
                touch_with=definition.touch_with,
                whole=definition.whole_texts,
                saves=definition.saves,
            )
            if self.loading.done:
                self.heard.believe(time.monotonic())
            connection.post(*self.session.initialized())
            self.reopen += self._catch_up()
            self._ready = True
        self._settled.tell(over=True)
        self._on_ready(self)
        log.debug("%s is ready", self.id)

    def _connected(self) -> Connection:
        if self.failure is not None:
            raise self.failure.copy()
        if self.connection is None or self.session.state is not State.RUNNING:
            raise ServerBrokenError(f"{self.id} is {self.state}", server=self.id)
        return self.connection

    def timed_out(self, method: str, waited: float, setting: str = "") -> RequestTimeoutError:
        """The error for a caller whose time is up."""
        return failure_errors.late(
            self.id,
            method,
            waited,
            setting=setting,
            state=self.state,
            progress=self.session.progress.descriptions(),
            in_flight=tuple(one.method for one in list(self.session.pending.values())),
            stderr=self._tail(),
        )

    def give_up_if_stuck(self, ticket: PendingRequest, since: float, patience: float) -> None:
        """End a server that cannot be expected to answer this request any more.

        Not before it has had all the time that a request has, and not while it works: a server
        that loads a large project may read nothing for long.
        """
        connection = self.connection
        # A caller began to wait a moment after the time of its request did.
        had_its_time = time.monotonic() - since >= 0.9 * patience
        if connection is None or self.closing or not had_its_time:
            return
        reason = connection.is_stuck(ticket.posted, since)
        if reason and is_asleep(connection.child.pid):
            self._fail(failure_errors.gone(self.id, reason, None, self._tail()))

    def take_edits(self, on_edit: Callable[[events.EditAsked], None] | None) -> None:
        """Hand the edits on that the server asks for from now on; None refuses them."""
        with self.lock:
            self._on_edit = on_edit or self._refuse_edit
            self.session.takes_edits = on_edit is not None

    def edit_done(self, event: events.EditAsked, failure: str) -> None:
        """Tell the server what became of an edit that it has asked for."""
        with self.lock:
            if self.connection is not None:
                self.connection.post(self.session.edit_done(event.id, failure))

    def _refuse_edit(self, event: events.EditAsked) -> None:
        self.edit_done(event, "nobody asked for it any more")

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
                self._fail(ServerBrokenError(message, server=self.id, stderr=self._tail()))
            case events.DiagnosticsPublished():
                self.pushed(event.uri, event.version, event.items)
                self.news.tell()
            case events.ProgressBegan():
                with self.lock:
                    self.heard.began(event.token, event.title, time.monotonic())
            case events.ProgressEnded():
                self.loading.work_ended()
                with self.lock:
                    self.heard.ended(event.token, event.title, time.monotonic())
                self.news.tell()
            case events.Notified():
                forwards = self.choice.definition.forwards
                if forwards is not None and event.method == forwards.asks:
                    self._on_forward(self, forwards, event.params)
                params = params_of(event.params)
                self.loading.notified(event.method, params)
                with self.lock:
                    self.heard.noticed(event.method, params, time.monotonic())
                    self._believe_by_its_word()
                self.news.tell()
            case events.EditAsked():
                self._on_edit(event)
            case events.RefreshAsked(method="workspace/diagnostic/refresh"):
                self._on_refresh(self)
            case events.Registered():
                dropped = event.dropped + sum(map(self.watched.add, event.registrations))
                if dropped:
                    self.overrun(dropped)
                if event.registrations:
                    self._on_watch(self)
                    self.news.tell()
            case events.Unregistered():
                for registration in event.registrations:
                    self.watched.drop(registration.id)
            case events.MessageShown():
                log.debug("%s says: %s", self.id, event.text)
                if useless := self.logged(event.text):
                    self._fail(failure_errors.useless(self.choice, useless))
                self.news.tell()
            case events.BadMessage():
                log.debug("%s sent something unreadable: %s", self.id, event.reason)
            case events.Printed():
                log.debug("%s prints what is no message: %r", self.id, event.sample)

    def _believe_by_its_word(self) -> None:
        """A server that says when it is loading is believed only while it is not."""
        if self.loading.again:
            self.heard.disbelieve()
        elif self.loading.done and self.choice.definition.unready_by is not None:
            self.heard.believe(time.monotonic())

    def _on_lost(self, reason: str) -> None:
        """The reader's last word: the connection is over."""
        connection = self.connection
        try:
            status = connection.child.wait(0.1) if connection else None
        except OSError:  # not even a descriptor is left; its status is not worth a hanging caller
            status = None
        if status is not None and reason == CLOSED_OUTPUT:
            reason = f"it ended with {failure_errors.describe_exit(status)}"
        tail = self._tail()
        silent = connection is not None and not connection.has_spoken
        if silent and self.session.state is State.INITIALIZING and status and status > 0:
            # A stub that exits at once, say: no server has crashed here, none was there.
            said = f": {failure_errors.telling_line(tail)}" if tail else ""
            self._fail(failure_errors.useless(self.choice, f"{reason}{said}"))
        else:
            self._fail(failure_errors.gone(self.id, reason, status, tail))

    def _fail(self, error: LspkitError) -> None:
        if self.failure is None and not self.closing:
            # Before any caller knows: its next call must find that the server is to be spared.
            error = self._on_gone(self, error)
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
            self.heard.store.forget()
        lost = ConnectionLost(self.failure)
        for waiter in waiters:
            waiter.complete(lost)
        self._settled.tell(over=True)
        self.news.tell(over=True)

    def _ring(self) -> None:
        for bell in self.bells:
            bell.wake()

    def _tail(self) -> str:
        return self.connection.stderr_tail() if self.connection else ""

    def drop_after_fork(self) -> None:
        """In a forked child: let go of the parent's server without touching it."""
        self.lock = threading.Lock()
        self._settled, self.news, self.turns, self.commands = (
            Broadcast(),
            Broadcast(),
            DocumentQueue(),
            DocumentQueue(),
        )
        self.closing = True
        for sidecar in self.sidecars:
            sidecar.drop_after_fork()
        self.sidecars = []
        if self.connection is not None:
            self.connection.drop_after_fork()
            self.connection = None
