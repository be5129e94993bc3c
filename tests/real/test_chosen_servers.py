"""Of several real servers the project's own files choose one, also once they change."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests import real_servers

pytestmark = pytest.mark.server

TYPESCRIPT_7 = real_servers.SERVERS / "node-typescript-7" / "node_modules"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a machine that has all servers; the user has configured nothing."""
    monkeypatch.setenv("PATH", str(real_servers.PROGRAMS), prepend=":")
    monkeypatch.setenv("LSPKIT_CONFIG", str(tmp_path / "lsp.json"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def row(ws: lspkit.Workspace, server: str) -> lspkit.ServerStatus:
    return next(one for one in ws.status().rows if one.server == server)


@pytest.mark.parametrize("trusted", [True, False])
def test_typescript_7_in_a_project_checks_it(project: Path, trusted: bool) -> None:
    real_servers.require("typescript-7")
    (project / "package.json").write_text('{"devDependencies": {"typescript": "^7.0.0"}}')
    (project / "node_modules").symlink_to(TYPESCRIPT_7)
    (project / "a.ts").write_text("export function f(x) { return x; }\n")
    with lspkit.Workspace(project, trusted=trusted) as ws:
        report = ws.check("a.ts", timeout=60)
        assert {one.server for one in report.servers} == {"typescript-7"}
        # Below version 7 this is no error without `strict`.
        assert [str(one.code) for one in report.diagnostics] == ["7006"]
        assert row(ws, "typescript-7").why.startswith("the project has typescript 7.")


def test_the_checker_follows_the_configuration_of_the_project(project: Path) -> None:
    real_servers.require("ty")
    real_servers.require("pyright")
    (project / "a.py").write_text("x: int = ''\n")
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with lspkit.Workspace(project) as ws:
        assert "ty" in {one.server for one in ws.check("a.py", timeout=60).servers}
        assert row(ws, "ty").why.startswith("the project configures none")
        (project / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.pyright]\n")
        checkers = {one.server for one in ws.check("a.py", timeout=60).servers}
        assert "pyright" in checkers
        assert "ty" not in checkers
        why = "the project has [tool.pyright] in pyproject.toml"
        assert (row(ws, "pyright").why, row(ws, "ty").why) == (why, "")
        assert f"    chosen because {why}" in ws.status_text().splitlines()
