"""pyright is not notified of changed files that are open documents: their text has to be enough."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import workspace_with

pytestmark = [pytest.mark.server, pytest.mark.slow]

SERVERS = ["pyright", "basedpyright"]
USER = "import lib\n\nnumber: int = lib.value()\n"
ONE = "def value() -> int:\n    return 1\n"
TWO = 'def value() -> str:\n    return "two"\n'


def project(folder: Path, server: str) -> lspkit.Workspace:
    real_servers.require(server)
    (folder / "user.py").write_text(USER, encoding="utf-8")
    (folder / "lib.py").write_text(ONE, encoding="utf-8")
    return workspace_with(folder, {server: real_servers.command(server)})


@pytest.mark.parametrize("server", SERVERS)
def test_another_text_of_an_open_file_is_seen_in_what_uses_it(tmp_path: Path, server: str) -> None:
    with project(tmp_path, server) as ws:
        assert ws.check("lib.py", timeout=60).verdict.clean
        assert ws.check("user.py", timeout=60).verdict.clean
        for text, verdict in ((TWO, "dirty"), (ONE, "clean")):
            (tmp_path / "lib.py").write_text(text, encoding="utf-8")
            assert ws.check("user.py", timeout=60).verdict.value == verdict
        for text, verdict in ((TWO, "dirty"), (ONE, "clean")):
            (tmp_path / "new.py").write_text(text, encoding="utf-8")
            os.replace(tmp_path / "new.py", tmp_path / "lib.py")
            assert ws.check("user.py", timeout=60).verdict.value == verdict


@pytest.mark.parametrize("server", SERVERS)
def test_an_open_file_that_is_deleted_and_written_again_is_seen(
    tmp_path: Path, server: str
) -> None:
    with project(tmp_path, server) as ws:
        assert ws.check("lib.py", timeout=60).verdict.clean
        for text, verdict in ((TWO, "dirty"), (ONE, "clean")):
            (tmp_path / "lib.py").unlink()
            assert ws.check("user.py", timeout=60).verdict.dirty
            (tmp_path / "lib.py").write_text(text, encoding="utf-8")
            assert ws.check("user.py", timeout=60).verdict.value == verdict


@pytest.mark.parametrize("server", SERVERS)
def test_after_a_text_of_a_caller_the_file_on_disk_counts(tmp_path: Path, server: str) -> None:
    with project(tmp_path, server) as ws:
        assert ws.check("user.py", timeout=60).verdict.clean
        for number, (text, verdict) in enumerate(((TWO, "dirty"), (ONE, "clean"))):
            with ws.overlay({"lib.py": f"{ONE}# {number}\n"}):
                (tmp_path / "lib.py").write_text(text, encoding="utf-8")
                assert ws.check("user.py", timeout=60).verdict.clean
            assert ws.check("user.py", timeout=60).verdict.value == verdict
