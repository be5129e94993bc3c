"""Takes the status of a workspace whenever something happens to its servers.

One thread waits for events. It takes a status at most four times a second, and every few seconds
without an event, because memory changes silently. `close` ends the thread and the stream.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lspkit.errors import (
    CancelledError,
    LspkitError,
    ServerUnavailableError,
    WorkspaceClosedError,
)
from lspkit.operations import StatusRequest
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import PATIENCE, OwnThread, joined
from lspkit.servers.status import WorkspaceEvent, WorkspaceStatus
from lspkit.workspace import Workspace

#: Seconds between two statuses, at least and without an event.
SHORTEST, LONGEST = 0.25, 5.0
#: Seconds for one status: a service may hang.
TIMEOUT = 10.0

Update = WorkspaceStatus | LspkitError


class StatusFeed:
    """Calls `on_update` with statuses and errors, from its own thread, until it is closed."""

    def __init__(
        self,
        ws: Workspace,
        on_update: Callable[[Update], object],
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:
        self._ws, self._on_update = ws, on_update
        #: The clock, and how to wait for an event at most so many seconds.
        self._clock, self._pause = clock, pause
        self._cancel = CancelToken()
        #: Set when it is closed.
        self._closing = threading.Event()
        #: Set by `refresh` and `close`: an ended stream is opened again then.
        self._wanted = threading.Event()
        #: Replaced as a whole by the thread.
        self._stream: EventStream[WorkspaceEvent] | None = None
        self._thread = OwnThread(self._run, "panel")

    def start(self) -> None:
        """Begin. The first status comes soon."""
        self._thread.start()

    def refresh(self) -> None:
        """Take a status soon."""
        self._wanted.set()
        stream = self._stream
        if stream is not None:
            stream.put(WorkspaceEvent("state"))  # it wakes the thread

    def close(self) -> None:
        """End the thread and the stream. May be called twice."""
        self._closing.set()
        self._wanted.set()
        self._cancel.set()
        # One that is opened after this is closed by the thread, which sees that it has to end.
        stream = self._stream
        if stream is not None:
            stream.close()
        joined([self._thread], PATIENCE)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._follow()
            except CancelledError:
                return
            except LspkitError as problem:
                self._on_update(problem)
                if isinstance(problem, WorkspaceClosedError):
                    return
            # Not by itself: a service that the user has ended is not started again.
            self._wanted.clear()
            if not self._closing.is_set():  # `close` sets this one first
                self._wanted.wait()

    def _follow(self) -> None:
        """Take statuses until the stream ends: the workspace was closed, or the service ended."""
        with self._ws.events() as stream:
            self._stream = stream
            while not self._closing.is_set():
                self._take()
                taken = self._clock()
                stream.get(LONGEST)
                if stream.closed:
                    break
                self._pause(self._closing, max(0.0, SHORTEST - (self._clock() - taken)))
                while stream.get(0) is not None:
                    pass  # one status tells all
        if not self._closing.is_set():
            raise self._why_ended()

    def _take(self) -> None:
        self._on_update(self._ws.run(StatusRequest(), timeout=TIMEOUT, cancel=self._cancel))

    def _why_ended(self) -> LspkitError:
        if self._ws.closed:
            return WorkspaceClosedError("this workspace was closed")
        return ServerUnavailableError("the service has ended; r connects again")
