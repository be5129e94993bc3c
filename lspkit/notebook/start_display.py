"""A display that tells which servers are starting, in the output of the cell that waits for them.

It appears when a start takes longer than a moment, is updated in place, and ends with how long the
start took. Only a kernel has such displays; a terminal shows nothing.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from typing import Any

from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent
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
        told = [
            f"{_short(key[0])}: {_short(self._titles.get(key, 'starting'))}, {now - since:.0f} s"
            for key, since in self._since.items()
        ]
        return [*self._over, *told]


def _short(text: str) -> str:
    return fold_lines(text[: LONGEST * 4])[:LONGEST]


def has_displays() -> bool:
    """Whether this process is a kernel, whose displays can be updated."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = ask() if ask is not None else None
    return getattr(shell, "kernel", None) is not None


def show_starts(ws: Any) -> None:
    """Follow the servers of a workspace until it is closed."""
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
        text = "<br/>".join(html.escape(one) for one in lines)
        return self._html(f'<div style="opacity:.65">{text}</div>')
