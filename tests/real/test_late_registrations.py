"""TypeScript 7 asks for changes of the files that it has read only after it has answered.

A change may come before that. Here its asking is kept back for good.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lspkit import Verdict
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

SERVER = "typescript-7"
PROXY = Path(__file__).with_name("without_registrations.py")
CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY
NUMBER = "export function f(): number { return 1; }\n"
STRING = "export function f(): string { return ''; }\n"
IMPORTER = "import { f } from './other';\nexport const x: number = f();\n"
UNTYPED = "export function g(y) { return y; }\n"


def verdicts(folder: Path, name: str, texts: list[str | None]) -> list[Verdict]:
    """Of main.ts, after each of these texts is in a file beside it."""
    real_servers.require(SERVER)
    argv = [sys.executable, str(PROXY), *real_servers.command(SERVER)]
    found = []
    with workspace_with(folder, {SERVER: argv}) as ws:
        for text in texts:
            if text is None:
                (folder / name).unlink()
            else:
                (folder / name).write_text(text, encoding="utf-8")
            found.append(ws.check("main.ts", timeout=TIMEOUT).verdict)
    return found


def test_a_module_that_changes_before_it_has_asked(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text("{}", encoding="utf-8")
    (tmp_path / "main.ts").write_text(IMPORTER, encoding="utf-8")
    texts = [NUMBER, STRING, NUMBER, None, NUMBER]
    assert verdicts(tmp_path, "other.ts", texts) == [CLEAN, DIRTY, CLEAN, DIRTY, CLEAN]


def test_a_configuration_that_changes_before_it_has_asked(tmp_path: Path) -> None:
    (tmp_path / "main.ts").write_text(UNTYPED, encoding="utf-8")
    texts = [f'{{"compilerOptions": {{"strict": {one}}}}}' for one in ("true", "false", "true")]
    assert verdicts(tmp_path, "tsconfig.json", [*texts]) == [DIRTY, CLEAN, DIRTY]


def test_an_edit_after_very_many_changes_of_files_counts(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It would be lost, if nothing was asked in between."""
    real_servers.require(SERVER)
    (tmp_path / "tsconfig.json").write_text('{"files": ["main.ts"]}', encoding="utf-8")
    main = tmp_path / "main.ts"
    main.write_text("export const x: number = 1;\n", encoding="utf-8")
    folder = tmp_path / "generated"
    folder.mkdir()
    for number in range(1500):
        (folder / f"file{number}.ts").write_text("export {};\n", encoding="utf-8")
    with workspace_with(tmp_path, {SERVER: real_servers.command(SERVER)}) as ws:
        assert ws.check(main, timeout=TIMEOUT).verdict is CLEAN
        folder.rename(tmp_path_factory.mktemp("away") / "generated")
        text = "export const x: number = 'a';\n"
        assert ws.check(main, text=text, timeout=TIMEOUT).verdict is DIRTY
