"""How long hooks and tools wait for fresh diagnostics.

A server that is just starting is given more time, but only once: a model that asks again and again
about a server that does not come up is not held up again and again.
"""

from __future__ import annotations

from lspkit.errors import LspkitError
from lspkit.operations import FileServersRequest
from lspkit.operations.effects import FileServer
from lspkit.runtime.engine_api import Limits
from lspkit.servers.status import ServerState
from lspkit.workspace import Workspace

#: States of a server that answers later than others.
COMING = (ServerState.IDLE, ServerState.STARTING)


class CheckTimeouts:
    """The time that each server has had. Two callers at once may both give it; that is no harm."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: Servers that have had their time, with their roots.
        self._spent: set[tuple[str, str]] = set()

    def seconds(self, path: str) -> float:
        """For the next check of this file."""
        timing = self._ws.config.timing
        starting = any(
            one.state in COMING and (one.server, one.root) not in self._spent
            for one in self._servers(path)
        )
        wait = timing.first_touch_timeout_ms if starting else timing.diagnostics_wait_timeout_ms
        return wait / 1000

    def spend(self, path: str) -> None:
        """The file was checked: whoever was starting has had his time."""
        self._spent.update((one.server, one.root) for one in self._servers(path))

    def _servers(self, path: str) -> list[FileServer]:
        """The servers of a file, also those that a check would start."""
        try:
            return self._ws._engine.run(FileServersRequest(path=path), Limits())
        except LspkitError:
            return []  # whoever checks it is told why
