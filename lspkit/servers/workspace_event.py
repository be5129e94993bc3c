"""What happens to the servers of a workspace, as values for those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from lspkit.protocol.uris import uri_to_path
from lspkit.servers.status import ServerState
from lspkit.types import Value
from lspkit.visible_text import count, fold_lines, one_line

#: `dropped`: a watcher was too slow, and has missed events.
EventKind = Literal["state", "diagnostics", "progress", "dropped"]


class WorkspaceEvent(Value, frozen=True, omit_defaults=True):
    """One event. The fields that its kind does not need are empty."""

    kind: EventKind
    server: str = ""
    root: str = ""
    #: The new state of the server.
    state: ServerState | None = None
    #: The file with new diagnostics.
    path: str = ""
    #: What the server works on, and whether that is done.
    title: str = ""
    done: bool = False
    #: How many events are missing.
    count: int = 0

    def __str__(self) -> str:
        if self.kind == "dropped":
            return f"dropped: {count(self.count, 'event')}"
        state = self.state.value if self.state is not None else ""
        title = f"{fold_lines(self.title)} {'is done' if self.done else 'began'}"
        return f"{one_line(self.server)}: {state or one_line(self.path) or title}"


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
