"""Stopping servers that are idle, and servers that were replaced.

A server that was not used for long is stopped; the next call starts it again. A server that was
replaced is stopped as soon as no call waits for it. A stop may take seconds, so it runs in a thread
of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lspkit.runtime.concurrency.thread_cache import ThreadCache
from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.server.server import Server
from lspkit.runtime.server.shutdown import stop

#: Seconds for which a replaced server may still answer, and how often that is checked.
LAST_ANSWERS, LOOK_EVERY = 10.0, 0.05
#: Seconds after which a stop is tried again for which there was no thread.
TRY_AGAIN = 1.0


#: Removes a server from the pool, unless the second function says otherwise: then it is False.
Retire = Callable[[Server, Callable[[Server], bool]], bool]


class IdleServers:
    """Checks each server when it could have been idle for long enough."""

    def __init__(
        self, timers: Timers, leaving: Retirement, patience: Callable[[], float], retire: Retire
    ) -> None:
        self._timers = timers
        self._retirement = leaving
        #: Returns seconds; 0 means forever. The configuration may change until the next check.
        self._patience = patience
        self._retire = retire

    def begin(self, server: Server) -> None:
        """A server is up. The calls that waited for it have not asked it yet."""
        server.channel.last_used = time.monotonic()
        self._look(server)

    def _look(self, server: Server) -> None:
        """Stop a server that was not used for long; else check again when that is possible."""
        patience = self._patience()
        if not patience or server.is_over:
            return
        now = time.monotonic()

        def used(server: Server) -> bool:
            return _is_needed(server) or now < server.channel.last_used + patience

        if used(server) or not self._retire(server, used):
            # A server that is needed now counts as used until now.
            since = now if _is_needed(server) else server.channel.last_used
            self._timers.at(since + patience, lambda: self._look(server))
            return
        self._do(lambda: self._retirement.stop([server]))

    def _do(self, job: Callable[[], object]) -> None:
        """Do a job that may take long, as soon as there is a thread for it."""
        if not self._retirement.do(job):
            self._timers.at(time.monotonic() + TRY_AGAIN, lambda: self._do(job))

    def stop_when_unused(self, server: Server, on_end: Callable[[Server], None]) -> None:
        """Stop a replaced server when no call needs it any more. Returns at once."""
        latest = time.monotonic() + LAST_ANSWERS

        def look() -> None:
            if _is_needed(server) and time.monotonic() < latest:
                self._timers.at(time.monotonic() + LOOK_EVERY, look)
            else:
                self._do(end)

        def end() -> None:
            on_end(server)
            self._retirement.stop([server])

        self._timers.at(time.monotonic() + LOOK_EVERY, look)


def _is_needed(server: Server) -> bool:
    """Whether a call waits for its answer, for a push, or in its queue."""
    return bool(
        server.channel.users or server.channel.session.pending or server.channel.queue.taken()
    )


class Retirement:
    """Servers that have left the pool, and perhaps still run. For any thread."""

    def __init__(self, threads: ThreadCache) -> None:
        #: Adding and removing are atomic.
        self._servers: set[Server] = set()
        self._threads = threads

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
            if has_ended(server):
                self._servers.discard(server)

    def do(self, job: Callable[[], object]) -> bool:
        """Run a job that may take long in another thread. False if it cannot run."""
        return self._threads.do(job)

    def drop_after_fork(self) -> None:
        """In a forked child: the servers are the parent's."""
        for server in self._servers:
            server.drop_after_fork()


def has_ended(server: Server) -> bool:
    """Whether its process has ended."""
    return server.channel.connection is None or server.channel.connection.child.status() is not None
