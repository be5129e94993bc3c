"""The state of a whole project, from servers that tell it in one answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit import Verdict
from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

GOOD, BAD = "x: int = 1\n", "x: int = ''\n"
#: Servers that offer it, some of them only if they are told to, and are not taken at their word:
#: two never come to an end, and one tells what was so before. The settings, and two texts.
NOT_ASKED = {
    "pyright": ({"python": {"analysis": {"diagnosticMode": "workspace"}}}, "py", GOOD, BAD),
    "basedpyright": (
        {"basedpyright": {"analysis": {"diagnosticMode": "workspace"}}},
        "py",
        GOOD,
        BAD,
    ),
    "tombi": ({}, "toml", "a = 1\n", "a = 1\na = 2\n"),
}


def told(folder: Path, server: str, **more: Any) -> lspkit.Workspace:
    """A workspace in which this server runs, with this in its entry."""
    return workspace(folder, server, argv=real_servers.command(server), more=more)


def elsewhere(ws: lspkit.Workspace, path: Path) -> tuple[str, Verdict, list[str]]:
    """How far the answer reaches, the verdict, and who has findings."""
    report = ws.check(path, scope="project", timeout=30)
    others = report.other_files
    assert report.counted == []
    assert report.verdict is others.verdict
    return others.coverage, others.verdict, sorted(Path(one).name for one in others.diagnostics)


def test_files_that_nobody_has_opened_are_known_as_they_are_on_disk(tmp_path):
    real_servers.require("ty")
    folder = tmp_path / "project"
    folder.mkdir()
    main, old, new = (folder / f"{name}.py" for name in ("main", "old", "new"))
    main.write_text(GOOD)
    old.write_text(GOOD)
    clean = ("workspace", Verdict.CLEAN, [])
    with told(folder, "ty", initialization={"diagnosticMode": "workspace"}) as ws:
        # ty tells only what is new, and would otherwise keep its answer back for good.
        assert elsewhere(ws, main) == clean
        assert elsewhere(ws, main) == clean
        old.write_text(BAD)
        assert elsewhere(ws, main) == ("workspace", Verdict.DIRTY, [old.name])
        new.write_text(BAD)
        old.write_text(GOOD)
        assert elsewhere(ws, main) == ("workspace", Verdict.DIRTY, [new.name])
        new.unlink()
        assert elsewhere(ws, main) == clean


@pytest.mark.parametrize("server", NOT_ASKED)
def test_who_cannot_be_believed_is_asked_about_what_is_open(tmp_path, server):
    real_servers.require(server)
    settings, ending, good, bad = NOT_ASKED[server]
    folder = tmp_path / "project"
    folder.mkdir()
    main, beside = (folder / f"{name}.{ending}" for name in ("main", "beside"))
    main.write_text(good)
    beside.write_text(bad)
    with told(folder, server, settings=settings) as ws:
        assert elsewhere(ws, main) == ("open", Verdict.CLEAN, [])
        assert ws.check(beside).verdict is Verdict.DIRTY
        assert elsewhere(ws, main) == ("open", Verdict.DIRTY, [beside.name])
        beside.write_text(good)
        assert elsewhere(ws, main) == ("open", Verdict.CLEAN, [])
