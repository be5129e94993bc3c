"""Files that the `src` table of ty's configuration leaves out, and checks again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit import Verdict
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.disk_courses import elsewhere
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY


@pytest.mark.parametrize(
    ("configuration", "leaves_out", "path"),
    [
        ("pyproject.toml", '[tool.ty.src]\nexclude = ["gen"]\n', "gen/own.py"),
        ("ty.toml", '[src]\ninclude = ["lib"]\n', "gen/own.py"),
        # Above the root of the server, whose own file does not mention ty.
        ("pyproject.toml", '[tool.ty.src]\nexclude = ["package/gen"]\n', "package/gen/own.py"),
    ],
    ids=["exclude", "include", "above"],
)
def test_the_next_check_goes_by_the_files_that_ty_is_to_check(
    configuration: str, leaves_out: str, path: str, tmp_path: Path
) -> None:
    real_servers.require("ty")
    project = tmp_path / "project"
    (project / path).parent.mkdir(parents=True)
    (project / path).write_text('own: int = ""\n', encoding="utf-8")
    (project / path).parent.with_name("pyproject.toml").touch()
    found = []
    with workspace_with(project, {"ty": real_servers.command("ty")}) as ws:
        for text in (leaves_out, "", leaves_out, ""):
            elsewhere("write", project / configuration, text)
            found.append(ws.check(path, timeout=TIMEOUT).verdict)
    assert found == [CLEAN, DIRTY, CLEAN, DIRTY]
