"""The servers of one workspace: started on the first file that needs them, one per id and root.

Any number of callers may want a server at once; one start serves them all. It runs in a thread of
its own, so a caller that gives up does not affect the others. A server that fails is started again
by the first call after a growing delay (`backoff.py`); until then its calls fail at once. A missing
program is looked for again when `PATH` changes, and every few seconds.

Which servers a file gets is decided in `server_choices.py`.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from lspkit.config import Config
from lspkit.errors import LspkitError, NoServerError, ServerBrokenError, ServerUnavailableError
from lspkit.protocol.registrations import DELETED, FileEvent
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.files import File, Files
from lspkit.runtime.pool import slot as slots
from lspkit.runtime.pool.disk_events import DiskEvents, is_hidden_by_text
from lspkit.runtime.pool.server_choices import ServerChoices
from lspkit.runtime.pool.slot import LOOK_AGAIN, Key, Slot, Step
from lspkit.runtime.process.backoff import FailureRecord, restart_of
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.document_channel import DocumentText, PendingTexts
from lspkit.runtime.server.process_state import End, ProcessState
from lspkit.runtime.server.server import Callbacks, Server
from lspkit.runtime.server.shutdown import stop
from lspkit.servers.adapters.adapter import ForwardedRequest
from lspkit.servers.restriction.trust_profile import ALL, Permits
from lspkit.servers.selection.choose import Choice, Kinds
from lspkit.servers.sidecar_commands import commands_of
from lspkit.servers.status import ServerState, WorkspaceEvent

log = logging.getLogger("lspkit.runtime")
#: Of how many kinds of files the servers are remembered.
MOST_KINDS = 10_000
#: Endings of files that may be a configuration, or part of it.
DATA = (".json", ".jsonc", ".toml", ".ini", ".cfg")
#: Seconds without a change before a start, and the longest delay of a start.
STILL, LATEST = 0.3, 10.0
#: A process that is outdated after less than this many seconds is short-lived.
BRIEF = 2.0
#: Seconds for which a replaced server may still answer, and how often that is checked.
LAST_ANSWERS, LOOK_EVERY = 10.0, 0.05


class Assignment(msgspec.Struct, frozen=True):
    """The servers of a kind of files.

    Valid until a time, and, if one is missing, until `PATH` changes.
    """

    until: float
    path_variable: str
    servers: list[Server]
    failures: list[LspkitError]

    def holds(self, path: str, now: float, environ: Mapping[str, str]) -> bool:
        """Whether it is still valid for the file at this path."""
        for server in self.servers:
            if not (server.takes_calls and server.channel.admits(path)):
                return False
        is_current = not self.failures or environ.get("PATH", "") == self.path_variable
        return is_current and now < self.until


class Pool:
    """All servers of a workspace."""

    def __init__(
        self,
        config: Config,
        files: Files,
        threads: ThreadCache,
        version: str,
        *,
        on_event: Callable[[WorkspaceEvent], None],
        on_refresh: Callable[[Server], None],
        on_forward: Callable[[Server, ForwardedRequest], None],
        permits: Permits = lambda _: ALL,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        dice: Callable[[], float] = lambda: random.uniform(-1, 1),
    ) -> None:
        self._choices = ServerChoices(config, permits, files, environ, clock)
        self._files, self._threads = files, threads
        #: Stops the servers that leave their slot.
        self.retirement = Retirement(
            threads, lambda: self.config.timing.idle_shutdown_ms / 1000, self.retire
        )
        self._version = version
        #: The variables of the user.
        self._environ = environ
        self._on_event, self._on_refresh, self._on_forward = on_event, on_refresh, on_forward
        self.clock, self._dice = clock, dice
        #: Tells the servers what changes on disk.
        self.disk_events = DiskEvents(
            files, self._note_for_choice, self._note_for_server, threads.do
        )
        #: Starts the servers, and programs beside them.
        self._guardian = Guardian()
        #: Guards the tables below. No I/O while it is held.
        self._lock = threading.Lock()
        self._slots: dict[Key, Slot] = {}
        self._kinds = Kinds(config)
        #: By kind of file; they may no longer be valid. Readers need no lock.
        self._assignments: dict[tuple[str, str], Assignment] = {}
        #: How often servers had to be chosen again.
        self.turnover = 0
        #: Open documents of servers that left, for the next server of their key.
        self._kept: dict[Key, PendingTexts] = {}
        self._closed = False

    @property
    def config(self) -> Config:
        """The configuration; it is replaced as a whole."""
        return self._choices.config

    @property
    def permits(self) -> Permits:
        """What each root may do; it is replaced as a whole."""
        return self._choices.permits

    def request_timeout(self, server: Server) -> float:
        """Seconds that one request to a server may take."""
        own = server.choice.config.timing.request_timeout_ms
        return (self.config.timing.request_timeout_ms if own is None else own) / 1000

    def servers(self) -> list[Server]:
        """All servers that run, start or have failed."""
        return [slot.server for slot in list(self._slots.values())]  # copied in one step

    def in_use_by(self, call: Call, key: Key | None = None) -> list[Server]:
        """All usable servers, or the one of a key: they are kept until the call ends."""
        with self._lock:
            slots_of_key = [slot for at, slot in self._slots.items() if key in (None, at)]
            servers = [slot.server for slot in slots_of_key if slot.server.takes_calls]
            for server in servers:
                call.use(server.channel)
        return servers

    def slot(self, server: Server) -> Slot:
        """The slot of a server or its successor; an empty one if there is none."""
        return self._slots.get((server.id, server.root)) or Slot(server, 0.0)

    # Which servers

    def servers_for(
        self, path: str, call: Call, file: File | None = None
    ) -> tuple[list[Server], list[LspkitError]]:
        """The servers of a file, started if needed, and why others are missing.

        They may not be ready yet. A call keeps them until it ends. Raises if the file has none,
        and, before anything is started, if `file`, which is to be read, is no text.
        """
        kind = self._kinds.kind_of(path)
        known = self._known(path, kind)
        if known is None:
            # The parts of a call wait for the one that chooses.
            call.once((kind, self.turnover), lambda: self._assign(path, kind, call, file))
            known = self._known(path, kind)
        for server in () if known is None else known.servers:
            call.use(server.channel)
        # `retire` first drops this assignment, and then looks for users.
        if known is None or self._assignments.get(kind) is not known:
            known = self._assign(path, kind, call, file)
        if not known.servers:
            raise known.failures[0].copy()
        return known.servers, known.failures

    def _known(self, path: str, kind: tuple[str, str]) -> Assignment | None:
        known = self._assignments.get(kind)
        return known if known and known.holds(path, self.clock(), self._environ) else None

    def _assign(
        self, path: str, kind: tuple[str, str], call: Call, file: File | None
    ) -> Assignment:
        """Choose and start the servers of a file."""
        now, variable, turnover = self.clock(), self._environ.get("PATH", ""), self.turnover
        servers, failures = self._start_for(path, call, file)
        assignment = Assignment(now + LOOK_AGAIN, variable, servers, failures)
        if all(isinstance(why, NoServerError | ServerUnavailableError) for why in failures):
            with self._lock:
                if len(self._assignments) >= MOST_KINDS:
                    self._assignments.clear()
                if turnover == self.turnover:  # else a server or the choice has changed meanwhile
                    self._assignments[kind] = assignment
        return assignment

    def _start_for(
        self, path: str, call: Call, file: File | None
    ) -> tuple[list[Server], list[LspkitError]]:
        servers, failures = list[Server](), list[LspkitError]()
        try:
            choices = self._choices.for_file(path)
        except NoServerError as problem:
            return [], [problem]
        if file is not None and not all(map(self._is_running, choices)):
            self._files.read(file)
        for choice in choices:
            try:
                self._choices.require_path(choice, path)
                servers.append(self.server_of(choice, call))
            except LspkitError as problem:
                failures.append(problem)
        return servers, failures

    def _is_running(self, choice: Choice) -> bool:
        slot = self._slots.get((choice.id, choice.root))
        return slot is not None and slot.server.takes_calls

    def folders(self) -> list[str]:
        """The folders in which programs are looked for."""
        return self._choices.folders()

    def expected(self, path: str) -> dict[Key, Server | None]:
        """The servers that a file has or would get, by key. Starts nothing."""
        known = self._known(path, self._kinds.kind_of(path))
        if known is not None:
            return {(server.id, server.root): server for server in known.servers}
        try:
            choices = self._choices.for_file(path)
        except NoServerError:
            return {}
        keys = [
            (choice.id, choice.root)
            for choice in choices
            if choice.argv and not choice.held_back and choice.adapter.takes_path(path)
        ]
        slots_by_key = {key: self._slots.get(key) for key in keys}
        return {key: None if slot is None else slot.server for key, slot in slots_by_key.items()}

    # Starting

    def server_of(self, choice: Choice, call: Call) -> Server:
        """The server for a choice, started if needed. The call keeps it until it ends."""
        self._choices.require_program(choice)
        key = (choice.id, choice.root)
        with self._lock:
            slot = self._take_slot(key, choice)
            slot.why = choice.why
            call.use(slot.server.channel)
        # Also for an existing server: the thread that added it may not have got here yet.
        server = slot.server
        is_new = server.state is ProcessState.NEW
        if is_new and not self._threads.do(lambda: self._start(server)):
            message = f"{choice.id} cannot be started: this process cannot start another thread"
            raise ServerBrokenError(message, server=choice.id)
        return server

    def _start(self, server: Server) -> None:
        self.disk_events.begin(server)
        slot = self.slot(server)
        if slot.restless and server.state is ProcessState.NEW:
            wait_until_still(slot, self._threads.pause)
        self._launch(server)

    def _launch(self, server: Server) -> None:
        slot = self.slot(server)
        if slot.server is not server:
            server.begin_stop()  # it was replaced before its start
        elif server.state is ProcessState.NEW:
            slot.started_at = self.clock()
        show_overlays(server, self._files, self._choices.for_file)
        server.record.inputs.read()
        server.start()
        if not server.takes_calls:
            self.disk_events.end(server)  # it may have been retired before it was watched
        elif not server.record.inputs.environments.are_current():
            self.renew(server)  # its settings are from before that

    def _take_slot(self, key: Key, choice: Choice) -> Slot:
        """The slot for a key, perhaps with a new server; raises if it is too early for that.

        The lock is held.
        """
        now, old = self.clock(), self._slots.get(key)
        step = slots.next_step(old, choice, now)
        if old is not None and step is Step.USE:
            return old
        if self._closed:
            raise ServerBrokenError(f"{choice.id} is not started: closing", server=choice.id)
        fresh = self._new(choice)
        if old is None:
            slot = self._slots[key] = Slot(fresh, now)
        else:
            fresh.channel.pending_texts = texts_of(old.server)
            if step is Step.REPLACE:
                old.server.outdate()
                self.retirement.add(old.server)
                self.retirement.stop_when_unused(old.server, self.disk_events.end)
            slot = old
            slot.restless = step is Step.REPLACE and now - old.started_at < BRIEF
            slot.server, slot.started_at = fresh, now
        fresh.channel.pending_texts += self._kept.pop(key, [])
        fresh.metrics = slot.metrics
        slot.metrics.starts += 1
        return slot

    def _new(self, choice: Choice) -> Server:
        server = Server(
            choice,
            self._files,
            Callbacks(
                on_event=self._on_event,
                on_up=self._on_up,
                on_end=self._end,
                on_watch=self.disk_events.registered,
                on_refresh=self._on_refresh,
                on_forward=self._on_forward,
            ),
            guardian=self._guardian,
            initialize_timeout=slots.initialize_timeout(choice, self.config),
            version=self._version,
            environ=self._environ,
        )
        server.channel.admits = lambda path: self._choices.admits(choice, path)
        return server

    # What the disk says

    def _note_for_choice(self, events: list[FileEvent]) -> None:
        """Files have changed, perhaps some that servers are chosen by. For any thread."""
        if self._choices.depend_on(events):
            self._choose_again()

    def _note_for_server(self, server: Server, events: list[FileEvent]) -> None:
        """Files have changed, perhaps some that this server reads only once. For any thread."""
        if note_changes(server, self.slot(server), events):
            self._choose_again()

    def _choose_again(self) -> None:
        with self._lock:
            self._drop_assignments()
            for slot in self._slots.values():
                slot.why = ""  # perhaps another server takes its place

    def _drop_assignments(self) -> None:
        """A server leaves, or an input of the choice has changed. The lock is held.

        Assignments that are being found now do not count either.
        """
        self._assignments.clear()
        self.turnover += 1

    def renew(self, server: Server) -> None:
        """Have a new process replace a server, as soon as one is needed."""
        server.outdate()
        self._choose_again()

    # What becomes of them

    def _on_up(self, server: Server) -> None:
        """A server has come up. Called by its reader."""
        self.disk_events.registered(server)
        programs = commands_of(server.choice, self.folders())
        server.start_sidecars(programs, restart_of(self.config.restart))
        if server.reopen:
            self._threads.do(lambda: reopen(server, self._files))
        self.retirement.stop_when_idle(server)

    def _end(self, server: Server, end: End) -> list[Waiter] | None:
        """A server ends, or did not start. The next call that needs one starts it, when it may.

        Before any caller knows, its slot does: the next call must see that a restart has to wait.
        """
        hint = failure_errors.hint_of(server.choice) if slots.ended_at_start(end) else None
        with self._lock:
            slot = self._slots.get((server.id, server.root))
            is_failure = not (
                self._closed or slot is None or slot.server is not server or server.is_over
            )
            if slot is not None and is_failure:
                now, program = self.clock(), server.choice.argv[0]
                restart = restart_of(self.config.restart)
                end = slots.record_end(slot, end, restart, hint, now=now, dice=self._dice())
                if isinstance(end.error, ServerUnavailableError):
                    self._choices.skip(program, now)
            waiters = server.channel.end(end)
        if is_failure:
            log.debug("%s failed: %s", server.id, end.error)
            self.retirement.do(lambda: self._clear_away(server))
        return waiters

    def _clear_away(self, server: Server) -> None:
        self.disk_events.end(server)
        server.close(2.0)

    def succeeded(self, server: Server) -> None:
        """The server has answered: forget earlier failures."""
        if self.slot(server).record.attempts:
            with self._lock:
                slot = self.slot(server)
                if slot.server is server and server.end is None:  # else they are the present ones
                    slot.record = slot.record.after_success()
        server.was_of_use = True

    # The end

    def retire(self, server: Server, unless: Callable[[Server], bool] = lambda _: False) -> bool:
        """Remove a server from its slot; the caller stops it."""
        with self._lock:
            self._drop_assignments()
            if unless(server):
                return False
            slot = self._slots.get((server.id, server.root))
            if slot is not None and slot.server is server:
                self.retirement.add(server)
                del self._slots[server.id, server.root]
                self._kept[server.id, server.root] = texts_of(server)
        self.disk_events.end(server)
        server.announce.state(ServerState.IDLE)
        return True

    def reconfigure(self, config: Config, permits: Permits) -> list[Server]:
        """Use a new configuration and forget all failures; returns the servers to stop."""
        with self._lock:
            self._choices.reconfigure(config, permits)
            self._drop_assignments()
            self._kinds = Kinds(config)
            for slot in self._slots.values():
                slot.record = FailureRecord()
            servers = [slot.server for slot in self._slots.values()]
        where = self._files.boundary.root, self.folders()
        changed = [
            server for server in servers if not slots.starts_alike(server, config, permits, *where)
        ]
        for server in changed:
            self.retire(server)
        return changed

    def shut(self) -> list[Server]:
        """Start nothing any more; returns the servers to stop."""
        with self._lock:
            self._closed = True
            return [*(slot.server for slot in self._slots.values()), *self.retirement.servers()]

    def release(self) -> None:
        """Everything is stopped: end the watchers and the guardian."""
        self.disk_events.close()
        self._guardian.close()

    def drop_after_fork(self) -> None:
        """In a forked child: drop everything."""
        self._lock = threading.Lock()
        self._closed = True
        self.disk_events.drop_after_fork()
        self.retirement.drop_after_fork()
        for slot in self._slots.values():
            slot.server.drop_after_fork()
        self._guardian.drop_after_fork()


def note_changes(server: Server, slot: Slot, events: list[FileEvent]) -> bool:
    """Files have changed. Returns whether a new process must replace the server from now on.

    It reads some files only once, and does not notice others. One that is not started yet will read
    them as they are. For any thread.
    """
    if not server.takes_calls:
        return False
    inputs, definition = server.record.inputs, server.choice.definition
    if any(inputs.hold(event.path, event.kind) for event in events):
        slot.changed_at = time.monotonic()
        server.record.reread()
    if any(event.path.endswith(DATA) for event in events):
        server.record.configuration.forget()
        error = server.record.configuration.error()
        if error is not None and any(error.may_be_about(event.path) for event in events):
            server.outdate()
    may_differ = inputs.environments.may_be_changed_by([event.path for event in events])
    if may_differ and not inputs.environments.are_current():
        slot.changed_at = time.monotonic()
        server.outdate()
    with server.channel.lock:
        server.index.changed(
            event.path
            for event in events
            if event.kind != DELETED and definition.language_of(os.path.basename(event.path))
        )
    cannot_refresh = definition.disk.refresh is None
    if cannot_refresh and any(is_hidden_by_text(server, event) for event in events):
        server.outdate()
    return not server.takes_calls


def wait_until_still(slot: Slot, pause: Callable[[float], bool]) -> None:
    """Wait until the files of a slot's server have not changed for a moment.

    While files keep changing, as during an installation, a process would be outdated before it can
    answer. So the successor of a short-lived process is delayed; callers wait for that as for any
    start. `pause` waits until a time; False if that is not worth waiting for any more.
    """
    latest = time.monotonic() + LATEST
    while time.monotonic() < (when := min(slot.changed_at + STILL, latest)):
        if not pause(when):
            return


# The open documents of one process are passed on to the next. An overlay must be sent before any
# request, so it is kept or looked up before the next process starts. Other documents are opened
# again from disk, which the server reads anyway, when there is time.


def texts_of(server: Server) -> PendingTexts:
    """The texts for the next process, without those of a single call: that sends its text again."""
    with server.channel.lock:
        in_calls = server.channel.queue.taken()
        texts: PendingTexts = []
        for document in server.channel.documents:
            uri = document.key.uri
            is_synced = document.stamp is None and uri not in in_calls
            texts.append((uri, DocumentText(document.text) if is_synced else None))
        return texts + server.channel.pending_texts


def show_overlays(server: Server, files: Files, choices: Callable[[str], list[Choice]]) -> None:
    """Send the overlays of its files to a server that is about to start.

    Documents of the previous process that may no longer be shown are dropped.
    """
    for path in files.overlays.paths():
        try:
            keys = [(choice.id, choice.root) for choice in choices(path)]
            if (server.id, server.root) in keys:
                server.channel.tell(files.locate(path), None)
        except LspkitError:
            continue  # no server serves it any more
    channel = server.channel
    refused = {
        uri for uri, _ in channel.pending_texts if not channel.admits(uri_to_path(uri) or "")
    }
    with channel.lock:
        channel.pending_texts = [
            (uri, text) for uri, text in channel.pending_texts if uri not in refused
        ]


def reopen(server: Server, files: Files) -> None:
    """Open again what was open before the restart, as it is on disk now."""
    for uri in server.reopen:
        path = uri_to_path(uri)
        try:
            # A check that is under way has opened it already, perhaps with its own text.
            if path is not None and uri not in server.channel.queue.taken():
                server.channel.sync(files.locate(path), None)
        except LspkitError:
            continue  # gone, or no longer allowed


class Retirement:
    """Stops servers that are idle, and those that were replaced. For any thread.

    A server that was not used for long is stopped; the next call starts it again. A server that was
    replaced is stopped as soon as no call waits for it. A stop may take seconds, so it runs in a
    thread of its own.
    """

    def __init__(
        self,
        threads: ThreadCache,
        patience: Callable[[], float],
        retire: Callable[[Server, Callable[[Server], bool]], bool],
    ) -> None:
        #: Those that have left the pool, and perhaps still run. Adding and removing are atomic.
        self._servers: set[Server] = set()
        self._threads = threads
        #: Returns seconds; 0 means forever. The configuration may change until the next check.
        self._patience = patience
        #: Removes a server from the pool, unless the second function says otherwise: then it is
        #: False.
        self._retire = retire

    def add(self, server: Server) -> None:
        """The caller stops it; otherwise it is stopped when the workspace closes."""
        self._servers.add(server)

    def servers(self) -> list[Server]:
        """The servers that perhaps still run."""
        return list(self._servers)

    def stop(self, servers: Sequence[Server]) -> None:
        """End these servers, however long it takes."""
        stop(servers)
        for server in servers:
            connection = server.channel.connection
            if connection is None or connection.child.status() is not None:
                self._servers.discard(server)

    def stop_when_idle(self, server: Server) -> None:
        """A server is up: stop it when it was not used for long.

        The calls that waited for it have not asked it yet.
        """
        server.channel.last_used = time.monotonic()
        self._threads.do(partial(self._stop_when_idle, server))

    def _stop_when_idle(self, server: Server) -> None:
        while (patience := self._patience()) and not server.is_over:
            now = time.monotonic()

            def is_used(server: Server, since: float = now - patience) -> bool:
                return _is_needed(server) or since < server.channel.last_used

            if not is_used(server) and self._retire(server, is_used):
                self.stop([server])
                return
            # A server that is needed now counts as used until now.
            last_used = now if _is_needed(server) else server.channel.last_used
            if not self._threads.pause(last_used + patience):
                return

    def stop_when_unused(self, server: Server, on_end: Callable[[Server], None]) -> None:
        """Stop a replaced server when no call needs it any more. Returns at once.

        Where there is no thread for that, it is stopped when the workspace closes.
        """

        def wait_and_stop() -> None:
            latest = time.monotonic() + LAST_ANSWERS
            while _is_needed(server) and time.monotonic() < latest:
                if not self._threads.pause(time.monotonic() + LOOK_EVERY):
                    return
            on_end(server)
            self.stop([server])

        self._threads.do(wait_and_stop)

    def do(self, job: Callable[[], object]) -> bool:
        """Run a job that may take long in another thread. False if it cannot run."""
        return self._threads.do(job)

    def drop_after_fork(self) -> None:
        """In a forked child: the servers are the parent's."""
        for server in self._servers:
            server.drop_after_fork()


def _is_needed(server: Server) -> bool:
    """Whether a call waits for its answer, for a push, or in its queue."""
    channel = server.channel
    return bool(channel.users or channel.session.pending or channel.queue.taken())
