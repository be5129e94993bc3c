"""Ways in which a project may try to have its programs run, from its files to a real server."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.errors import ServerUnavailableError
from lspkit.servers.status import ServerStatus
from tests import real_servers
from tests.real.planting import Planted

pytestmark = [pytest.mark.server, pytest.mark.slow]

WRONG = 'number: int = "x"\n'


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A user who has ty, and a project with a mistake."""
    real_servers.require("ty")
    made = Planted(tmp_path)
    monkeypatch.delenv("LSPKIT_TRUST")
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    made.install("ty")
    made.only("ty")
    made.write("main.py", WRONG)
    return made


def own_server(planted: Planted, folder: str = ".") -> Path:
    """A server in a folder's `.venv`, which leaves a note and works."""
    return planted.program(f"{folder}/.venv/bin/ty", then=f'exec {planted.tools}/ty "$@"')


def configure(planted: Planted, **server: Any) -> None:
    planted.write(".lspkit/lsp.json", json.dumps({"lsp": {"ty": server}}))


def row_of(ws: lspkit.Workspace) -> ServerStatus:
    return next(row for row in ws.status().rows if row.server == "ty")


def is_checked(ws: lspkit.Workspace, file: str = "main.py") -> bool:
    return ws.check(file, timeout=60).verdict == "dirty"


def test_a_project_cannot_trust_itself(planted: Planted) -> None:
    own, root = own_server(planted), str(planted.project)
    itself = {"projectConfigPolicy": "always", "trustedProjectRoots": [root, "/**"]}
    said = {"lsp": {"ty": {"command": [str(own), "server"]}}, "security": itself}
    planted.write(".lspkit/lsp.json", json.dumps(said))
    entry = {"path": root, "digest": "0" * 64, "added": "2026-01-01"}
    planted.write("trust.json", json.dumps({"version": 1, "entries": [entry]}))
    planted.write(".env", "LSPKIT_TRUST=always\n")
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws)
        assert row_of(ws).trust == "restricted"
        warnings = "\n".join(ws.status().warnings)
    assert planted.ran == []
    assert "security: it is ignored" in warnings
    assert "lsp.ty.command: it is left out" in warnings


def test_a_link_in_a_trusted_folder_makes_nothing_trusted(planted: Planted) -> None:
    own_server(planted)
    mine = planted.folder / "mine"
    mine.mkdir()
    (mine / "link").symlink_to(planted.project)
    planted.lspkit("trust", "add", mine, "--yes")
    with lspkit.Workspace(mine / "link") as ws:
        assert is_checked(ws)
        assert row_of(ws).trust == "restricted"
    assert planted.ran == []


def test_a_link_to_a_trusted_folder_is_that_folder(planted: Planted) -> None:
    own_server(planted)
    link = planted.folder / "link"
    link.symlink_to(planted.project)
    planted.lspkit("trust", "add", planted.project, "--yes")
    with lspkit.Workspace(link) as ws:
        assert is_checked(ws)
        assert row_of(ws).trust == "trusted"
    assert planted.ran != []


def test_a_folder_whose_name_only_begins_the_same_is_not_trusted(planted: Planted) -> None:
    own_server(planted)
    shorter = planted.folder / "proj"
    shorter.mkdir()
    planted.lspkit("trust", "add", shorter, "--yes")
    planted.only("ty", security={"trustedProjectRoots": [str(shorter), f"{shorter}/**"]})
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws)
        assert row_of(ws).trust == "restricted"
    assert planted.ran == []


@pytest.mark.parametrize("by", ["list", "roots"])
def test_a_clone_inside_of_a_trusted_repository_is_not_trusted(planted: Planted, by: str) -> None:
    planted.write(".git/HEAD", "")
    planted.write("lib/inner/.git/HEAD", "")
    planted.write("lib/inner/pyproject.toml", "")
    planted.write("lib/inner/main.py", WRONG)
    own_server(planted, "lib/inner")
    if by == "list":
        planted.lspkit("trust", "add", planted.project, "--yes")
    else:
        planted.only("ty", security={"trustedProjectRoots": [str(planted.project)]})
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws, "lib/inner/main.py")
        assert planted.ran == []
        own_server(planted)
        assert is_checked(ws)
    assert [note.split()[1] for note in planted.ran] == [f"{planted.project}/.venv/bin/ty"]


