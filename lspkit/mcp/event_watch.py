"""Reads the events of a workspace in a thread, and passes them on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from lspkit.errors import LspkitError
from lspkit.operations import FileServersRequest
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.visible_text import fold_lines, one_line
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.mcp")


class EventWatch:
    """The events of a workspace. A stream that has ended with its service is opened again."""

    def __init__(self, ws: Workspace, take: Callable[[WorkspaceEvent], object]) -> None:
        self._ws, self._take = ws, take
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._stream: EventStream[WorkspaceEvent] | None = None
        self._thread: OwnThread | None = None
        self._opened = 0
        self._closed = False

    def ensure(self) -> None:
        """Open the stream if it is not open. Waits for the service; called before each call."""
        if self._is_open():
            return
        try:
            stream = self._ws.events()
        except LspkitError as problem:
            log.debug("there are no events: %s", problem)
            return
        thread = OwnThread(lambda: self._read(stream), "mcp-events")
        with self._lock:
            superfluous = self._is_open()
            if not superfluous:
                self._stream, self._thread = stream, thread
                self._opened += 1
                again = self._opened > 1
        if superfluous:
            stream.close()
            return
        thread.start()
        if again:  # what has happened meanwhile is not known
            self._take(WorkspaceEvent("dropped", count=1))

    def _is_open(self) -> bool:
        """Whether no stream is needed."""
        return self._stream is not None or self._closed

    def _read(self, stream: EventStream[WorkspaceEvent]) -> None:
        try:
            for event in stream:
                self._take(event)
        except RuntimeError:  # the loop that takes them has ended
            pass
        finally:
            with self._lock:
                if self._stream is stream:
                    self._stream = None

    def close(self) -> None:
        """End the stream and its thread."""
        with self._lock:
            self._closed = True
            stream, thread = self._stream, self._thread
        if stream is not None:
            stream.close()
        if thread is not None:
            joined([thread])


def progress_text(event: WorkspaceEvent) -> str:
    """What a user is told about an event while a call waits; empty if nothing."""
    if event.kind == "state" and event.state is not None:
        return one_line(f"{event.server}: {event.state.value}")
    if event.kind == "progress":
        what = fold_lines(event.title) or "working"
        return one_line(f"{event.server}: {what}{' is done' if event.done else ''}")
    return ""


def busy_servers(ws: Workspace) -> list[str]:
    """What servers are doing already when a call begins, each as a text for a user."""
    told: list[str] = []
    for one in ws.run(FileServersRequest()):
        if one.state is ServerState.STARTING:
            told.append(one_line(f"{one.server}: {one.state.value}"))
        told += [one_line(f"{one.server}: {fold_lines(what)}") for what in one.busy_with if what]
    return told
