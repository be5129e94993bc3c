"""The workspaces that were opened in this notebook.

The one that was opened last is the one that `%lsp` uses. The source lines of a table are read only
inside the boundary of one of them, as everywhere in lspkit: a server cannot make a notebook contain
lines of other files.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lspkit.agent.tools.source_lines import SourceLines
from lspkit.errors import LspkitError
from lspkit.notebook.start_display import show_starts

_log = logging.getLogger("lspkit.notebook")

#: The last folders whose files may be shown.
MOST = 20

#: Appended to by any thread; the last one is the newest. Without a limit: one that is open must not
#: be forgotten because others were opened.
_workspaces: list[weakref.ref[Any]] = []
_boundaries: collections.deque[Any] = collections.deque(maxlen=MOST)
#: Functions that know source lines of files that do not exist, such as cells.
line_readers: list[Callable[[Path, int], str]] = []


def opened(ws: Any) -> None:
    """Remember a workspace; in a notebook, show when its servers start."""
    for ref in tuple(_workspaces):
        if ref() is None:
            with contextlib.suppress(ValueError):  # another thread has removed it
                _workspaces.remove(ref)
    _workspaces.append(weakref.ref(ws))
    try:
        boundary = ws.config.boundary(str(ws.root))
        if boundary not in _boundaries:
            _boundaries.append(boundary)
        show_starts(ws)
    except (LspkitError, OSError, RuntimeError):
        # It was closed meanwhile, or the folder, the service or the room for threads is gone. The
        # tables then have no source lines; what matters, the next call says.
        _log.debug("%s is not followed", ws, exc_info=True)


def last_open() -> Any | None:
    """The workspace that was opened last and is not closed."""
    for ref in reversed(_workspaces):
        ws = ref()
        if ws is not None and _is_open(ws):
            return ws
    return None


def _is_open(ws: Any) -> bool:
    try:
        return bool(ws.epoch >= 0)
    except LspkitError:
        return False


def source_line(path: Path, number: int) -> str:
    """A line of a file in a workspace, or of a cell; empty if it is not known."""
    for reader in line_readers:
        if found := reader(path, number):
            return found
    if not os.path.isabs(path):
        return ""
    lines = (SourceLines(one).line(str(path), number) for one in reversed(_boundaries))
    return next(filter(None, lines), "")
