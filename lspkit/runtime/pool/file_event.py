"""Something that has happened to a file or folder, as one server sees it."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from lspkit.protocol.watch_registrations import FileEvent
from lspkit.runtime.server.server import Server
from lspkit.servers.definition import Definition
from lspkit.servers.project.package_folders import PackageFolder

#: Seconds since a change that is told, at most, unless the machine is very busy.
JUST_NOW = 2.0


class ServerFileEvent(NamedTuple):
    """Something that has happened."""

    uri: str
    event: FileEvent
    place: PackageFolder

    def changes_for(self, server: Server) -> list[dict[str, Any]]:
        """How a server is told of it; empty if it has not asked for that."""
        path, kind = self.event.path, self.event.kind
        kinds = server.watched.kinds_to_send(path, kind)
        if self.event.is_folder:  # only of files may a server know more than it should
            kinds = (kind,) if server.watched.wants(path, kind) else ()
        return [{"uri": self.uri, "type": kind} for kind in kinds]

    def is_source(self, definition: Definition) -> bool:
        """Whether a server would take it for a file of its own language."""
        return definition.language_of(os.path.basename(self.event.path)) is not None

    def is_read_when_closed(self, definition: Definition) -> bool:
        """Whether a server has to be made to read it, by closing it."""
        if definition.disk.reads_closed == "never" or not self.is_source(definition):
            return False
        return definition.disk.reads_closed == "always" or self.has_another_time()

    def has_another_time(self) -> bool:
        """Whether the time of the last change of a file is not that of what has happened."""
        try:
            there = os.stat(self.event.path)
        except OSError:
            return False
        # Whoever gives a file an old time, or moves one in, changes the other time of it by that.
        another = there.st_mtime_ns < there.st_ctime_ns
        return another or abs(time.time() - there.st_mtime) > JUST_NOW

    def may_hold_sources(self) -> bool:
        """Whether it may have been a folder, by its name."""
        return not os.path.splitext(self.event.path)[1]
