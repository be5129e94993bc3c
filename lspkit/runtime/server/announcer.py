"""Tells those who watch a workspace what happens to one server."""

from __future__ import annotations

from collections.abc import Callable

from lspkit.protocol.uris import uri_to_path
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent


class Announcer:
    """Makes the events of one server. For any thread."""

    def __init__(self, id: str, root: str, on_event: Callable[[WorkspaceEvent], None]) -> None:
        self._id, self._root, self._on_event = id, root, on_event

    def state(self, state: ServerState) -> None:
        """Its state is new."""
        self._on_event(WorkspaceEvent("state", self._id, self._root, state))

    def diagnostics(self, uri: str) -> None:
        """There is a new report about a file."""
        path = uri_to_path(uri) or uri
        self._on_event(WorkspaceEvent("diagnostics", self._id, self._root, path=path))

    def progress(self, title: str, *, done: bool) -> None:
        """It has begun or ended some work."""
        self._on_event(WorkspaceEvent("progress", self._id, self._root, title=title, done=done))
