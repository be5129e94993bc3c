"""A Luau project: Rojo runs beside the server, which learns of new modules without a restart."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

import lspkit
from lspkit.servers.status import RootStatus
from lspkit.testing import Diagnostics, Fault, Log, Script, watchers
from tests.runtime.server_log import POKE, WATCHED, heard, written_outside

HERE = Path(__file__).parent
MAIN = "src/main.luau"
#: What the real server registers for: its source map, and its own files.
SCRIPT = Script(
    diagnostics=Diagnostics(how="pull"),
    say=[watchers("sourcemap.json", "**/*.luau")],
    faults=[Fault(POKE, "crash", code=3)],
)


def program(path: Path, script: Path) -> None:
    line = f'exec "{sys.executable}" "{script}" "$@"'
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def rojo(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Puts a program `rojo` where programs are looked for."""
    folder = tmp_path_factory.mktemp("bin")
    program(folder / "rojo", HERE / "rojo.py")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def argv(tmp_path: Path, scripted) -> list[str]:
    """The server, and a project whose file needs a module that is not there."""
    (tmp_path / "src").mkdir()
    (tmp_path / MAIN).write_text("NEED util\n", encoding="utf-8")
    (tmp_path / "default.project.json").write_text('{"name": "game"}', encoding="utf-8")
    return [sys.executable, str(HERE / "luau_server.py"), scripted(SCRIPT)[-1]]


def opened(folder: Path, argv: list[str], **more: Any) -> lspkit.Workspace:
    source_map = {"autogenerate": True, "rojoProjectFile": "default.project.json"}
    server = {
        "command": argv,
        "initialization": {"luau-lsp": {"sourcemap": source_map}},
    }
    return lspkit.Workspace(folder, config={"lsp": {"luau-lsp": server}, **more})


def verdict(ws: lspkit.Workspace, log: Log, wanted: str) -> str:
    """The verdict on the file, looked at again after each note until it is the wanted one."""
    for count in range(1, 20):
        found = ws.check(MAIN).verdict.value
        if found == wanted:
            return found
        log.wait_for_message(WATCHED, count=count)
    return found


def root_of(ws: lspkit.Workspace) -> RootStatus:
    [row] = [row for row in ws.status().rows if row.server == "luau-lsp"]
    return row.roots[0]


def test_a_module_that_another_process_makes_resolves_without_a_restart(tmp_path, argv, rojo):
    log = Log.of(argv)
    with opened(tmp_path, argv) as ws:
        assert ws.check(MAIN).verdict.dirty
        written_outside(tmp_path / "src" / "util.luau", "return {}\n")
        assert verdict(ws, log, "clean") == "clean"
        assert "sourcemap.json" in [name for name, _ in heard(log)]
    assert len(log.pids()) == 1
    assert log.complaints() == []


def test_a_module_that_lspkit_writes_resolves_and_one_that_it_deletes_no_longer(
    tmp_path, argv, rojo
):
    log = Log.of(argv)
    with opened(tmp_path, argv) as ws:
        assert ws.check(MAIN).verdict.dirty
        ws.write("src/util.luau", "return {}\n")
        assert verdict(ws, log, "clean") == "clean"
        ws.delete("src/util.luau")
        assert verdict(ws, log, "dirty") == "dirty"
    assert len(log.pids()) == 1


def test_the_program_beside_the_server_is_in_the_status_and_ends_with_the_workspace(
    tmp_path, argv, rojo
):
    with opened(tmp_path, argv) as ws:
        ws.check(MAIN)
        Log.of(argv).wait_for_message(WATCHED)  # it has written its first map
        [sidecar] = root_of(ws).sidecars
        assert sidecar.state == "running"
        assert Path(sidecar.command[0]).name == "rojo"
        words = ("sourcemap", "default.project.json", "--watch", "-o", "sourcemap.json")
        assert sidecar.command[1:] == words
        assert "beside it: " in ws.status_text()
        process = psutil.Process(sidecar.pid)
        assert process.cwd() == str(tmp_path)
    assert not process.is_running()


def test_the_program_is_started_with_each_server_and_ends_with_it(tmp_path, argv, rojo):
    with opened(tmp_path, argv, restart={"baseMs": 0}) as ws:
        ws.check(MAIN)
        Log.of(argv).wait_for_message(WATCHED)
        first = psutil.Process(root_of(ws).sidecars[0].pid)
        with pytest.raises(lspkit.ServerBrokenError):
            ws.request(MAIN, POKE)
        ws.check(MAIN)
        first.wait(30)
        written_outside(tmp_path / "src" / "util.luau", "return {}\n")
        assert verdict(ws, Log.of(argv), "clean") == "clean"
        [second] = root_of(ws).sidecars
    assert second.pid != first.pid


def test_without_rojo_the_server_runs_and_the_status_says_what_is_missing(
    tmp_path, argv, monkeypatch
):
    monkeypatch.setenv("PATH", "/nonexistent")
    with opened(tmp_path, argv) as ws:
        assert ws.check(MAIN).verdict.dirty
        assert root_of(ws).sidecars == ()
        [warning] = ws.status().warnings
    assert "rojo was not found" in warning
