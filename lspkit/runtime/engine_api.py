"""The interface between a workspace and the engine that carries out its requests.

A workspace builds requests and passes them to an engine, with the limits of the caller. The local
engine is in `engine.py`.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

import msgspec

from lspkit.operations.request import Request
from lspkit.runtime.concurrency.call import AnswerLog, CancelLike
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.servers.status import WorkspaceEvent

T = TypeVar("T")


class Limits(msgspec.Struct, frozen=True):
    """The limits of one call."""

    timeout: float | None = None
    cancel: CancelLike | None = None
    #: Records which servers have answered. It is not sent to a remote engine.
    answer_log: AnswerLog | None = None
    #: Who calls, if the call shows texts that are not on disk, or is to see those that this client
    #: shows. It is not sent to a remote engine.
    client: object = None


class EventSink(Protocol):
    """Takes events."""

    def put(self, event: WorkspaceEvent) -> None:
        """Take an event, without blocking."""
        ...

    def close(self) -> None:
        """There are no more events."""
        ...


def event_stream() -> EventStream[WorkspaceEvent]:
    """A stream of the events of a workspace."""
    return EventStream(lambda count: WorkspaceEvent("dropped", count=count))


class Engine(Protocol):
    """Carries out requests: `LocalEngine` in this process, `RemoteEngine` in the service."""

    def run(self, request: Request[T], limits: Limits) -> T:
        """Carry out a request, and return its result."""
        ...

    def submit(self, request: Request[T], limits: Limits) -> Future[T]:
        """Carry out a request in another thread."""
        ...

    def events(self) -> EventStream[WorkspaceEvent]:
        """What happens to the servers from now on."""
        ...

    def close(self, *, at_once: bool = False) -> None:
        """Close the engine; `at_once` without waiting for servers to end by themselves."""
        ...


class Submitting:
    """An engine that returns futures: it turns any method of a workspace into its `submit`."""

    def __init__(self, engine: Engine) -> None:
        self.run: Any = engine.submit
        self.submit = engine.submit
        self.close = engine.close

    def events(self) -> EventStream[WorkspaceEvent]:
        """A stream of events is there at once."""
        raise TypeError("events cannot be submitted")
