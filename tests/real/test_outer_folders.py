"""TypeScript 7 and files outside: it asks for them late, or for everything in a folder above."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lspkit import Verdict
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

SERVER = "typescript-7"
#: How often something is tried that depends on which of two is faster.
TIMES = 4
CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY
IMPORTER = "import { f } from '../../outside/other';\nexport const x: number = f();\n"
NUMBER = "export function f(): number { return 1; }\n"
STRING = "export function f(): string { return ''; }\n"


def test_an_import_outside_is_followed_while_thousands_of_other_files_come_there(
    tmp_path: Path,
) -> None:
    real_servers.require(SERVER)
    project, beside = tmp_path / "deep" / "project", tmp_path / "outside"
    for folder in (project, beside):
        folder.mkdir(parents=True)
    (project / "tsconfig.json").write_text("{}", encoding="utf-8")
    (project / "main.ts").write_text(IMPORTER, encoding="utf-8")
    other = beside / "other.ts"
    with workspace_with(project, {SERVER: real_servers.command(SERVER)}) as ws:
        assert ws.check("main.ts", timeout=TIMEOUT).verdict is DIRTY
        until = time.monotonic() + TIMEOUT
        # It asks a little after it has answered, and what was there before that is not told.
        while ws.check("main.ts", timeout=TIMEOUT).verdict is not CLEAN:
            assert time.monotonic() < until
            other.write_text(NUMBER, encoding="utf-8")
        for number in range(2000):
            (beside / f"{number}.dat").touch()
        other.write_text(STRING, encoding="utf-8")
        assert ws.check("main.ts", timeout=TIMEOUT).verdict is DIRTY
        other.write_text(NUMBER, encoding="utf-8")
        assert ws.check("main.ts", timeout=TIMEOUT).verdict is CLEAN


@pytest.mark.parametrize("_", range(TIMES))
def test_a_file_in_the_work_tree_around_is_read_again_before_the_server_has_asked_for_it(
    _: int, tmp_path: Path
) -> None:
    real_servers.require(SERVER)
    project, beside = tmp_path / "inner" / "project", tmp_path / "outside"
    for folder in (tmp_path / ".git", project, beside):
        folder.mkdir(parents=True)
    (project / "tsconfig.json").write_text("{}", encoding="utf-8")
    (project / "main.ts").write_text(IMPORTER, encoding="utf-8")
    found = []
    with workspace_with(project, {SERVER: real_servers.command(SERVER)}) as ws:
        for text in (NUMBER, STRING, NUMBER):
            (beside / "other.ts").write_text(text, encoding="utf-8")
            found.append(ws.check("main.ts", timeout=TIMEOUT).verdict)
    assert found == [CLEAN, DIRTY, CLEAN]
