"""yaml-language-server: an edit is proven by the check that began after it, also among others."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import workspace_with

pytestmark = [pytest.mark.server, pytest.mark.slow]

TEXTS = {"clean": "area: 1\nlist: [1, 2]\n", "dirty": "area: 1\nlist: [1, 2\n"}
#: Around the 0.2 s after which it begins to check a text.
PAUSES = (0.05, 0.19, 0.195, 0.2, 0.205, 0.21, 0.22, 0.25)


def project(folder: Path) -> lspkit.Workspace:
    real_servers.require("yaml")
    folder.mkdir()
    (folder / "main.yaml").write_text(TEXTS["clean"], encoding="utf-8")
    return workspace_with(folder, {"yaml": real_servers.command("yaml")})


def check(ws: lspkit.Workspace, verdict: str) -> str:
    """Write a text of that kind, and check it; how its verdict is proven."""
    (ws.root / "main.yaml").write_text(TEXTS[verdict], encoding="utf-8")
    report = ws.check("main.yaml", timeout=60)
    assert report.verdict.value == verdict
    return report.servers[0].how


def test_an_edit_is_proven_without_a_silence(tmp_path: Path) -> None:
    with project(tmp_path / "project") as ws:
        assert [check(ws, verdict) for verdict in ("clean", "dirty", "clean")] == ["version"] * 3


def test_the_findings_are_those_of_the_last_of_two_edits(tmp_path: Path) -> None:
    """The first is checked, or about to be checked, when the second comes."""
    with project(tmp_path / "project") as ws, ThreadPoolExecutor(1) as other:
        check(ws, "clean")
        for number, pause in enumerate(PAUSES * 2):
            first, second = ("dirty", "clean") if number % 2 else ("clean", "dirty")
            (ws.root / "main.yaml").write_text(TEXTS[first], encoding="utf-8")
            before = other.submit(ws.check, "main.yaml", timeout=60)
            time.sleep(pause)
            check(ws, second)
            before.result()


def test_a_document_that_was_closed_is_still_checked(tmp_path: Path) -> None:
    with project(tmp_path / "project") as ws:
        check(ws, "dirty")
        (ws.root / "main.yaml").unlink()
        with pytest.raises(lspkit.PathError):
            ws.check("main.yaml", timeout=60)
        for verdict in ("clean", "dirty"):
            check(ws, verdict)
