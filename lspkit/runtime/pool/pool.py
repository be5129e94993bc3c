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
from collections.abc import Callable, Mapping

from lspkit.config import Config
from lspkit.errors import LspkitError, NoServerError, ServerBrokenError, ServerUnavailableError
from lspkit.protocol.registrations import FileEvent
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.files import File, Files
from lspkit.runtime.pool import document_handover
from lspkit.runtime.pool import slot as slots
from lspkit.runtime.pool.assignment_cache import Assignment, AssignmentCache
from lspkit.runtime.pool.changed_inputs import note_changes
from lspkit.runtime.pool.disk_events import DiskEvents
from lspkit.runtime.pool.restart_debounce import BRIEF, wait_until_still
from lspkit.runtime.pool.retirement import IdleServers, Retirement
from lspkit.runtime.pool.server_choices import ServerChoices
from lspkit.runtime.pool.slot import LOOK_AGAIN, Key, Slot, Step
from lspkit.runtime.process.backoff import FailureRecord, restart_of
from lspkit.runtime.process.guardian import Guardian
from lspkit.runtime.server import failure_errors
from lspkit.runtime.server.document_text import Untold
from lspkit.runtime.server.process_state import End, ProcessState
from lspkit.runtime.server.server import Callbacks, Server
from lspkit.servers.adapters.adapter import ForwardedRequest
from lspkit.servers.restriction.trust_profile import ALL, Permits
from lspkit.servers.selection.choose import Choice
from lspkit.servers.sidecar_commands import beside
from lspkit.servers.status import ServerState, WorkspaceEvent

log = logging.getLogger("lspkit.runtime")


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
        # Its imports on first use happen now, while descriptors are available.
        #: Which servers files have. Changed by the pool only.
        self.assignments = AssignmentCache(config, environ)
        self._files, self._threads = files, threads
        #: Servers that have left their slot, and perhaps still run.
        self.retirement = Retirement(threads)
        self._idle = IdleServers(
            threads,
            self.retirement,
            lambda: self.config.timing.idle_shutdown_ms / 1000,
            self.retire,
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
        #: Open documents of servers that left, for the next server of their key.
        self._kept: dict[Key, Untold] = {}
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
        now = self.clock()
        known = self.assignments.known.get(path)
        if known is None or not known.holds(now, self._environ):
            with self._lock:
                known = self.assignments.like_another(path, now)
        if known is not None and known.admits(path):
            if not known.servers:
                raise known.failures[0].copy()
            for one in known.servers:
                call.use(one.channel)
            # `retire` first drops this assignment, and then looks for users.
            if self.assignments.known.get(path) is known:
                return known.servers, known.failures
        variable, turnover = self._environ.get("PATH", ""), self.assignments.turnover
        servers, failures = self._start_for(path, call, file)
        if all(isinstance(one, NoServerError | ServerUnavailableError) for one in failures):
            serving = Assignment(now + LOOK_AGAIN, variable, servers, failures)
            with self._lock:
                self.assignments.keep(path, serving, turnover)
        if not servers:
            raise failures[0]
        return servers, failures

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
        known = self.assignments.known.get(path)
        if known is not None and known.holds(self.clock(), self._environ) and known.admits(path):
            return {(one.id, one.root): one for one in known.servers}
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
        document_handover.show_overlays(server, self._files, self._choices.for_file)
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
            fresh.channel.untold = document_handover.texts_of(old.server)
            if step is Step.REPLACE:
                old.server.outdate()
                self.retirement.add(old.server)
                self._idle.stop_when_unused(old.server, self.disk_events.end)
            slot = old
            slot.restless = step is Step.REPLACE and now - old.started_at < BRIEF
            slot.server, slot.started_at = fresh, now
        fresh.channel.untold += self._kept.pop(key, [])
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
            self.assignments.choose_again()
            for slot in self._slots.values():
                slot.why = ""  # perhaps another server takes its place

    def renew(self, server: Server) -> None:
        """Have a new process replace a server, as soon as one is needed."""
        server.outdate()
        self._choose_again()

    # What becomes of them

    def _on_up(self, server: Server) -> None:
        """A server has come up. Called by its reader."""
        self.disk_events.registered(server)
        programs = beside(server.choice, self.folders())
        server.start_sidecars(programs, restart_of(self.config.restart))
        if server.reopen:
            self._threads.do(lambda: document_handover.reopen(server, self._files))
        self._idle.begin(server)

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
            self.assignments.choose_again()
            if unless(server):
                return False
            slot = self._slots.get((server.id, server.root))
            if slot is not None and slot.server is server:
                self.retirement.add(server)
                del self._slots[server.id, server.root]
                self._kept[server.id, server.root] = document_handover.texts_of(server)
        self.disk_events.end(server)
        server.announce.state(ServerState.IDLE)
        return True

    def reconfigure(self, config: Config, permits: Permits) -> list[Server]:
        """Use a new configuration and forget all failures; returns the servers to stop."""
        with self._lock:
            self._choices.reconfigure(config, permits)
            self.assignments.choose_again(config)
            for slot in self._slots.values():
                slot.record = FailureRecord()
            servers = [slot.server for slot in self._slots.values()]
        where = self._files.boundary.root, self.folders()
        changed = [one for one in servers if not slots.starts_alike(one, config, permits, *where)]
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
