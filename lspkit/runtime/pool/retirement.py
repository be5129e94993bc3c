"""Stopping servers that are idle, and servers that were replaced.

A server that nobody has used for long is stopped; the next call starts it again. A server that was
replaced is stopped as soon as nobody waits for its answers. A stubborn one takes seconds to stop,
so threads of their own do it, and not those that start servers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from lspkit.runtime.concurrency.timers import Timers
from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.server.server import Server
from lspkit.runtime.server.shutdown import stop

#: Seconds for which a server that was replaced may still answer, and how often to look.
LAST_ANSWERS, LOOK_EVERY = 10.0, 0.05


class Retire(Protocol):
    """Leaves a server out of the pool, unless that is so; False then."""

    def __call__(self, server: Server, *, unless: Callable[[Server], bool]) -> bool:
        """Do it."""
        ...


class IdleServers:
    """Looks at each server when it could have been idle for long enough."""

    def __init__(
        self, timers: Timers, leaving: Retirement, patience: Callable[[], float], retire: Retire
    ) -> None:
        self._timers = timers
        self._retirement = leaving
        #: Seconds; 0 for ever. The configuration may be another one by the next look.
        self._patience = patience
        self._retire = retire

    def begin(self, server: Server) -> None:
        """A server has come up. Whoever waited for that is only about to ask."""
        server.channel.last_used = time.monotonic()
        self._look(server)

    def _look(self, server: Server) -> None:
        """Stop a server that nobody has used for long; else look again when that could be."""
        patience = self._patience()
        # One that is outdated has not ended by that.
        if not patience or server.channel.failure is not None or server.closing:
            return
        now = time.monotonic()

        def used(server: Server) -> bool:
            return _is_needed(server) or now < server.channel.last_used + patience

        if used(server) or not self._retire(server, unless=used):
            # Whoever needs it now has used it until now at least.
            since = now if _is_needed(server) else server.channel.last_used
            self._timers.at(since + patience, lambda: self._look(server))
            return
        self._retirement.stop_soon(server)

    def stop_when_unused(self, server: Server, on_end: Callable[[Server], None]) -> None:
        """Stop a server that was replaced, when nobody needs it any more. Returns at once."""
        latest = time.monotonic() + LAST_ANSWERS

        def look() -> None:
            if _is_needed(server) and time.monotonic() < latest:
                self._timers.at(time.monotonic() + LOOK_EVERY, look)
            else:
                self._retirement.do(end)

        def end() -> None:
            on_end(server)
            self._retirement.stop([server])

        self._timers.at(time.monotonic() + LOOK_EVERY, look)


def _is_needed(server: Server) -> bool:
    """Whether somebody waits for it: for an answer, for a push, for his turn."""
    return bool(
        server.channel.users or server.channel.session.pending or server.channel.queue.taken()
    )


class Retirement:
    """For any thread."""

    def __init__(self) -> None:
        #: Perhaps not yet stopped. Adding and taking are single steps.
        self._servers: set[Server] = set()
        self._enders = Workers("ender")

    def add(self, server: Server) -> None:
        """Whoever calls this stops it; else it is stopped when the workspace closes."""
        self._servers.add(server)

    def servers(self) -> list[Server]:
        """Those that may still be there."""
        return list(self._servers)

    def stop(self, servers: Sequence[Server]) -> None:
        """End all of them, however long it takes."""
        stop(servers)
        for server in servers:
            if has_ended(server):
                self._servers.discard(server)

    def stop_soon(self, server: Server) -> None:
        """The same in another thread."""
        self.do(lambda: self.stop([server]))

    def do(self, job: Callable[[], object]) -> None:
        """Let one of these threads do something that may take as long."""
        self._enders.do(job)

    def close(self) -> bool:
        """Finish what has begun. False if a thread is left."""
        return self._enders.close()

    def drop_after_fork(self) -> None:
        """In a forked child: its servers are the parent's, and so are the threads."""
        self._enders = Workers("ender")
        self._enders.close()
        for server in self._servers:
            server.drop_after_fork()


def has_ended(server: Server) -> bool:
    """Whether no process of it is there."""
    return server.channel.connection is None or server.channel.connection.child.status() is not None
