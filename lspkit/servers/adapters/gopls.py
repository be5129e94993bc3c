"""gopls: takes a file for unchanged that has the time and size of the one before it.

So it does not notice new content that comes from an archive or a cache, or on a file system with
coarse times.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from lspkit.protocol.watching.registrations import CREATED, DELETED
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import is_inside

#: How far the clock of a file system may be behind, in nanoseconds.
_BEHIND = 20_000_000
#: For a file that existed when the process was started: its values are unknown.
_OLD = (0, 0, 0)


class Gopls(Adapter):
    """See above."""

    def restart_rule(self, definition: Definition, root: str) -> Callable[[str, int], bool]:
        """A new process reads all sources."""
        times = Times()

        def needs_restart(path: str, kind: int) -> bool:
            is_source = definition.language_of(os.path.basename(path)) is not None
            return is_source and is_inside(path, root) and times.hide(path, kind)

        return needs_restart


class Times:
    """The times and sizes of files that have changed since a process was started.

    Kept by the thread that delivers events to the server.
    """

    def __init__(self) -> None:
        self._began = time.time_ns()
        #: Path: modification time, size and ctime. Those of a deleted file are kept, since the
        #: server keeps its content.
        self._known: dict[str, tuple[int, int, int]] = {}

    def hide(self, path: str, kind: int) -> bool:
        """Whether a file has new content, with the time and size that it had before."""
        try:
            found = os.stat(path)
        except OSError:
            kind = DELETED
        if kind == DELETED:
            self._known.setdefault(path, _OLD)
            return False
        known = self._known.get(path, None if kind == CREATED else _OLD)
        now = self._known[path] = found.st_mtime_ns, found.st_size, found.st_ctime_ns
        if known is None:
            return False
        if known == _OLD:
            return found.st_mtime_ns < self._began < found.st_ctime_ns + _BEHIND
        return now[:2] == known[:2] and now != known
