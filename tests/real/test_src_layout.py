"""A package with its modules in `src`: the findings are those of the command line.

However little the server is told, and whatever the user sets.
"""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING

pytestmark = pytest.mark.server

#: By server: its command line, and the name of its section.
SERVERS = {
    "basedpyright": (real_servers.SERVERS / "python" / "bin" / "basedpyright", "basedpyright"),
    "pyright": (real_servers.PROGRAMS / "pyright", "python"),
}
FILES = {
    "pyproject.toml": "",
    "src/pk/__init__.py": "",
    "src/pk/sizes.py": "def twice(size: int) -> int:\n    return size * 2\n",
    # Of each a wrong use, which is only seen if it is found; and what a stricter mode would tell.
    "tests/test_sizes.py": """\
import installed
from pk.sizes import twice

twice("x")
installed.taken("x")


def untyped(one, more=[]):
    return one
""",
}
#: A package in its virtual environment.
INSTALLED = "def taken(a: int) -> None: ...\n"
CHECKED = "tests/test_sizes.py"

#: What the user sets, and what the same is in the project's configuration.
CONFIGURED: dict[str, tuple[dict[str, Any], str]] = {
    "as it comes": ({}, ""),
    "strict": ({"typeCheckingMode": "strict"}, 'typeCheckingMode = "strict"'),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    venv.create(folder / ".venv", with_pip=False, symlinks=True)
    [packages] = folder.glob(".venv/lib/python*/site-packages")
    (packages / "installed").mkdir()
    (packages / "installed" / "__init__.py").write_text(INSTALLED, encoding="utf-8")
    (packages / "installed" / "py.typed").touch()
    return folder


Findings = set[tuple[int, str, str]]


def _on_the_command_line(server: str, project: Path, said: str) -> Findings:
    """What it says if the project's own configuration says this."""
    program, _ = SERVERS[server]
    manifest, interpreter = project / "pyproject.toml", project / ".venv" / "bin" / "python"
    manifest.write_text(f"[tool.{server}]\n{said}\n" if said else "", encoding="utf-8")
    done = subprocess.run(
        [program, "--outputjson", "--pythonpath", interpreter, CHECKED],
        cwd=project,
        env=real_servers.environment(server),
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    manifest.write_text("", encoding="utf-8")
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {(one["range"]["start"]["line"] + 1, one["severity"], one["message"]) for one in found}


def _through_lspkit(
    server: str, project: Path, settings: dict[str, Any], *, trusted: bool
) -> Findings:
    """What it says if the user's settings say this."""
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    said = {
        "command": real_servers.command(server),
        "env": real_servers.environment(server),
        "settings": settings,
    }
    config = {"lsp": {**others, server: said}, "timing": TIMING}
    with lspkit.Workspace(project, config=config, trusted=trusted) as ws:
        report = ws.check(CHECKED, timeout=60.0)
    assert report.verdict is lspkit.Verdict.DIRTY
    return {
        (one.range.start.line, one.severity.value, one.message)
        for one in report.diagnostics
        if one.severity is not lspkit.Severity.HINT
    }


@pytest.mark.parametrize("configured", CONFIGURED)
@pytest.mark.parametrize("server", SERVERS)
def test_the_findings_are_those_of_the_command_line(
    server: str, configured: str, project: Path
) -> None:
    real_servers.require(server)
    analysis, in_file = CONFIGURED[configured]
    settings = {SERVERS[server][1]: {"analysis": analysis}} if analysis else {}
    expected = _on_the_command_line(server, project, in_file)
    assert {4, 5} <= {line for line, severity, _ in expected if severity == "error"}
    assert _through_lspkit(server, project, settings, trusted=True) == expected
    assert _through_lspkit(server, project, settings, trusted=False) == expected
