"""The workspaces that an HTTP server tells of: its service's own, and those of conversations.

The folder of a conversation is a workspace of its own, with its own configuration, boundary and
trust: that of the service which every other client of this folder uses, too. Here are connections
to such services. Their number is bounded; those that are not used are closed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import msgspec

from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.servers.status import WorkspaceEvent
from lspkit.service.remote_workspace import connect
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.web.body_types import EventBody
from lspkit.web.http_message import ProblemError
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.service")

#: Workspaces besides that of the service.
MOST_WORKSPACES = 8
#: Seconds after which a workspace that is not used is closed.
IDLE_SECONDS = 15 * 60.0


class _Opened:
    """A workspace of the registry. Its last fields are guarded by the registry's lock."""

    def __init__(self, ws: Workspace, now: float) -> None:
        self.ws = ws
        #: Its events; they end with the connection.
        self.events = ws.events()
        #: Calls that use it.
        self.users = 0
        self.used_at = now


class _EventSink:
    """Passes the events of one workspace to all streams."""

    def __init__(self, registry: WorkspaceRegistry, root: str) -> None:
        self._registry, self._root = registry, root

    def put(self, event: WorkspaceEvent) -> None:
        """Pass an event on. Never blocks."""
        if event.kind != "progress":
            fields = msgspec.structs.asdict(event)
            del fields["title"], fields["done"]
            self._registry.publish(EventBody(workspace=self._root, **fields))

    def close(self) -> None:
        """The workspace is closed; others go on."""


class WorkspaceRegistry:
    """The workspaces of a service. Thread-safe."""

    def __init__(
        self,
        own: SharedWorkspace,
        lock: threading.Lock,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.own = own
        self._root = os.path.realpath(own.bootstrap.workspace_root)
        self._environ, self._clock = environ, clock
        #: The server's lock. Guards the fields below.
        self._lock = lock
        self._others: dict[str, _Opened] = {}
        self._streams: set[EventStream[EventBody]] = set()
        self._closed = False
        self._unwatch = own.engine.watch(_EventSink(self, self._root))

    @contextlib.contextmanager
    def workspace_of(self, cwd: str) -> Iterator[Workspace]:
        """The workspace of a folder, which is not closed meanwhile. `cwd` is a real path."""
        if cwd == self._root:
            yield self._own_workspace()
            return
        used = self._take(cwd)
        try:
            yield used.ws
        finally:
            with self._lock:
                used.users -= 1
                used.used_at = self._clock()

    @contextlib.contextmanager
    def look_at(self, root: str) -> Iterator[Workspace | None]:
        """The workspace with a root, None if it is closed. This does not count as a use."""
        if root == self._root:
            yield self._own_workspace()
            return
        with self._lock:
            opened = self._others.get(root)
            if opened is not None:
                opened.users += 1
        try:
            yield None if opened is None else opened.ws
        finally:
            with self._lock:
                if opened is not None:
                    opened.users -= 1

    def _own_workspace(self) -> Workspace:
        self.own.reload_if_changed()
        return self.own.ws

    def _take(self, cwd: str) -> _Opened:
        with self._lock:
            used = self._others.get(cwd)
            if used is not None:
                used.users += 1
                return used
        # Outside of the lock: it may have to start a service.
        made = self._open(cwd)
        surplus: list[_Opened] = []
        try:
            with self._lock:
                used = self._others.get(cwd)
                if used is not None or self._closed:
                    surplus.append(made)
                elif len(self._others) >= MOST_WORKSPACES:
                    surplus.append(self._least_used() or made)
                if used is None and made not in surplus:
                    used = self._others[cwd] = made
                if used is None:
                    why = f"{MOST_WORKSPACES} workspaces are in use"
                    raise ProblemError("too-many-workspaces", why, **{"Retry-After": "10"})
                used.users += 1
                return used
        finally:
            for opened in surplus:
                opened.ws.close()

    def _open(self, cwd: str) -> _Opened:
        given = self.own.bootstrap
        # Trust in the service's root says nothing about another folder; distrust does.
        trusted = False if given.trusted is False else None
        ws = connect(cwd, config=given.config, trusted=trusted, environ=self._environ)
        try:
            made = _Opened(ws, self._clock())
            OwnThread(lambda: self._follow(cwd, made), "http-events").start()
        except BaseException:
            ws.close()
            raise
        return made

    def _follow(self, cwd: str, opened: _Opened) -> None:
        """Pass the events of a workspace on, until its connection is over."""
        sink = _EventSink(self, cwd)
        for event in opened.events:
            sink.put(event)
        with self._lock:
            if self._others.get(cwd) is opened:  # its service has ended; the next use connects anew
                del self._others[cwd]
        opened.ws.close()

    def _least_used(self) -> _Opened | None:
        """Remove the one that was not used for the longest time. Called with the lock."""
        unused = [
            (opened.used_at, root) for root, opened in self._others.items() if not opened.users
        ]
        return self._others.pop(min(unused)[1]) if unused else None

    def all_roots(self) -> list[str]:
        """The roots of all workspaces: the service's own first, then in order."""
        with self._lock:
            return [self._root, *sorted(self._others)]

    def close_unused(self) -> None:
        """Close workspaces that nobody has used for some time, or whose folder is gone."""
        gone = {root for root in self.all_roots()[1:] if not os.path.isdir(root)}
        latest = self._clock() - IDLE_SECONDS
        with self._lock:
            over = [
                root
                for root, opened in self._others.items()
                if not opened.users and (opened.used_at <= latest or root in gone)
            ]
            closing = {root: self._others.pop(root).ws for root in over}
        for root, ws in closing.items():
            log.debug("the workspace %s is closed", root)
            if not self.own.in_thread(ws.close):
                ws.close()

    # Events

    def subscribe(self, stream: EventStream[EventBody], most: int) -> None:
        """Send the events of all workspaces to a stream, until it is closed."""
        with self._lock:
            if len(self._streams) >= most:
                why = f"{most} streams of events are open"
                raise ProblemError("too-many-streams", why, **{"Retry-After": "10"})
            self._streams.add(stream)
            closed = self._closed
        stream.on_close(lambda: self._unsubscribe(stream))
        if closed:
            stream.close()

    def _unsubscribe(self, stream: EventStream[EventBody]) -> None:
        with self._lock:
            self._streams.discard(stream)

    def publish(self, event: EventBody) -> None:
        """Send an event to all streams. Never blocks."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.put(event)

    def close_streams(self) -> None:
        """End all streams, also those that are opened later."""
        with self._lock:
            self._closed, streams = True, list(self._streams)
        for stream in streams:
            stream.close()

    def close(self) -> None:
        """Close all workspaces but the service's own."""
        self.close_streams()
        self._unwatch()
        with self._lock:
            closing = [opened.ws for opened in self._others.values()]
            self._others.clear()
        for ws in closing:
            ws.close()
