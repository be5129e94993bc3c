"""gopls registers all folders of a project in one pattern, and again after each new package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import real_servers
from tests.real.running import workspace_with

pytestmark = [pytest.mark.server, pytest.mark.slow]


def package(folder: Path, name: str, body: str = "") -> Path:
    path = folder / name / "file.go"
    path.parent.mkdir()
    path.write_text(f"package {name}\n\nfunc Value() int {{ return 1 }}\n{body}", encoding="utf-8")
    return path


def test_many_new_packages_in_a_large_project_are_checked(tmp_path: Path) -> None:
    real_servers.require("gopls")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "go.mod").write_text("module example.com/one\n\ngo 1.15\n", encoding="utf-8")
    paths = [package(folder, f"package{number}") for number in range(120)]
    with workspace_with(folder, {"gopls": real_servers.command("gopls")}) as ws:
        assert ws.check(paths[0], timeout=60).verdict.clean
        for number in range(20):
            new = package(folder, f"new{number}", "func Broken() int { return missing }\n")
            report = ws.check(new, timeout=60)
            assert (report.verdict.value, report.why) == ("dirty", "")
