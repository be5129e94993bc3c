"""Verdicts while other files of the project keep changing, as they do while a program runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap import running
from tests import real_servers

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one check, on a busy machine.
TIMEOUT = 20.0
#: Seconds between two changes: less than any silence that is waited for.
EVERY = 0.1


@pytest.mark.parametrize("server", ["pyrefly", "ty"])
def test_there_is_a_verdict_while_another_file_keeps_changing(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "main.py").write_text("from dep import f\nx: int = f()\n")
    (folder / "dep.py").write_text("def f() -> int: ...\n")
    enough, found = threading.Event(), list[lspkit.Verdict]()

    def keep_changing() -> None:
        number = 0
        while not enough.wait(EVERY):
            number += 1
            (folder / "other.py").write_text(f"number = {number}\n")

    thread = threading.Thread(target=keep_changing)
    with running(server, folder, tmp_path / "sent") as ws:
        ws.check("main.py", timeout=TIMEOUT)
        thread.start()
        try:
            for kind in ("str", "int"):
                (folder / "dep.py").write_text(f"def f() -> {kind}: ...\n")
                found.append(ws.check("main.py", timeout=TIMEOUT).verdict)
        finally:
            enough.set()
            thread.join()
    assert found == [lspkit.Verdict.DIRTY, lspkit.Verdict.CLEAN]
