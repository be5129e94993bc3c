"""Servers that are no longer in a seat, until they have ended.

A stubborn one takes seconds to stop. So that is done by threads of their own: those that start
servers have better things to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lspkit.runtime.concurrency.workers import Workers
from lspkit.runtime.server.server import Server
from lspkit.runtime.server.shutdown import stop


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
    return server.connection is None or server.connection.child.status() is not None
