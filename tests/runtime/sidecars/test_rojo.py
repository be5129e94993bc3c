"""Rojo beside luau-lsp: the source map follows the files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lspkit.config import ServerConfig
from lspkit.runtime.process.sidecar import Sidecar
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.sidecar_commands import commands
from tests.runtime.sidecars.hearing import LATER, SOON

pytestmark = pytest.mark.slow


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program `rojo`."""
    folder = tmp_path_factory.mktemp("bin")
    script = Path(__file__).parents[1] / "exchange" / "rojo.py"
    program = folder / "rojo"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -I -S "{script}" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return folder


def modules(path: Path) -> list[str]:
    """The modules of a source map."""
    children = json.loads(path.read_text(encoding="utf-8"))["children"]
    return [child["name"] for child in children]


def test_the_source_map_of_a_rojo_project_follows_its_files(tmp_path, programs, ear, guardian):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.luau").write_text("return 1\n", encoding="utf-8")
    (tmp_path / "game.project.json").write_text('{"name": "game"}', encoding="utf-8")
    [definition] = [one for one in BUILT_IN if one.id == "luau-lsp"]
    said = {"autogenerate": True, "rojoProjectFile": "game.project.json"}
    definition = definition.with_launch(initialization={"luau-lsp": {"sourcemap": said}})
    found = commands(definition, ServerConfig(), str(tmp_path), [str(programs)], trusted=True)
    [argv] = found.commands
    sidecar = Sidecar(argv, str(tmp_path), ear.env, guardian, restart=SOON)
    sidecar.start()
    try:
        assert ear.line() == "one"
        assert modules(tmp_path / "sourcemap.json") == ["one"]
        (tmp_path / "src" / "two.luau").write_text("return 2\n", encoding="utf-8")
        assert ear.line() == "one two"
        assert modules(tmp_path / "sourcemap.json") == ["one", "two"]
        (tmp_path / "src" / "one.luau").unlink()
        assert ear.line() == "two"
        assert "Created sourcemap" in sidecar.status().stderr
    finally:
        sidecar.stop()


def test_a_rojo_project_that_is_missing_is_told_of_in_rojos_words(
    tmp_path, programs, states, guardian
):
    argv = [str(programs / "rojo"), "sourcemap", "none.json", "--watch", "-o", "sourcemap.json"]
    sidecar = Sidecar(argv, str(tmp_path), {}, guardian, restart=LATER)
    sidecar.start()
    states.wait_for("waiting")
    status = sidecar.status()
    sidecar.stop()
    assert status.error == "it ended with exit status 1"
    assert "none.json" in status.stderr
