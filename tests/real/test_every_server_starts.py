"""Every built-in server that can be had here starts as its definition says, and answers.

lspkit looks for the programs itself, on a PATH that has all of them: so the command, the settings
and the markers of the table are what is tested. The other servers are switched off.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING
from tests.real.tiny_projects import TINY

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0


@pytest.fixture
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> lspkit.Workspace:
    """The tiny project of a server, opened with no other server in it."""
    server: str = request.param
    real_servers.require(server)
    folder = tmp_path / "project"
    TINY[server].write(folder)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    path = f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    return lspkit.Workspace(folder, config={"lsp": others, "timing": TIMING})


def rows(kind: str) -> list[Any]:
    """The servers of which such an answer is wanted."""
    wanted = [server for server, tiny in TINY.items() if getattr(tiny, kind)]
    return [pytest.param(server, server, id=server) for server in wanted]


@pytest.mark.parametrize(("project", "server"), rows("symbol"), indirect=["project"])
def test_it_names_the_symbols_of_a_file(project: lspkit.Workspace, server: str) -> None:
    tiny = TINY[server]
    with project:
        symbols = project.document_symbols(tiny.main, timeout=TIMEOUT)
    assert tiny.symbol in [symbol.name for symbol in symbols]


@pytest.mark.parametrize(("project", "server"), rows("finding"), indirect=["project"])
def test_it_finds_the_mistake_in_a_file(project: lspkit.Workspace, server: str) -> None:
    tiny = TINY[server]
    with project:
        report = project.check(tiny.main, timeout=TIMEOUT)
    assert {one.server for one in report.servers} == {server}
    assert tiny.finding in "\n".join(one.message for one in report.diagnostics)


def test_every_server_that_can_be_had_has_a_project() -> None:
    assert set(TINY) >= real_servers.known()
