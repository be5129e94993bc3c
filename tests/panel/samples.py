"""Statuses for the panel's tests and its picture, and an engine that has one of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from lspkit.errors import WorkspaceClosedError
from lspkit.operations import Request, RestartServerRequest, StatusRequest, TrustNoticeRequest
from lspkit.operations.host_results import TrustNotice
from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.runtime.engine_api import Limits, event_stream
from lspkit.servers.status import (
    NOT_FOUND,
    Broken,
    Checks,
    Requests,
    RootStatus,
    ServerState,
    ServerStatus,
    WorkspaceEvent,
    WorkspaceStatus,
    snapshot,
)

#: Seconds since 1970 at which all samples were taken.
NOW = 1_800_000_000.0
ROOT = "/home/ada/shop"


def server(id: str, state: ServerState = ServerState.IDLE, **more: Any) -> ServerStatus:
    """A server without a process."""
    given = {
        "languages": ("scripted",),
        "extensions": (".scr",),
        "markers": ("root.marker",),
        "source": "built-in",
        "command": (f"/usr/bin/{id}", "--stdio"),
        "verified": "1.2.3",
    }
    return ServerStatus(server=id, state=state, **{**given, **more})


def running(
    id: str, state: ServerState = ServerState.ACTIVE, folder: str = "", **more: Any
) -> ServerStatus:
    """A server with one process."""
    given: dict[str, Any] = {"pid": 4242, "memory_bytes": 212_000_000, "last_seen": 1.5}
    about = {key: more.pop(key) for key in list(more) if key in RootStatus.__struct_fields__}
    root = RootStatus(root=ROOT + folder, state=state, **{**given, **about})
    return server(id, state, roots=(root,), **more)


def broken(id: str, error: str, retry_in: float | None = 4.0, **more: Any) -> ServerStatus:
    """A server that has failed."""
    failed = Broken(3, retry_in, error)
    about = {"pid": None, "memory_bytes": 0, "broken": failed}
    return running(id, ServerState.BROKEN, **{**about, **more})


def taken(rows: Sequence[ServerStatus], **more: Any) -> WorkspaceStatus:
    """The status with these servers."""
    return snapshot(rows, NOW, **more)


def shop() -> WorkspaceStatus:
    """A typical project: one server is broken, one starts, three answer."""
    return taken(
        [
            broken(
                "gopls",
                "gopls has ended with exit status 2: go: no such tool in the module cache",
                folder="/api",
                languages=("go",),
                extensions=(".go",),
                stderr="gopls: reading the module cache\npanic: runtime error: invalid memory\n",
            ),
            running(
                "rust-analyzer",
                ServerState.STARTING,
                "/engine",
                memory_bytes=640_000_000,
                busy_with=("Indexing 212/480",),
                busy_for=(12.0,),
            ),
            running(
                "basedpyright",
                source="merged",
                memory_bytes=412_000_000,
                name="basedpyright 1.31.4",
                cpu_seconds=18.4,
                documents=3,
                requests=Requests(128, 11.0, 42.0, 1, in_flight=("textDocument/references",)),
                checks=Checks(14, 40.0, 120.0, files=3),
                diagnostics={"error": 2, "warning": 5, "info": 0, "hint": 1, "total": 8},
            ),
            running("ruff", memory_bytes=38_000_000, diagnostics={"warning": 3, "total": 3}),
            running("vtsls", folder="/web", memory_bytes=1_240_000_000),
            server("bash"),
            server("yaml"),
            server(
                "clangd",
                ServerState.UNAVAILABLE,
                reason=NOT_FOUND,
                install="apt-get install clangd",
                command=(),
            ),
            server("lua", ServerState.DISABLED, source="project"),
        ]
    )


def many(number: int) -> WorkspaceStatus:
    """So many servers, in all states, some with wide characters."""
    states = list(ServerState)
    rows = []
    for at in range(number):
        state, id = states[at % len(states)], f"server-{at:02}" + ("界" * (at % 7))
        if state is ServerState.BROKEN:
            rows.append(broken(id, f"界世{'long ' * 60}", folder="/幅の広い/フォルダ"))
        elif state in (ServerState.STARTING, ServerState.ACTIVE):
            counts = {"error": 1234, "warning": 99, "total": 1333}
            rows.append(running(id, state, "/幅の広い", diagnostics=counts, stderr="界" * 300))
        else:
            rows.append(server(id, state, reason="理由" * 40, install="install 界" * 30))
    return taken(rows)


class FixedEngine:
    """An engine without servers: it has the status that a test gives it, and notes the rest."""

    def __init__(self, status: WorkspaceStatus, notice: TrustNotice | None = None) -> None:
        self.status = status
        self.notice = notice or TrustNotice(ROOT, "", state="trusted")
        self.requests: list[Request[Any]] = []
        #: Raised instead of a status.
        self.problem: Exception | None = None
        self.streams: list[EventStream[WorkspaceEvent]] = []

    def run(self, request: Request[Any], limits: Limits) -> Any:
        """Answer at once."""
        self.requests.append(request)
        if isinstance(request, TrustNoticeRequest):
            return self.notice
        if isinstance(request, RestartServerRequest):
            return [ROOT]
        if self.problem is not None:
            raise self.problem
        assert isinstance(request, StatusRequest)
        return self.status

    def submit(self, request: Request[Any], limits: Limits) -> Future[Any]:
        """Nothing is submitted here."""
        raise NotImplementedError

    def events(self) -> EventStream[WorkspaceEvent]:
        """A stream into which a test puts events."""
        self.streams.append(event_stream())
        return self.streams[-1]

    def tell(self, status: WorkspaceStatus | None = None) -> None:
        """Something has happened."""
        self.status = status or self.status
        for stream in self.streams:
            stream.put(WorkspaceEvent("state"))

    def taken(self) -> int:
        """How many statuses were taken."""
        return sum(isinstance(one, StatusRequest) for one in self.requests)

    def close(self, *, at_once: bool = False) -> None:
        """The workspace was closed: its streams end."""
        self.problem = WorkspaceClosedError("this workspace was closed")
        for stream in self.streams:
            stream.close()
