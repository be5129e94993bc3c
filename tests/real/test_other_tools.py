"""Files that other tools read, written as their documentation has them, give working servers.

Each names ty under another name. The user has switched off the servers that lspkit knows itself, so
what works can only come from the file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.status import ServerStatus
from tests import real_servers

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Name of the file: what it says. The same things in six hands.
FILES = {
    "opencode.json": """\
{
  "$schema": "https://opencode.ai/config.json",
  "theme": "system",
  "lsp": {
    "my-python": {
      "command": ["ty", "server"],
      "extensions": [".py"],
      "env": { "TY_LOG": "ty=info" },
      "initialization": { "logLevel": "info" }
    },
    "pyright": { "disabled": true }
  }
}
""",
    ".github/lsp.json": """\
{
  "lspServers": {
    "my-python": {
      "command": "ty",
      "args": ["server"],
      "fileExtensions": { ".py": "python" },
      "env": { "TY_LOG": "${NO_SUCH_VARIABLE:-ty=info}" },
      "initializationOptions": { "logLevel": "info" },
      "requestTimeoutMs": 60000
    }
  }
}
""",
    ".lsp.json": """\
{
  "my-python": {
    "command": "ty",
    "args": ["server"],
    "transport": "stdio",
    "extensionToLanguage": { ".py": "python" },
    "env": { "TY_LOG": "ty=info" },
    "initializationOptions": { "logLevel": "info" },
    "startupTimeout": 60000,
    "restartOnCrash": true,
    "maxRestarts": 3
  }
}
""",
    ".pi/lsp.json": """\
{
  "lsp": {
    "my-python": {
      "command": ["ty", "server"],
      "extensions": [".py"],
      "roots": ["pyproject.toml"],
      "env": { "TY_LOG": "ty=info" },
      "initialization": { "logLevel": "info" }
    }
  },
  "timing": { "requestTimeoutMs": 60000, "initializeTimeoutMs": 60000 }
}
""",
    ".dispatch/lsp.json": """\
{
  "servers": {
    "my-python": {
      "name": "Python",
      "command": ["ty", "server"],
      "extensions": [".py"],
      "rootMarkers": ["pyproject.toml"],
      "env": { "TY_LOG": "ty=info" },
      "initialization": { "logLevel": "info" }
    }
  }
}
""",
    "pyproject.toml": """\
[project]
name = "sample"

[tool.lspkit.lsp.my-python]
command = ["ty", "server"]
extensions = [".py"]
env = { TY_LOG = "ty=info" }
initialization = { logLevel = "info" }

[tool.lspkit.timing]
request_timeout_ms = 60000
""",
}
#: What ty says of itself where it is told to; without it, nothing.
TOLD = "INFO"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who wants no server, and a project with a mistake."""
    real_servers.require("ty")
    monkeypatch.delenv("LSPKIT_TRUST")
    others = {one.id: {"disabled": True} for one in BUILT_IN}
    (tmp_path / "lsp.json").write_text(json.dumps({"lsp": others}), encoding="utf-8")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("LSPKIT_CONFIG", str(tmp_path / "lsp.json"))
    monkeypatch.setenv("PATH", str(real_servers.PROGRAMS), prepend=":")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text('number: int = "x"\n', encoding="utf-8")
    return folder


def write(project: Path, name: str) -> None:
    file = project / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(FILES[name], encoding="utf-8")


def row_of(ws: lspkit.Workspace) -> ServerStatus:
    return next(row for row in ws.status().rows if row.server == "my-python")


@pytest.mark.parametrize(
    "name",
    list(FILES),
)
def test_its_server_runs_as_the_file_says(project: Path, name: str) -> None:
    write(project, name)
    with lspkit.Workspace(project, trusted=True) as ws:
        report = ws.check("main.py", timeout=60)
        row = row_of(ws)
        assert ws.status().warnings == ()
    assert [one.server for one in report.servers] == ["my-python"]
    assert "not assignable to `int`" in "".join(one.message for one in report.diagnostics)
    assert (row.source, row.trust) == ("project", "trusted")
    assert Path(row.command[0]).name == "ty"
    assert row.command[1:] == ("server",)
    assert TOLD in row.roots[0].stderr


@pytest.mark.parametrize("name", FILES)
def test_its_server_does_not_run_in_a_project_that_is_not_trusted(project: Path, name: str) -> None:
    write(project, name)
    with lspkit.Workspace(project) as ws:
        with pytest.raises(lspkit.LspkitError):
            ws.check("main.py", timeout=60)
        row, warnings = row_of(ws), "\n".join(ws.status().warnings)
    assert row.command == ()
    assert row.roots == ()
    assert f"{project / name}: lsp.my-python.command: it is left out" in warnings
    assert f"lspkit trust add {project}" in warnings
