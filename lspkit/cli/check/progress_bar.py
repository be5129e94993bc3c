"""A line on the terminal that shows how far a check is. There is none in a pipe.

It counts the files about which the servers have reported, by the events of the workspace.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from lspkit.cli.output import is_terminal, uses_colour
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.servers.status import WorkspaceEvent
from lspkit.types import display_path
from lspkit.workspace import Workspace

#: Seconds between two looks at the events, and between two drawings.
INTERVAL = 0.1
#: The widest bar, in characters.
WIDEST = 30
#: For a terminal that does not say how wide it is.
UNKNOWN_WIDTH = 80
FULL, EMPTY = "━", "─"
#: For a terminal that cannot show these.
PLAIN_FULL, PLAIN_EMPTY = "#", "-"


@contextmanager
def progress_bar(ws: Workspace, files: Collection[Path], what: str = "checking") -> Iterator[None]:
    """Show the progress of a check of these files while the block runs, on a terminal only."""
    if not files or not is_terminal(sys.stderr):
        yield
        return
    with ws.events() as events:
        bar = _Bar(what, frozenset(str(file) for file in files), events)
        bar.thread.start()
        try:
            yield
        finally:
            bar.end()


class _Bar:
    """Draws the line in a thread of its own, until the events end. Then it is erased."""

    def __init__(
        self, what: str, files: frozenset[str], events: EventStream[WorkspaceEvent]
    ) -> None:
        self._what, self._files, self._events = what, files, events
        self._done: dict[str, None] = {}
        self._drawn = ""
        self._ended = threading.Event()
        self.thread = threading.Thread(target=self._run, name="lspkit-progress", daemon=True)

    def end(self) -> None:
        """Erase the line, and wait for the thread."""
        self._ended.set()
        self._events.close()
        self.thread.join()

    def _run(self) -> None:
        try:
            self._draw()
            while (event := self._events.get()) is not None:
                while event is not None:
                    if event.kind == "diagnostics" and event.path in self._files:
                        self._done[event.path] = None
                    event = self._events.get(timeout=0)
                self._draw()
                self._ended.wait(INTERVAL)
            self._write("\r\x1b[K")
        except (OSError, ValueError):
            return  # the terminal is gone

    def _draw(self) -> None:
        line = progress_line(
            self._what,
            len(self._done),
            len(self._files),
            next(reversed(self._done), ""),
            width=os.get_terminal_size(sys.stderr.fileno()).columns or UNKNOWN_WIDTH,
            unicode=(sys.stderr.encoding or "").lower().startswith("utf"),
            colour=uses_colour(sys.stderr),
        )
        if line != self._drawn:
            self._drawn = line
            self._write(f"\r\x1b[K{line}")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def progress_line(
    what: str, done: int, total: int, path: str, *, width: int, unicode: bool, colour: bool
) -> str:
    """The line, narrower than the terminal: `checking ━━━━──── 12/24 src/app.py`."""
    full, empty = (FULL, EMPTY) if unicode else (PLAIN_FULL, PLAIN_EMPTY)
    counts = f"{done:>{len(str(total))}}/{total}"
    room = width - 1 - len(what) - len(counts) - 2
    size = max(0, min(WIDEST, room))
    filled = size * done // total if total else 0
    bar, rest = full * filled, empty * (size - filled)
    if colour and filled:
        bar = f"\x1b[32m{bar}\x1b[0m"
    shown = display_path(Path(path)) if path else ""
    left = room - size - 1
    fits = shown and left > 3 and (unicode or (shown.isascii() and len(shown) <= left))
    shown = f" {_fit(shown, left)}" if fits else ""
    return f"{what} {bar}{rest} {counts}{shown}" if room > 0 else counts[: max(0, width - 1)]


def _fit(path: str, width: int) -> str:
    """The end of a path that fits, by the width of its characters on a terminal."""
    if _width(path) <= width:
        return path
    while path and _width(path) > width - 1:
        path = path[1:]
    return f"…{path}"


def _width(text: str) -> int:
    """Columns on a terminal. What is not ASCII may take two."""
    return sum(1 if letter.isascii() else 2 for letter in text)
