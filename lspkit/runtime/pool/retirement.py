"""Stopping servers that are idle, and servers that were replaced.

A server that was not used for long is stopped; the next call starts it again. A server that was
replaced is stopped as soon as no call waits for it. A stop may take seconds, so it runs in a thread
of its own.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.server.server import Server
from lspkit.runtime.server.shutdown import stop

#: Seconds for which a replaced server may still answer, and how often that is checked.
LAST_ANSWERS, LOOK_EVERY = 10.0, 0.05


#: Removes a server from the pool, unless the second function says otherwise: then it is False.
Retire = Callable[[Server, Callable[[Server], bool]], bool]


class IdleServers:
    """Checks each server when it could have been idle for long enough."""

    def __init__(
        self,
        threads: ThreadCache,
        leaving: Retirement,
        patience: Callable[[], float],
        retire: Retire,
    ) -> None:
        self._threads = threads
        self._retirement = leaving
        #: Returns seconds; 0 means forever. The configuration may change until the next check.
        self._patience = patience
        self._retire = retire

    def begin(self, server: Server) -> None:
        """A server is up. The calls that waited for it have not asked it yet."""
        server.channel.last_used = time.monotonic()
        self._threads.do(functools.partial(self._stop_when_idle, server))

    def _stop_when_idle(self, server: Server) -> None:
        """Stop a server as soon as it was not used for long."""
        while (patience := self._patience()) and not server.is_over:
            now = time.monotonic()

            def used(server: Server, since: float = now - patience) -> bool:
                return _is_needed(server) or since < server.channel.last_used

            if not used(server) and self._retire(server, used):
                self._retirement.stop([server])
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
            self._retirement.stop([server])

        self._threads.do(wait_and_stop)


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
