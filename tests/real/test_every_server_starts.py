"""Every built-in server that can be had here starts as its definition says, and answers.

lspkit looks for the programs itself, on a PATH that has all of them: so the command, the settings
and the markers of the table are what is tested. The other servers are switched off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from lspkit.testing.leaks import leaks_since, take_snapshot
from tests import real_servers
from tests.real.running import TIMING
from tests.real.tiny_projects import TINY

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0


@dataclass(frozen=True)
class Started:
    ws: lspkit.Workspace
    #: The answer to the first question, for which the server was started: a report, or symbols of
    #: a server that finds nothing.
    first: Any


@pytest.fixture(scope="module")
def started(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Started]:
    """The tiny project of a server, opened with no other server in it, for all its questions.

    It is closed after the leak check of the last test, so it has one of its own.
    """
    server: str = request.param
    real_servers.require(server)
    place = tmp_path_factory.mktemp(server)
    folder, temporary = place / "project", place / "tmp"
    TINY[server].write(folder)
    temporary.mkdir()
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    snapshot = take_snapshot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        patch.setenv("PATH", str(real_servers.PROGRAMS), prepend=os.pathsep)
        with lspkit.Workspace(folder, config={"lsp": others, "timing": TIMING}) as ws:
            # Here, where the leak check of a test does not count its processes.
            ask = ws.check if TINY[server].finding else ws.document_symbols
            yield Started(ws, ask(TINY[server].main, timeout=TIMEOUT))
    assert leaks_since(snapshot) == []


def rows(kind: str) -> list[Any]:
    """The servers of which such an answer is wanted."""
    wanted = [server for server, tiny in TINY.items() if getattr(tiny, kind)]
    return [pytest.param(server, server, id=server) for server in wanted]


@pytest.mark.parametrize(
    ("started", "server"), rows("finding"), indirect=["started"], scope="module"
)
def test_it_finds_the_mistake_in_a_file(started: Started, server: str) -> None:
    tiny = TINY[server]
    report = started.first
    assert {one.server for one in report.servers} == {server}
    assert tiny.finding in "\n".join(one.message for one in report.diagnostics)


@pytest.mark.parametrize(
    ("started", "server"), rows("symbol"), indirect=["started"], scope="module"
)
def test_it_names_the_symbols_of_a_file(started: Started, server: str) -> None:
    tiny = TINY[server]
    symbols = started.first
    if tiny.finding:
        symbols = started.ws.document_symbols(tiny.main, timeout=TIMEOUT)
    assert tiny.symbol in [symbol.name for symbol in symbols]


def test_every_server_that_can_be_had_has_a_project() -> None:
    assert set(TINY) >= real_servers.known()
