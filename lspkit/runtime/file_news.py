"""Something that has happened to a file or folder, as one server sees it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from lspkit.protocol.watched import FileEvent
from lspkit.runtime.server import Server
from lspkit.runtime.watch.packages import Place
from lspkit.servers.definition import Definition


class FileNews(NamedTuple):
    """Something that has happened."""

    uri: str
    event: FileEvent
    place: Place

    def changes_for(self, server: Server) -> list[dict[str, Any]]:
        """How a server is told of it; empty if it has not asked for that."""
        kinds = server.watched.told_as(self.event.path, self.event.kind)
        return [{"uri": self.uri, "type": kind} for kind in kinds]

    def is_source(self, definition: Definition) -> bool:
        """Whether a server would take it for a file of its own language."""
        return definition.language_of(os.path.basename(self.event.path)) is not None

    def may_hold_sources(self) -> bool:
        """Whether it may have been a folder, by its name."""
        return not os.path.splitext(self.event.path)[1]
