"""The servers of one workspace: started on the first file that needs them, one per id and root.

Any number of callers may want the same server at once; one start serves them all, and it runs on a
worker, so that a caller who gives up takes nothing from the others. A server that fails is started
again with growing patience (`backoff.py`); until then its callers are told at once.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable

from lspkit.config import Config
from lspkit.errors import LspkitError, NoServer, ServerBroken, ServerUnavailable
from lspkit.runtime import launch
from lspkit.runtime.backoff import Record, Restart, after_failure
from lspkit.runtime.counting import Counts
from lspkit.runtime.files import Files
from lspkit.runtime.server import Server
from lspkit.runtime.workers import Workers
from lspkit.servers import Choice, choose, root_of
from lspkit.servers.programs import search_folders

Key = tuple[str, str]

#: Seconds after which programs and markers are looked for again: they come and go.
LOOK_AGAIN = 5.0


class Pool:
    """All servers of a workspace."""

    def __init__(
        self,
        config: Config,
        files: Files,
        workers: Workers,
        version: str,
        on_change: Callable[[], None],
    ) -> None:
        self._config = config
        self._files = files
        self._workers = workers
        self._version = version
        self._on_change = on_change
        self._restart = Restart()
        #: Guards the tables below. No I/O while it is held.
        self._lock = threading.Lock()
        self._servers: dict[Key, Server] = {}
        self._records: dict[Key, Record] = {}
        self._counts: dict[Key, Counts] = {}
        self._started_at: dict[Key, float] = {}
        #: Path: until when to take it for granted, and its servers.
        self._serving: dict[str, tuple[float, list[Server]]] = {}
        #: Whether the guardian is kept for this pool.
        self._warm = False
        self._closed = False

    def servers(self) -> list[Server]:
        """All that run, start or have failed."""
        with self._lock:
            return list(self._servers.values())

    def servers_for(self, path: str) -> list[Server]:
        """The servers of a file, started if need be; they may not be ready yet."""
        now = time.monotonic()
        known = self._serving.get(path)
        if known is not None and now < known[0] and not any(one.failure for one in known[1]):
            return known[1]
        chosen = self._choices(path)
        servers: list[Server] = []
        failures: list[LspkitError] = []
        for choice, root in chosen:
            try:
                servers.append(self._server(choice, root))
            except LspkitError as problem:
                failures.append(problem)
        if not servers:
            raise failures[0]
        if not failures:
            with self._lock:
                if len(self._serving) > 10_000:
                    self._serving.clear()
                self._serving[path] = (now + LOOK_AGAIN, servers)
        return servers

    def _choices(self, path: str) -> list[tuple[Choice, str]]:
        """Which servers, each with its root."""
        name = os.path.basename(path)
        if not self._config.enabled:
            raise NoServer("LSP disabled by configuration", extension=_extension(name))
        workspace = self._files.boundary.root
        choices = choose(path, workspace, self._config, search_folders(workspace))
        if not choices:
            extension = _extension(name)
            raise NoServer(f"no server is defined for {extension} files", extension=extension)
        return [(one, root_of(path, one.definition, workspace)) for one in choices]

    def _server(self, choice: Choice, root: str) -> Server:
        key = (choice.id, root)
        if not choice.argv:
            raise _missing(choice, search_folders(self._files.boundary.root))
        with self._lock:
            server = self._servers.get(key)
            if server is not None and server.failure is None:
                return server
            if self._closed:
                raise ServerBroken(f"{choice.id} is not started: closing", server=choice.id)
            if server is not None:
                self._may_restart(key, server)
            fresh = self._servers[key] = self._new(choice, root)
            self._started_at[key] = time.monotonic()
            self._counts.setdefault(key, Counts()).starts += 1
            warm, self._warm = self._warm, True
        if not warm:
            launch.retain()  # between two servers the guardian stays
        self._workers.do(fresh.start)
        return fresh

    def _new(self, choice: Choice, root: str) -> Server:
        timeout = (
            choice.config.timing.initialize_timeout_ms
            or choice.definition.initialize_timeout_ms
            or self._config.timing.initialize_timeout_ms
        )
        return Server(
            choice,
            root,
            self._files,
            initialize_timeout=timeout / 1000,
            version=self._version,
            on_change=self._on_change,
            on_gone=self._gone,
        )

    def _may_restart(self, key: Key, server: Server) -> None:
        """Raises while it is too early to start a failed server again. The lock is held."""
        failure, now = server.failure, time.monotonic()
        if isinstance(failure, ServerUnavailable):
            if now - self._started_at[key] < LOOK_AGAIN:
                raise failure
            return
        record = self._records.get(key, Record())
        if now < record.retry_at:
            wait = record.retry_at - now
            raise ServerBroken(
                f"{failure} (it failed {record.attempts} times; next try in {wait:.0f} s)",
                server=server.id,
                exit_status=getattr(failure, "exit_status", None),
                attempts=record.attempts,
                retry_in=wait,
                stderr=getattr(failure, "stderr", ""),
            ) from None

    def _gone(self, server: Server, error: LspkitError) -> None:
        """A server ended that nobody told to, or did not come up. Called by its own threads."""
        key, now = (server.id, server.root), time.monotonic()
        with self._lock:
            if self._closed or isinstance(error, ServerUnavailable):
                return
            self._counts[key].crashes += 1
            self._records[key] = after_failure(
                self._records.get(key, Record()),
                self._restart,
                ran_for=now - self._started_at.get(key, now),
                now=now,
                dice=random.uniform(-1, 1),
            )
        connection = server.connection
        if connection is not None:
            self._workers.do(lambda: connection.close(2.0))

    def succeeded(self, server: Server, seconds: float) -> None:
        """A request was answered: whatever was wrong is over."""
        key = (server.id, server.root)
        if self._records:
            with self._lock:
                self._records.pop(key, None)
        self._counts[key].answered(seconds)

    def counts(self, server: Server) -> Counts:
        """What was counted about a server."""
        return self._counts[server.id, server.root]

    def record(self, server: Server) -> Record:
        """What is remembered of a server's failures."""
        with self._lock:
            return self._records.get((server.id, server.root), Record())

    def shut(self) -> list[Server]:
        """Start nothing any more; returns what has to be stopped."""
        with self._lock:
            self._closed = True
            return list(self._servers.values())

    def release(self) -> None:
        """Everything is stopped: the guardian may go."""
        with self._lock:
            warm, self._warm = self._warm, False
        if warm:
            launch.release()

    def drop_after_fork(self) -> None:
        """In a forked child: let go of everything."""
        self._lock = threading.Lock()
        self._closed = True
        for server in list(self._servers.values()):
            server.drop_after_fork()


def _extension(name: str) -> str:
    return os.path.splitext(name)[1] or name


def _missing(choice: Choice, folders: list[str]) -> ServerUnavailable:
    commands = choice.definition.commands
    names = " or ".join(dict.fromkeys(command[0] for command in commands)) or "a command"
    install = next(iter(choice.definition.install.values()), "")
    hint = f"; get it with: {install}" if install else ""
    return ServerUnavailable(
        f"{choice.id} is not installed: {names} was not found{hint}",
        server=choice.id,
        looked_for=f"{names} in {os.pathsep.join(folders)}",
        install=install,
    )
