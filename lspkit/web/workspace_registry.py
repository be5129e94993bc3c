"""The workspaces of a service: its own, and one for each folder of a conversation outside of it.

A folder outside of the service's root has a workspace with its own boundary, and with the trust
that the user's settings give it. Their number is bounded; those that are not used are closed.
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
from lspkit.servers.workspace_event import WorkspaceEvent
from lspkit.service.runtime_folder import Bootstrap
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.web.body_types import EventBody
from lspkit.web.problem_document import ProblemError
from lspkit.workspace_boundary import is_inside

log = logging.getLogger("lspkit.service")

#: Workspaces besides that of the service.
MOST_WORKSPACES = 8
#: Seconds after which a workspace that is not used is closed.
IDLE_SECONDS = 15 * 60.0


class _Opened:
    """A workspace of the registry. Its fields are guarded by the registry's lock."""

    def __init__(self, shared: SharedWorkspace, now: float) -> None:
        self.shared = shared
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
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.own = own
        self._root = os.path.realpath(own.bootstrap.workspace_root)
        self._environ, self._clock = environ, clock
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._others: dict[str, _Opened] = {}
        self._streams: set[EventStream[EventBody]] = set()
        self._closed = False
        self._unwatch = own.engine.watch(_EventSink(self, self._root))

    @contextlib.contextmanager
    def workspace_of(self, cwd: str) -> Iterator[SharedWorkspace]:
        """The workspace for a folder, which is not closed meanwhile. `cwd` is a real path."""
        if is_inside(cwd, self._root):
            yield self.own
            return
        used = self._take(cwd)
        try:
            yield used.shared
        finally:
            with self._lock:
                used.users -= 1
                used.used_at = self._clock()

    @contextlib.contextmanager
    def look_at(self, root: str) -> Iterator[SharedWorkspace | None]:
        """The workspace with a root, None if it is closed. This does not count as a use."""
        if root == self._root:
            yield self.own
            return
        with self._lock:
            found = self._others.get(root)
            if found is not None:
                found.users += 1
        try:
            yield None if found is None else found.shared
        finally:
            with self._lock:
                if found is not None:
                    found.users -= 1

    def _take(self, cwd: str) -> _Opened:
        with self._lock:
            used = self._others.get(cwd)
            if used is not None:
                used.users += 1
                return used
        # Outside of the lock: it reads configuration files.
        made = self._open(cwd)
        surplus: list[SharedWorkspace] = []
        try:
            with self._lock:
                used = self._others.get(cwd)
                if used is not None or self._closed:
                    surplus.append(made)
                elif len(self._others) >= MOST_WORKSPACES:
                    surplus.append(self._least_used() or made)
                if used is None and made not in surplus:
                    used = self._others[cwd] = _Opened(made, self._clock())
                if used is None:
                    told = f"{MOST_WORKSPACES} workspaces are in use"
                    raise ProblemError("too-many-workspaces", told, **{"Retry-After": "10"})
                used.users += 1
                return used
        finally:
            for one in surplus:
                one.close()

    def _open(self, cwd: str) -> SharedWorkspace:
        given = self.own.bootstrap
        # Trust in the service's root says nothing about another folder; distrust does.
        trusted = False if given.trusted is False else None
        bootstrap = Bootstrap(cwd, given.config, trusted)
        made = SharedWorkspace(bootstrap, _ignore, lambda: None, environ=self._environ)
        made.engine.watch(_EventSink(self, cwd))
        return made

    def _least_used(self) -> SharedWorkspace | None:
        """Remove the one that was not used for the longest time. Called with the lock."""
        unused = [(one.used_at, root) for root, one in self._others.items() if not one.users]
        return self._others.pop(min(unused)[1]).shared if unused else None

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
                for root, one in self._others.items()
                if not one.users and (one.used_at <= latest or root in gone)
            ]
            closing = [self._others.pop(root).shared for root in over]
        for one in closing:
            log.debug("the workspace %s is closed", one.bootstrap.workspace_root)
            self.own.in_thread(one.close)

    # Events

    def subscribe(self, stream: EventStream[EventBody], most: int) -> None:
        """Send the events of all workspaces to a stream, until it is closed."""
        with self._lock:
            if len(self._streams) >= most:
                told = f"{most} streams of events are open"
                raise ProblemError("too-many-streams", told, **{"Retry-After": "10"})
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
            closing = [one.shared for one in self._others.values()]
            self._others.clear()
        for one in closing:
            one.close()


def _ignore(_: str) -> None:
    """A workspace does not end the service."""
