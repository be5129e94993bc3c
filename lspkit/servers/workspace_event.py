"""What happens to the servers of a workspace, as values for those who watch it."""

from __future__ import annotations

from typing import Literal

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
