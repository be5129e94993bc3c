"""How long hooks and tools wait for fresh diagnostics.

A server that is starting gets more time, but only once: repeated checks do not wait repeatedly for
a server that does not start.
"""

from __future__ import annotations

from lspkit.errors import LspkitError
from lspkit.operations import FileServersRequest
from lspkit.operations.host_results import FileServer
from lspkit.servers.status import ServerState
from lspkit.workspace import Workspace

#: States of a server that needs time to start.
COMING = (ServerState.IDLE, ServerState.STARTING)


class CheckTimeouts:
    """Which servers have had their longer timeout. Two concurrent callers may both grant it."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: Servers that have had the longer timeout, with their roots.
        self._spent: set[tuple[str, str]] = set()

    def seconds(self, path: str) -> float:
        """The timeout for the next check of this file."""
        timing = self._ws.config.timing
        starting = any(
            server.state in COMING and (server.server, server.root) not in self._spent
            for server in self._servers(path)
        )
        wait = timing.first_touch_timeout_ms if starting else timing.diagnostics_wait_timeout_ms
        return wait / 1000

    def spend(self, path: str) -> None:
        """Record a check of the file: its servers have had the longer timeout."""
        self._spent.update((server.server, server.root) for server in self._servers(path))

    def _servers(self, path: str) -> list[FileServer]:
        """The servers of a file, running or not."""
        try:
            return self._ws.run(FileServersRequest(path=path))
        except LspkitError:
            return []  # the check reports the error
