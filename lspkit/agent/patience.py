"""How long hooks and tools wait for fresh diagnostics.

A server that is just starting is given more time, but only once: a model that asks again and again
about a server that does not come up is not held up again and again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from lspkit.edits.paths import is_inside, written
from lspkit.errors import PathError
from lspkit.servers.status import RootStatus, ServerState
from lspkit.workspace import Workspace


class Patience:
    """The time that each server has had. Two callers at once may both give it; that is no harm."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: Servers that have had their time, with their roots.
        self._spent: set[tuple[str, str]] = set()
        #: Kinds of files, by folder, whose servers were seen running: no need to look again.
        self._warm: set[tuple[str, str]] = set()

    def seconds(self, path: str) -> float:
        """For the next check of this file."""
        timing = self._ws.config.timing
        starting = _kind(self._real(path)) not in self._warm and self._is_starting(path)
        wait = timing.first_touch_timeout_ms if starting else timing.diagnostics_wait_timeout_ms
        return wait / 1000

    def spend(self, path: str) -> None:
        """The file was checked: whoever was starting has had his time."""
        kind = _kind(self._real(path))
        if kind in self._warm:
            return
        for server, root in self._servers(path):
            self._spent.add((server, root.root))
            if root.state is ServerState.ACTIVE:
                self._warm.add(kind)

    def _is_starting(self, path: str) -> bool:
        """Whether a server of the file is starting, or about to be started."""
        servers = list(self._servers(path))
        return not servers or any(
            root.state is ServerState.STARTING and (server, root.root) not in self._spent
            for server, root in servers
        )

    def _servers(self, path: str) -> Iterator[tuple[str, RootStatus]]:
        """The servers that there are for a file."""
        real = self._real(path)
        for row in self._ws.status().rows:
            if _kind(real)[0] in row.extensions:
                for root in row.roots:
                    if is_inside(real, root.root):
                        yield row.server, root

    def _real(self, path: str) -> str:
        try:
            return os.path.realpath(written(path, str(self._ws.root)))
        except PathError:
            return ""  # whoever checks it is told why


def _kind(path: str) -> tuple[str, str]:
    """What the choice of servers goes by, mostly: the kind of file, and its folder."""
    folder, name = os.path.split(path)
    return os.path.splitext(name)[1] or name, folder
