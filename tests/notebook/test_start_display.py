"""What the display of starting servers says, event by event."""

from __future__ import annotations

import lspkit
from lspkit.notebook.open_workspaces import Starts, has_displays, opened
from lspkit.servers.status import ServerState, WorkspaceEvent
from lspkit.workspace.workspace import opened_hooks


def state(server: str, new: ServerState) -> WorkspaceEvent:
    return WorkspaceEvent("state", server, "/w", new)


def test_it_tells_of_servers_that_start_and_how_long_that_took():
    starts = Starts()
    starts.tell(state("ty", ServerState.STARTING), 10.0)
    starts.tell(state("ruff", ServerState.STARTING), 11.0)
    starts.tell(WorkspaceEvent("progress", "ty", "/w", title="Indexing\n<b>"), 11.5)
    assert starts.lines(12.0) == ["ty: Indexing <b>, 2 s", "ruff: starting, 1 s"]
    starts.tell(state("ty", ServerState.ACTIVE), 13.0)
    assert starts.busy
    starts.tell(state("ruff", ServerState.BROKEN), 14.5)
    assert starts.lines(15.0) == ["ty: ready after 3.0 s", "ruff: broken after 3.5 s"]
    assert not starts.busy


def test_what_servers_do_later_is_not_told():
    starts = Starts()
    starts.tell(WorkspaceEvent("progress", "ty", "/w", title="checking"), 1.0)
    starts.tell(WorkspaceEvent("diagnostics", "ty", "/w", path="/w/a.py"), 1.0)
    starts.tell(state("ty", ServerState.IDLE), 1.0)
    assert (starts.lines(2.0), starts.began) == ([], None)


def test_long_names_are_cut():
    starts = Starts()
    starts.tell(state("x" * 10**6, ServerState.STARTING), 0.0)
    assert len(starts.lines(1.0)[0]) < 200


def test_outside_of_a_notebook_nothing_is_followed(tmp_path):
    assert not has_displays()
    assert opened not in opened_hooks
    with lspkit.Workspace(tmp_path) as ws:
        opened(ws)  # starts no thread: the leak check would see it
