"""The stream of events of a workspace, in this process and through the service."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.protocol.wire.framing import FrameReader, frame
from lspkit.servers.status import ServerState, WorkspaceEvent
from lspkit.service.client_session import ClientSession
from lspkit.service.peer import EVENT_QUEUE, Peer
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.service.shared_workspace import SharedWorkspace
from lspkit.testing import Fault, Script, progress
from tests.scripted import config_for
from tests.service.site import PATIENCE, Site

SCRIPT = Script(say=[*progress("load")], faults=[Fault("textDocument/hover", "crash", run=1)])


@contextmanager
def workspace(engine: str, site: Site) -> Iterator[lspkit.Workspace]:
    if engine == "service":
        with site.connect() as ws:
            yield ws
    else:
        config = config_for(site.argv)
        with lspkit.Workspace(site.project, config=config, trusted=True) as ws:
            yield ws


def until(
    events: Iterator[WorkspaceEvent], kind: str, state: ServerState | None = None
) -> list[WorkspaceEvent]:
    """The events up to the first of this kind."""
    seen: list[WorkspaceEvent] = []
    for event in events:
        seen.append(event)
        if event.kind == kind and event.state is state:
            return seen
    raise AssertionError(f"the stream has ended: {seen}")


@pytest.mark.parametrize("engine", ["in process", "service"])
def test_states_progress_and_reports_are_told(engine: str) -> None:
    with Site(SCRIPT) as site, workspace(engine, site) as ws, ws.events() as events:
        stream = iter(events)
        ws.check("a.scr", timeout=PATIENCE)
        seen = until(stream, "diagnostics")
        states = [one.state for one in seen if one.kind == "state"]
        assert states == [ServerState.STARTING, ServerState.ACTIVE]
        work = [(one.title, one.done) for one in seen if one.kind == "progress"]
        assert work[:1] == [("load", False)]
        assert (seen[-1].server, seen[-1].path) == ("scripted", str(site.project / "a.scr"))
        with pytest.raises(lspkit.LspkitError):
            ws.hover("a.scr", 2, 4)
        assert until(stream, "state", ServerState.BROKEN)


@pytest.mark.parametrize("engine", ["in process", "service"])
def test_a_stream_ends_with_its_workspace(engine: str) -> None:
    with Site(SCRIPT) as site, workspace(engine, site) as ws:
        events = ws.events()
        ws.close()
        assert list(events) == []


def test_a_stream_ends_with_the_service() -> None:
    with Site(SCRIPT) as site, site.connect() as ws:
        events = ws.events()
        site.end_service()
        assert list(events) == []


def test_a_closed_stream_takes_nothing(site: Site) -> None:
    with site.connect() as ws:
        with ws.events() as events:
            pass
        ws.check("a.scr", timeout=PATIENCE)
        assert events.get(0) is None


class SlowReader:
    """A client that reads only when it is told to, of a service in this process."""

    def __init__(self, shared: SharedWorkspace) -> None:
        near, self._socket = socket.socketpair()
        self._socket.settimeout(PATIENCE)
        self._reader = FrameReader()
        self._peer = Peer(near, lambda _, one: session.take(one), lambda _: session.end(), "test")
        session = ClientSession(shared, self._peer)
        self._peer.start()

    def ask(self, method: str) -> None:
        """Send a request, and read all messages up to its answer."""
        self._socket.sendall(
            frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode())
        )
        while not any("id" in one for one in self.read()):
            pass

    def read(self) -> list[dict[str, Any]]:
        """The next messages."""
        while not (found := self._reader.feed(self._socket.recv(1 << 16))):
            pass
        return [json.loads(one) for one in found]

    def close(self) -> None:
        self._socket.close()
        self._peer.close()


def test_a_client_that_reads_late_is_told_what_it_has_missed_without_a_further_event(
    tmp_path: Path,
) -> None:
    shared = SharedWorkspace(bootstrap_of(tmp_path, None, None), lambda _: None, lambda: None)
    client = SlowReader(shared)
    client.ask("lsp/subscribe")
    sent = 100
    event = WorkspaceEvent("progress", "scripted", title="x" * (4 * EVENT_QUEUE // sent))
    for _ in range(sent):
        shared.engine._on_event(event)
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["kind"] != "dropped":
        seen += [one["params"] for one in client.read()]
    assert 0 < seen[-1]["count"] == sent - len(seen) + 1
    client.close()
    shared.close()
