"""The workspaces that were opened in this notebook, and a display of their starting servers.

The one that was opened last is the one that `%lsp` uses. The source lines of a table are read only
inside the boundary of one of them, as everywhere in lspkit: a server cannot make a notebook contain
lines of other files.
"""

from __future__ import annotations

import collections
import contextlib
import html
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lspkit.agent.tools.source_lines import SourceLines
from lspkit.errors import LspkitError
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.servers.status import ServerState, WorkspaceEvent
from lspkit.visible_text import fold_lines

#: Seconds before the display appears, and between updates of it.
APPEARS_AFTER = 0.7
UPDATE_EVERY = 1.0
#: Characters of the name of a server, and of what it works on.
LONGEST = 80


class Starts:
    """The servers that are starting, and what they work on. Told by events; a plain value."""

    def __init__(self) -> None:
        #: By server and root: when the start began.
        self._since: dict[tuple[str, str], float] = {}
        #: What the servers work on.
        self._titles: dict[tuple[str, str], str] = {}
        #: The lines about servers that have started, or failed.
        self._over: list[str] = []
        self.began: float | None = None

    def tell(self, event: WorkspaceEvent, now: float) -> None:
        """Take in an event."""
        key = (event.server, event.root)
        if event.kind == "state" and event.state is ServerState.STARTING:
            self._since.setdefault(key, now)
            self.began = now if self.began is None else self.began
        elif event.kind == "state" and key in self._since:
            took = now - self._since.pop(key)
            self._titles.pop(key, None)
            state = "ready" if event.state is ServerState.ACTIVE else str(event.state)
            self._over.append(f"{_short(event.server)}: {state} after {took:.1f} s")
        elif event.kind == "progress" and key in self._since and not event.done:
            self._titles[key] = event.title

    @property
    def busy(self) -> bool:
        """Whether a server is starting."""
        return bool(self._since)

    def lines(self, now: float) -> list[str]:
        """What to show: plain text."""
        starting = [
            f"{_short(key[0])}: {_short(self._titles.get(key, 'starting'))}, {now - since:.0f} s"
            for key, since in self._since.items()
        ]
        return [*self._over, *starting]


def _short(text: str) -> str:
    return fold_lines(text[: LONGEST * 4])[:LONGEST]


def has_displays() -> bool:
    """Whether this process is a kernel, whose displays can be updated."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = ask() if ask is not None else None
    return getattr(shell, "kernel", None) is not None


def show_starts(ws: Any) -> None:
    """Show which servers are starting, in the output of the cell that waits for them.

    The display appears when a start takes longer than a moment, is updated in place, and ends with
    how long the start took. Only a kernel has such displays; a terminal shows nothing. This follows
    the servers of the workspace until it is closed.
    """
    if has_displays():
        stream = ws.events()
        # It ends with the workspace, or with the process.
        threading.Thread(
            target=_follow, args=(stream,), name="lspkit-start-display", daemon=True
        ).start()


def _follow(stream: EventStream[WorkspaceEvent]) -> None:
    starts, display = Starts(), None
    while not stream.ended:
        event = stream.get(_patience(starts, shown=display is not None))
        now = time.monotonic()
        if event is not None:
            starts.tell(event, now)
        if starts.began is None:
            continue
        if display is None and starts.busy and now - starts.began >= APPEARS_AFTER:
            display = _Display(starts.lines(now))
        elif display is not None:
            display.update(starts.lines(now))
        if not starts.busy:
            starts, display = Starts(), None


def _patience(starts: Starts, *, shown: bool) -> float | None:
    """Seconds to wait for the next event."""
    if not starts.busy or starts.began is None:
        return None
    if shown:
        return UPDATE_EVERY
    return max(starts.began + APPEARS_AFTER - time.monotonic(), 0.01)


class _Display:
    """One output of a notebook, which can be replaced."""

    def __init__(self, lines: list[str]) -> None:
        from IPython.display import HTML, display

        show: Any = display
        self._html: Any = HTML
        self._shown = lines
        self._handle: Any = show(self._render(lines), display_id=True)

    def update(self, lines: list[str]) -> None:
        """Show these lines instead."""
        if lines != self._shown:
            self._shown = lines
            self._handle.update(self._render(lines))

    def _render(self, lines: list[str]) -> Any:
        text = "<br/>".join(html.escape(line) for line in lines)
        return self._html(f'<div style="opacity:.65">{text}</div>')


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
        if source := reader(path, number):
            return source
    if not os.path.isabs(path):
        return ""
    lines = (SourceLines(boundary).line(str(path), number) for boundary in reversed(_boundaries))
    return next(filter(None, lines), "")
