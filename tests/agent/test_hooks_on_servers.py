"""The hooks on real servers: what an edit does to another file, told and taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks import EditHooks
from tests import real_servers

#: By server: how a file is called, what it defines (right, then wrong), and who uses it.
PROJECTS = {
    "ty": (
        "py",
        ("def f(x: int) -> int:\n    return x\n", "def f(x: str) -> int:\n    return 1\n"),
        "from lib import f\n\nf(1)\n",
    ),
    "basedpyright": (
        "py",
        ("def f(x: int) -> int:\n    return x\n", "def f(x: str) -> int:\n    return 1\n"),
        "from lib import f\n\nf(1)\n",
    ),
    "typescript": (
        "ts",
        (
            "export function f(x: number): number { return x }\n",
            "export function f(x: string): number { return x.length }\n",
        ),
        'import { f } from "./lib"\n\nf(1)\n',
    ),
}


def workspace(folder: Path, server: str) -> lspkit.Workspace:
    temporary = folder.with_name(folder.name + "-tmp")
    temporary.mkdir()
    said = {
        "command": real_servers.command(server),
        "env": {**real_servers.environment(server), "TMPDIR": str(temporary)},
        "disabled": False,
    }
    config = {"lsp": {server: said, "ruff": {"disabled": True}}}
    return lspkit.Workspace(folder, config=config)


@pytest.mark.server
@pytest.mark.parametrize("server", PROJECTS)
def test_an_error_in_another_file_is_told_and_told_no_more(tmp_path, server):
    real_servers.require(server)
    ending, (right, wrong), user = PROJECTS[server]
    library, main = f"lib.{ending}", f"main.{ending}"
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / library).write_text(right, encoding="utf-8")
    (folder / main).write_text(user, encoding="utf-8")
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}}', encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\n', encoding="utf-8"
    )

    with workspace(folder, server) as ws:
        hooks = EditHooks(ws)
        hooks.tool_result("read", {"path": main}, user)

        def write(name: str, text: str) -> str:
            (folder / name).write_text(text, encoding="utf-8")
            return hooks.tool_result("write", {"path": name}, "ok", timeout=60)

        assert write(library, right) == "ok"
        broken = write(library, wrong)
        assert write(library, right) == "ok"
    heading = re.escape("ok\n\nThe edit was applied. LSP errors detected in other files:\n")
    assert re.fullmatch(
        rf'{heading}<diagnostics file="{main}">\nERROR \[3:3\] .*\n</diagnostics>', broken
    ), broken
