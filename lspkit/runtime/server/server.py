"""One live server: its process from start to end, and the events that it sends.

Documents and requests are in `document_channel.py`, threads in `connection.py`, the end in
`shutdown.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

import msgspec

from lspkit.errors import LspkitError, RequestTimeoutError, ServerBrokenError
from lspkit.protocol import events
from lspkit.protocol.registrations import WatchRegistrations
from lspkit.protocol.session import Session, State, params_of
from lspkit.runtime.concurrency.waiter import Broadcast, Waiter
from lspkit.runtime.files import Files
from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.child import Child, LaunchError
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.process.process_setup import ProcessSetup, initialize_options
from lspkit.runtime.process.usage import is_asleep
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.connection import BLOCKED, Connection
from lspkit.runtime.server.diagnostics_record import DiagnosticsRecord
from lspkit.runtime.server.document_channel import DocumentChannel, document_table
from lspkit.runtime.server.metrics import Metrics
from lspkit.runtime.server.pending_request import ConnectionLost, PendingRequest
from lspkit.runtime.server.process_state import End, ProcessState, Rights
from lspkit.servers.adapters.adapter import ForwardedRequest
from lspkit.servers.readiness import IndexState
from lspkit.servers.selection.choose import Choice
from lspkit.servers.sidecar_commands import Commands
from lspkit.servers.status import Announcer, ServerState, WorkspaceEvent

log = logging.getLogger("lspkit.runtime")


class Callbacks(msgspec.Struct, frozen=True, kw_only=True):
    """What a server calls when something happens to it, from any thread. Made by `Pool._new`."""

    #: For those who watch the workspace.
    on_event: Callable[[WorkspaceEvent], None]
    #: It has come up.
    on_up: Callable[[Server], None]
    #: It ends: records how, and returns who waits for its answers; None if it has ended before.
    on_end: Callable[[Server, End], list[Waiter] | None]
    #: It wants to be told about more files.
    on_watch: Callable[[Server], None]
    #: It says that its findings have changed.
    on_refresh: Callable[[Server], None]
    #: It asks for something that another server answers.
    on_forward: Callable[[Server, ForwardedRequest], None]


class Server:
    """A server process and its state. `start` once, ask from any thread, `close` once."""

    def __init__(
        self,
        choice: Choice,
        files: Files,
        callbacks: Callbacks,
        *,
        guardian: Guardian,
        initialize_timeout: float,
        version: str,
        environ: Mapping[str, str],
    ) -> None:
        self.id = choice.id
        self.root = choice.root
        self.choice = choice
        self.adapter = choice.adapter
        #: Tells those who watch the workspace.
        self.announce = Announcer(choice.id, choice.root, callbacks.on_event)
        #: Its environment, temporary folder and sidecars.
        self.setup = ProcessSetup(choice, files.boundary.root, environ, guardian)
        session = Session(initialize_options(choice, version), time.monotonic)
        #: Its documents and requests.
        self.channel = DocumentChannel(session, choice.definition, files)
        self._life = self.channel.life  # guarded by its lock
        #: Its findings and their freshness.
        self.record = DiagnosticsRecord(
            self.channel, choice, files.boundary.root, self.announce.diagnostics
        )
        #: Documents that only checks of other files have opened. Guarded by the lock of the
        #: channel.
        self.visited: set[str] = set()
        #: Whether it knows its whole project. Guarded by the lock of the channel.
        self.index = IndexState(self.adapter.index)
        #: Whether it has ever sent an answer or a finding.
        self.was_of_use = False
        #: What is counted about it and its predecessors. Set by the pool.
        self.metrics = Metrics()
        #: Whether it has answered a search for references: for the first, it may read the project.
        self.has_searched = False
        self._initialize_timeout, self._callbacks = initialize_timeout, callbacks
        self._on_edit: Callable[[events.EditAsked], None] = self._refuse_edit
        #: The files that it has asked to be told about.
        self.watched = WatchRegistrations(
            choice.root, files.boundary.root, kinds=choice.definition.disk.told_as
        )
        #: The companion server that should answer its forwarded requests and timed out.
        self.late_companion: Server | None = None
        #: URIs of documents to open as they are on disk, once it is up.
        self.reopen: list[str] = []
        #: Completed when it has ended, one for each caller that stops it.
        self.exit_waiters: list[Waiter] = []
        #: Tells, once, that it is up or never will be.
        self._start_news = Broadcast()
        #: Tells of what it sends besides answers (`_on_event` and what that calls), and of its end.
        self.activity = Broadcast()

    def __repr__(self) -> str:
        return f"<Server {self.id} {self.state.value} root={self.root}>"

    # Its state

    @property
    def state(self) -> ProcessState:
        """The state of the process."""
        return self._life.state

    @property
    def end(self) -> End | None:
        """How it has ended; None if it has not."""
        return self._life.end

    @property
    def rights(self) -> Rights:
        """What its state allows."""
        return self._life.rights

    @property
    def takes_calls(self) -> bool:
        """Whether new calls get it, now or as soon as it has started."""
        return self._life.rights.takes_calls

    @property
    def is_over(self) -> bool:
        """Whether lspkit ends it, or it has ended."""
        return self._life.rights.is_over

    @property
    def is_up(self) -> bool:
        """Whether it can be asked now."""
        return self._life.rights.is_up

    @property
    def is_loaded(self) -> bool:
        """Whether it has loaded its project, so that its answers are complete."""
        life = self._life
        return life.rights.is_loaded or (
            life.state is ProcessState.OUTDATED and self.record.has_loaded(late=False)
        )

    @property
    def may_ask_again(self) -> bool:
        """Whether calls that it does not answer may ask again at once: another process answers."""
        end = self.end  # read once: it is set just before the state
        return not self.takes_calls if end is None else end.may_ask_again

    def raise_if_ended(self) -> None:
        """Raise why it has ended, if it has."""
        if self.end is not None:
            raise self.end.error.copy()

    def outdate(self) -> None:
        """It has read something that is outdated: another process replaces it."""
        with self.channel.lock:
            self._life.move("outdated")

    def begin_stop(self) -> None:
        """lspkit ends it from now on. One that has not been started ends at once."""
        with self.channel.lock:
            is_new = self.state is ProcessState.NEW
            self._life.move("stop")
        if is_new:
            self._end_with(ServerBrokenError(f"{self.id} was not started", server=self.id))

    # Coming up

    def start(self) -> None:
        """Start the process and send `initialize`. Blocks for some milliseconds."""
        with self.channel.lock:
            if not self._life.move("start"):
                return
        deadline = time.monotonic() + self._initialize_timeout
        self.announce.state(ServerState.STARTING)
        try:
            child = self.setup.launch()
        except (LaunchError, OSError) as problem:
            self.setup.clean_up()
            self._end_with(failure_errors.useless(self.choice, str(problem)))
            return
        try:
            if self._connect(child, deadline):
                return
            # The workspace was closed before there was a connection to close.
        except (OSError, RuntimeError, MemoryError) as problem:  # no descriptor or thread is left
            self._end_with(
                ServerBrokenError(f"{self.id} cannot be started: {problem}", server=self.id)
            )
        self.close(2.0)
        child.close(2.0)  # there may be no connection that has closed it

    def _connect(self, child: Child, initialize_by: float) -> bool:
        """Start to talk to the process. False if the workspace was closed meanwhile."""
        connection = Connection(
            self.id,
            child,
            self.channel.session,
            self.channel.lock,
            on_event=self._on_event,
            on_lost=self._on_lost,
            on_exit=self._on_exit,
            initialize_by=initialize_by,
        )
        with self.channel.lock:
            self.channel.connection = connection
            connection.post(self.channel.session.initialize(tag=None))
            is_wanted = not self._life.rights.is_over
        log.debug("%s started, pid %d", self.id, child.pid)
        if not connection.start():  # it was closed meanwhile, and no thread will say so
            self._end_with(ServerBrokenError(f"{self.id} was stopped", server=self.id))
        return is_wanted

    def close(self, timeout: float) -> None:
        """End its threads, its process tree, its descriptors and its temporary files."""
        self.setup.stop_sidecars()
        if self.channel.connection is not None:
            self.channel.connection.close(timeout)
        self.setup.clean_up()

    def start_sidecars(self, commands: Commands, restart: Restart) -> None:
        """Start its sidecars."""
        if self.is_up:
            self.setup.start_sidecars(commands, restart)
            if not self.is_up:  # another thread ends it meanwhile
                self.setup.stop_sidecars()

    def when_up(self) -> Waiter:
        """A waiter that completes as soon as the server is up, or never will be."""
        return self._start_news.next()

    @property
    def is_free(self) -> bool:
        """Whether it can be asked now without waiting for anything, and no other call minds."""
        connection = self.channel.connection
        return (
            self.is_up
            and self.is_loaded
            and not self.channel.queue.has_exclusive_calls
            and connection is not None
            and connection.has_room()
        )

    def _came_up(self) -> None:
        channel, definition = self.channel, self.choice.definition
        with channel.lock:
            if channel.connection is None or self._life.rights.is_over:
                return
            channel.documents = document_table(channel.session, definition, channel.in_use)
            channel.connection.post(*channel.session.initialized())
            self.reopen += channel.catch_up()
            self._life.move("initialized")
            self.record.loads()
        self._start_news.tell(over=True)
        self._callbacks.on_up(self)
        self.announce.state(ServerState.ACTIVE)
        log.debug("%s is up", self.id)

    def timed_out(self, method: str, waited: float, setting: str = "") -> RequestTimeoutError:
        """The error for a call that has timed out."""
        return failure_errors.late(
            self.id,
            method,
            waited,
            setting=setting,
            state=self._life.rights.word,
            progress=self.channel.session.progress.descriptions(),
            in_flight=tuple(
                pending.method for pending in list(self.channel.session.pending.values())
            ),
            stderr=self._tail(),
        )

    def give_up_if_stuck(self, pending: PendingRequest, since: float, patience: float) -> None:
        """End a server that is not expected to answer this request any more.

        Not before the whole request timeout has passed, and not while it works: a server that loads
        a large project may read nothing for long.
        """
        connection = self.channel.connection
        # A caller starts to wait a moment after its request was sent.
        had_its_time = time.monotonic() - since >= 0.9 * patience
        if connection is None or self._life.rights.is_over or not had_its_time:
            return
        reason = connection.is_stuck(pending.posted, since)
        if reason and is_asleep(connection.child.pid):
            self._end_with(failure_errors.gone(self.id, reason, None, self._tail()))

    def give_up_blocked(self) -> None:
        """End a server that blocked itself. Its callers may start another one at once."""
        error = failure_errors.gone(self.id, BLOCKED, None, self._tail())
        self._end_with(error, blocked_itself=True)

    def take_edits(self, on_edit: Callable[[events.EditAsked], None] | None) -> None:
        """Pass edits that the server asks for to `on_edit` from now on; None refuses them."""
        with self.channel.lock:
            self._on_edit = on_edit or self._refuse_edit
            self.channel.session.takes_edits = on_edit is not None

    def edit_done(self, event: events.EditAsked, failure: str) -> None:
        """Tell the server the result of an edit that it asked for."""
        with self.channel.lock:
            if self.channel.connection is not None:
                self.channel.connection.post(self.channel.session.edit_done(event.id, failure))

    def _refuse_edit(self, event: events.EditAsked) -> None:
        self.edit_done(event, "nobody asked for it any more")

    # What the reader hands on

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Answered):
            event.tag.complete(event)  # the waiter that `DocumentChannel.enqueue` has given
            return
        match event:
            case events.Failed() if event.tag is not None:
                event.tag.complete(event)
            case events.Initialized():
                self._came_up()
            case events.Failed():
                why = f"it refused initialize: {event.message}"
                self._end_with(failure_errors.not_starting(self.choice, why))
            case events.DiagnosticsPublished():
                self.record.pushed(event.uri, event.version, event.items)
                self.activity.tell(event.uri)
            case events.ProgressBegan():
                self._work_began(event)
            case events.ProgressEnded():
                self._work_ended(event)
            case events.Notified():
                for request in self.adapter.forwarded(event.method, event.params):
                    self._callbacks.on_forward(self, request)
                self.activity.tell(self.record.noticed(event.method, params_of(event.params)))
            case events.EditAsked():
                self._on_edit(event)
            case events.RefreshAsked(method="workspace/diagnostic/refresh"):
                self._callbacks.on_refresh(self)
            case events.Registered():
                self._registered(event)
            case events.Unregistered():
                for registration in event.registrations:
                    self.watched.drop(registration.id)
            case events.MessageShown():
                log.debug("%s says: %s", self.id, event.text)
                if useless := self.record.logged(event.text):
                    self._end_with(failure_errors.useless(self.choice, useless))
                self.activity.tell()
            case events.BadMessage():
                log.debug("%s sent something unreadable: %s", self.id, event.reason)
            case events.Printed():
                log.debug("%s prints something that is not a message: %r", self.id, event.sample)

    def _work_began(self, event: events.ProgressBegan) -> None:
        now = time.monotonic()
        with self.channel.lock:
            self.channel.observations.began(event.token, event.title, now)
            self.index.began(event.token, event.title, now)
        self.announce.progress(event.title, done=False)
        self.activity.tell()

    def _work_ended(self, event: events.ProgressEnded) -> None:
        with self.channel.lock:
            self.record.loading.end_work()
            self.channel.observations.ended(event.token, event.title, time.monotonic())
            self.index.ended(event.token)
        self.announce.progress(event.title, done=True)
        self.activity.tell()

    def _registered(self, event: events.Registered) -> None:
        dropped = event.dropped + sum(map(self.watched.add, event.registrations))
        if dropped:
            self.record.overrun(dropped)
        if event.registrations:
            self._callbacks.on_watch(self)
            self.activity.tell()

    def _on_lost(self, reason: str) -> None:
        """The last event of the reader: the connection has ended."""
        connection = self.channel.connection
        try:
            status = connection.child.wait(0.1) if connection else None
        except OSError:  # no descriptor is left; callers must not wait for the status
            status = None
        silent = connection is not None and not connection.has_spoken
        never_up = silent and self.channel.session.state is State.INITIALIZING
        # A program that is no server may complain on either.
        words = self._tail() or (connection.printed if never_up and connection else "")
        self._end_with(failure_errors.ended(self.choice, reason, status, words, never_up=never_up))

    def _end_with(self, error: LspkitError, *, blocked_itself: bool = False) -> None:
        """It ends, or has ended. Only the first time counts."""
        state, was_up = self.state, self.is_up
        end = End(
            error=error,
            was_up=was_up,
            was_of_use=self.was_of_use,
            blocked_itself=blocked_itself,
            may_ask_again=not self.takes_calls,
        )
        waiters = self._callbacks.on_end(self, end)
        if waiters is None or self.end is None:
            return
        is_unexpected = state is not ProcessState.STOPPING
        if self.channel.connection is not None and is_unexpected:
            self.channel.connection.child.kill()
        lost = ConnectionLost(self.end.error)
        for waiter in waiters:
            waiter.complete(lost)
        self._start_news.tell(over=True)
        self.activity.tell(over=True)
        if is_unexpected:
            self.announce.state(ServerState.BROKEN)

    def _on_exit(self) -> None:
        for waiter in self.exit_waiters:
            waiter.wake()

    def _tail(self) -> str:
        return self.channel.connection.stderr_tail() if self.channel.connection else ""

    def drop_after_fork(self) -> None:
        """In a forked child: drop the parent's server without touching it."""
        self.channel.drop_after_fork()
        self._start_news, self.activity = Broadcast(), Broadcast()
        self._life.move("stop")
        self.setup.drop_after_fork()
        if self.channel.connection is not None:
            self.channel.connection.drop_after_fork()
            self.channel.connection = None
