"""Which positions real servers are sent, and that those which a file does not have are not.

Only the servers with a choice of encodings: what they are sent depends on it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from tests import real_servers
from tests.real.projects import ENCODINGS, PROJECTS
from tests.real.reading import Reader
from tests.real.recording import recorded, sent
from tests.real.running import command, workspace

pytestmark = pytest.mark.server

CHOOSERS = [server for server, offered in ENCODINGS.items() if len(offered) > 1]

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0


@pytest.fixture(params=CHOOSERS)
def server(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    real_servers.require(name)
    return name


@pytest.fixture
def folder(tmp_path: Path, server: str) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    PROJECTS[server].write(folder)
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "sent"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_position_is_sent_in_the_units_that_were_agreed(
    server: str, folder: Path, log: Path, encoding: str
) -> None:
    project = PROJECTS[server]
    place = project.place(project.far_use)
    argv = recorded(command(server), log)
    with workspace(folder, server, encoding=encoding, argv=argv) as ws:
        assert ws.definition(project.main, *place, timeout=TIMEOUT)

    messages = {message.get("method"): message.get("params") for message in sent(log)}
    general = messages["initialize"]["capabilities"]["general"]
    assert general["positionEncodings"] == [encoding]
    line, character = Reader(encoding).wire(folder / project.main, *place)
    position = messages["textDocument/definition"]["position"]
    assert position == {"line": line, "character": character}


@pytest.mark.parametrize(
    ("line", "column"), [(0, 1), (1, 0), (-1, 1), (1, 1.0), ("1", 1), (True, 1), (1, None)]
)
def test_what_can_be_no_position_is_refused_before_a_server_starts(
    server: str, folder: Path, log: Path, line: Any, column: Any
) -> None:
    argv = recorded(command(server), log)
    with (
        workspace(folder, server, argv=argv) as ws,
        pytest.raises(lspkit.PositionError) as refused,
    ):
        ws.definition(PROJECTS[server].main, line, column, timeout=TIMEOUT)

    assert refused.value.bounds
    assert not log.exists()


def test_a_position_beyond_the_end_is_refused_before_anything_about_the_file_is_sent(
    server: str, folder: Path, log: Path
) -> None:
    project = PROJECTS[server]
    lines = project.files[project.main].split("\n")
    line, column = project.place(project.far_use)
    beyond = [(len(lines) + 1, 1), (line, len(lines[line - 1]) + 2), (10**9, 1), (1, 10**9)]
    with workspace(folder, server, argv=recorded(command(server), log)) as ws:
        for place in beyond:
            with pytest.raises(lspkit.PositionError):
                ws.definition(project.main, *place, timeout=TIMEOUT)
        assert ws.definition(project.main, line, column, timeout=TIMEOUT)

    methods = [message.get("method", "") for message in sent(log)]
    about_files = [method for method in methods if method.startswith("textDocument/")]
    assert about_files == ["textDocument/didOpen", "textDocument/definition"]
