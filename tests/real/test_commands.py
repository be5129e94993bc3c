"""Code actions that real servers carry out by a command of their own: made, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.edits.trees import snapshot
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

TS = "/* 😀 é */ export const sum = 1 + 2 * 3;\nexport function f() { return sum + 1; }\n"
GO = "package main\n\ntype T struct{ A, B int }\n\nfunc main() {\n\tx := T{}\n\t_ = x\n}\n"

#: Server, file, text, start and end to ask about, a word of the action, and what is there then.
CASES = [
    ("eslint", "a.js", "var é = '😀';\n", (1, 1), (1, 5), "Fix this no-var", "let é = '😀';"),
    (
        "typescript",
        "a.ts",
        TS,
        (1, 30),
        (1, 39),
        "Extract to constant",
        "const newLocal = 1 + 2",
    ),
    ("vtsls", "a.ts", TS, (1, 1), (2, 1), "Convert named export to default", "export default sum"),
    (
        "clangd",
        "a.cpp",
        "int f() { return 1 + 2; }\n",
        (1, 18),
        (1, 23),
        "Swap",
        "return 2 + 1;",
    ),
    ("gopls", "a.go", GO, (6, 7), (6, 10), "Fill T", "A: 0,"),
]


def fill(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}\n')
    (folder / "go.mod").write_text("module example\n\ngo 1.15\n")
    (folder / "eslint.config.cjs").write_text(
        'module.exports = [{ rules: { "no-var": "error" } }];\n'
    )
    (folder / "node_modules").mkdir()
    (folder / "node_modules/eslint").symlink_to(real_servers.NODE_MODULES / "eslint")


@pytest.mark.parametrize(
    ("server", "name", "text", "start", "end", "title", "expected"),
    CASES,
    ids=[case[0] for case in CASES],
)
def test_an_action_that_is_a_command_is_made_and_taken_back(
    tmp_path, server, name, text, start, end, title, expected
):
    real_servers.require(server)
    fill(tmp_path, name, text)
    with workspace_with(tmp_path, {server: real_servers.command(server)}) as ws:
        ws.check(name)  # eslint offers something only about what it has found
        before = snapshot(tmp_path)
        offered = ws.code_actions(name, *start, end_line=end[0], end_column=end[1])
        action = next(one for one in offered if title in one.title and not one.disabled)
        assert action.edit is None or not action.edit.changes, "the server has changed its way"
        applied = ws.apply(action)
        assert [one.name for one in applied.files] == [name]
        assert expected in (tmp_path / name).read_text(encoding="utf-8")
        with pytest.raises(lspkit.PathError, match="request it again"):
            ws.apply(action)  # it was offered for another text
        ws.undo(applied)
        assert snapshot(tmp_path) == before