def test_a_command_that_changed_after_trust_does_not_run(planted: Planted) -> None:
    own_server(planted)
    configure(planted, command=["ty", "server"])
    planted.lspkit("trust", "add", planted.project, "--yes")
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws)
    assert [note.split()[2:] for note in planted.ran] == [["server"]]
    configure(planted, command=["ty", "server", "--evil"])
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws)
        assert row_of(ws).trust == "restricted"
        warnings = "\n".join(ws.status().warnings)
        assert "lsp.ty.command: it is left out (the project is stale" in warnings
    assert [note.split()[2:] for note in planted.ran] == [["server"]]


def test_all_of_a_project_is_stale_together(planted: Planted) -> None:
    planted.write("pkg/pyproject.toml", "")
    planted.write("pkg/main.py", WRONG)
    own_server(planted, "pkg")
    configure(planted, command=["ty", "server"])
    planted.lspkit("trust", "add", planted.project, "--yes")
    configure(planted, command=["ty", "server", "--evil"])
    with lspkit.Workspace(planted.project) as ws:
        assert is_checked(ws, "pkg/main.py")
    assert planted.ran == []


def test_a_server_that_only_the_project_knows_is_unavailable_and_says_why(
    planted: Planted,
) -> None:
    run = planted.program("bin/evil")
    server = {"command": [str(run)], "extensions": [".evil"]}
    planted.write(".lspkit/lsp.json", json.dumps({"lsp": {"evil": server}}))
    planted.write("main.evil", "")
    with lspkit.Workspace(planted.project) as ws:
        with pytest.raises(ServerUnavailableError):
            ws.check("main.evil")
        told = "\n".join(ws.status().warnings)
    assert planted.ran == []
    assert f"to allow it: lspkit trust add {planted.project}" in told


def test_such_a_server_is_held_back_rather_than_not_installed(planted: Planted) -> None:
    server = {"command": ["evil"], "extensions": [".evil"]}
    planted.write(".lspkit/lsp.json", json.dumps({"lsp": {"evil": server}}))
    planted.write("main.evil", "")
    with lspkit.Workspace(planted.project) as ws, pytest.raises(ServerUnavailableError) as caught:
        ws.check("main.evil")
    assert "not trusted" in caught.value.message
    assert caught.value.rule == "untrusted"


@pytest.mark.parametrize("trusted", [None, True])
@pytest.mark.parametrize("name", [".lspkit/lsp.json", "pyproject.toml", "opencode.json"])
def test_a_configuration_of_a_gigabyte_is_not_read(
    planted: Planted, name: str, trusted: bool | None
) -> None:
    with open(planted.write(name, ""), "r+b") as file:
        file.truncate(2**30)
    begun = time.monotonic()
    with lspkit.Workspace(planted.project, trusted=trusted) as ws:
        assert time.monotonic() - begun < 5
        warnings = "\n".join(ws.status().warnings)
    assert f"{name}: the whole file is ignored" in warnings
    assert "it has more than 256 KiB" in warnings


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("trusted", [None, True])
def test_a_configuration_that_is_a_fifo_is_not_waited_for(
    planted: Planted, trusted: bool | None
) -> None:
    (planted.project / ".lspkit").mkdir()
    os.mkfifo(planted.project / ".lspkit" / "lsp.json")
    with lspkit.Workspace(planted.project, trusted=trusted) as ws:
        assert is_checked(ws)
        assert "it is not a regular file" in "\n".join(ws.status().warnings)


@pytest.mark.parametrize("words", [("check", "main.py"), ("config", "show"), ("trust", "list")])
def test_no_command_waits_for_a_fifo(planted: Planted, words: tuple[str, ...]) -> None:
    (planted.project / ".lspkit").mkdir()
    os.mkfifo(planted.project / ".lspkit" / "lsp.json")
    status = {"check": 1, "config": 2, "trust": 0}[words[0]]
    done = planted.lspkit(*words, cwd=planted.project, status=status)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("trusted", [None, True])
@pytest.mark.parametrize("place", ["node_modules/.bin", ".venv/bin", "tools"])
def test_a_server_of_the_clone_around_the_workspace_runs_only_with_trust(
    planted: Planted, monkeypatch: pytest.MonkeyPatch, place: str, trusted: bool | None
) -> None:
    """As npm and an activated environment put it into PATH."""
    real_servers.require("json")
    planted.install("json")
    planted.only("json")
    planted.write(".git/HEAD", "")
    planted.write("packages/app/main.json", "{,}")
    name = "vscode-json-language-server"
    planted.program(f"{place}/{name}", then=f'exec {planted.tools}/{name} "$@"')
    path = f"{planted.project}/{place}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    with lspkit.Workspace(planted.project / "packages" / "app", trusted=trusted) as ws:
        assert is_checked(ws, "main.json")
    assert len(planted.ran) == (1 if trusted else 0)
