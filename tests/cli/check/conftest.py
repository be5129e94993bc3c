"""A project with a scripted server that has the findings that a test wants."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lspkit.testing import Diagnostics, Fault, Script
from tests.cli.check.repository import OLD, commit, git
from tests.cli.running import CommandLine
from tests.cli.shop import configured

PULL = "textDocument/diagnostic"


def finding(line: int = 0, **more: Any) -> dict[str, Any]:
    place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    return {"range": place, "severity": 1, "message": "wrong", **more}


#: Checks `a.scr` with a server that has these findings; more words are options.
Check = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def check_with(bare: CommandLine, tmp_path: Path, scripted: Any) -> Check:
    project = tmp_path / "project"
    project.mkdir()

    def check(
        findings: list[dict[str, Any]], *words: str, name: str = "a.scr", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("def greet\n" * 5, encoding="utf-8")
        pulled = Fault(PULL, "result", result={"kind": "full", "items": findings})
        argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=[pulled]))
        variables = configured(project, "scripted", command=argv, extensions=[".scr"], proof="pull")
        return bare("check", *words, f"./{name}", cwd=project, **variables, **environment)

    return check


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "pyproject.toml").write_text('[project]\nname = "p"\n', encoding="utf-8")
    (folder / "a.py").write_text(OLD, encoding="utf-8")
    (folder / "clean.py").write_text("x = 1\n", encoding="utf-8")
    commit(folder)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder
