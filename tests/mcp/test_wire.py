"""The wire of an MCP client and its roots, without a client."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest

import lspkit
from lspkit.mcp.mcp_process import serve_alone
from lspkit.mcp.mcp_session import ClientRoots, client_roots
from lspkit.mcp.wire_streams import Descriptors
from lspkit.workspace_boundary import boundary_of
from tests.mcp.raw_mcp import RawWire
from tests.service.site import PATIENCE


def test_roots_are_used_only_in_the_workspace(tmp_path: Path) -> None:
    inner, link = tmp_path / "project" / "inner", tmp_path / "project" / "link"
    inner.mkdir(parents=True)
    link.symlink_to("/")
    boundary = boundary_of(str(tmp_path / "project"))
    uris = [inner.as_uri(), link.as_uri(), "https://example.org", "file:///%00", "nonsense"]
    found = client_roots(uris, boundary)
    # A link to a folder around the workspace allows all of it.
    assert found.folders is None
    assert found.ignored == ("https://example.org", "file:///%00", "nonsense")
    assert client_roots(uris[:1], boundary).folders == (str(inner),)
    beside = tmp_path / "project2"
    assert client_roots([beside.as_uri()], boundary) == ClientRoots((), (beside.as_uri(),))
    assert client_roots([], boundary) == ClientRoots(None)


def test_a_signal_ends_it_also_while_the_workspace_is_opened() -> None:
    opening, go_on = threading.Event(), threading.Event()

    def open_workspace() -> lspkit.Workspace:
        opening.set()
        go_on.wait(60)
        raise lspkit.ServerUnavailableError("too late")

    def interrupt() -> None:
        opening.wait(60)
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=interrupt)
    sender.start()
    serve_alone(Descriptors(-1, -1), open_workspace, allow_apply=False)
    assert not go_on.is_set()
    go_on.set()
    sender.join()


def test_a_failure_of_lspkit_while_the_workspace_is_opened_is_told_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    there, here = os.pipe(), os.pipe()
    told: list[str] = []
    over = threading.Event()

    def open_workspace() -> lspkit.Workspace:
        raise RuntimeError("can't start new thread")

    def use() -> None:
        with contextlib.suppress(AssertionError):  # no message came
            told.append(RawWire(here[0], there[1]).begin()["instructions"])
        os.close(there[1])
        if not over.wait(PATIENCE):
            told.append("it has not ended")
            os.kill(os.getpid(), signal.SIGTERM)

    client = threading.Thread(target=use)
    client.start()
    serve_alone(Descriptors(there[0], here[1]), open_workspace, allow_apply=False)
    over.set()
    client.join()
    os.close(here[0])
    assert told == [
        "lspkit has no tools here: lspkit itself failed (RuntimeError); see its log",
    ]
    assert "RuntimeError: can't start new thread" in caplog.text
