"""The stream of events of a workspace, in this process and through the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import lspkit
from lspkit.servers.status import ServerState
from lspkit.servers.workspace_event import WorkspaceEvent
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
