"""The hooks on real servers: what an edit does to another file, told and taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
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
    "clangd": (
        "h",
        ("#pragma once\nint f(int);\n", "#pragma once\nint f(int, int);\n"),
        '#include "lib.h"\nint main() {\n  f(1);\n}\n',
    ),
    "gopls": (
        "go",
        (
            "package main\n\nfunc f(x int) int { return x }\n",
            "package main\n\nfunc f(x string) int { return len(x) }\n",
        ),
        "package main\nfunc main() {\n\tf(1)\n}\n",
    ),
}
#: Files that a project needs besides.
BESIDE = {
    "tsconfig.json": '{"compilerOptions": {"strict": true}}',
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "compile_flags.txt": "-Wall\n",
    "go.mod": "module x\n\ngo 1.20\n",
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
    return lspkit.Workspace(folder, config=config, trusted=True)


@pytest.mark.server
@pytest.mark.parametrize("server", PROJECTS)
def test_an_error_in_another_file_is_told_and_told_no_more(tmp_path, server):
    real_servers.require(server)
    ending, (right, wrong), user = PROJECTS[server]
    library, main = f"lib.{ending}", f"main.{ending.replace('h', 'cpp')}"
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in {**BESIDE, library: right, main: user}.items():
        (folder / name).write_text(text, encoding="utf-8")

    with workspace(folder, server) as ws:
        hooks = EditHooks(ws)
        hooks.tool_result("read", {"path": main}, user)

        def write(name: str, text: str) -> str:
            (folder / name).write_text(text, encoding="utf-8")
            return hooks.tool_result("write", {"path": name}, "ok", timeout=60)

        assert write(library, right) == "ok"
        for _ in range(2):
            broken = write(library, wrong)
            assert told(broken, main), broken
            assert write(library, right) == "ok"


def told(text: str, name: str) -> bool:
    """Whether one error on the third line of a file is all that is told."""
    heading = re.escape("ok\n\nThe edit was applied. LSP errors detected in other files:\n")
    shown = rf'<diagnostics file="{name}">\nERROR \[3:\d+\] .*\n</diagnostics>'
    return re.fullmatch(rf"{heading}{shown}", text) is not None


#: By server: the files of a project in which one that nobody has opened is broken by the first.
PARTS = {
    "gopls": {
        "lib/lib.go": "package lib\n\nfunc F(x string) int { return len(x) }\n",
        "main.go": 'package main\n\nimport "x/lib"\n\nfunc main() { lib.F(1) }\n',
        "go.mod": "module x\n\ngo 1.20\n",
    },
    "rust-analyzer": {
        "src/lib.rs": "mod user;\npub fn f(x: &str) -> usize { x.len() }\n",
        "src/user.rs": "pub fn g() -> usize { crate::f(1) }\n",
        "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    },
}


@pytest.mark.server
@pytest.mark.parametrize(
    "server", ["gopls", pytest.param("rust-analyzer", marks=pytest.mark.long(reason="cargo"))]
)
def test_errors_that_are_known_in_a_file_that_is_not_open_are_told(tmp_path, server):
    real_servers.require(server)
    folder = tmp_path / "project"
    for name, text in PARTS[server].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    changed, broken, _ = PARTS[server]
    with workspace(folder, server) as ws:
        report = ws.check(changed, scope="project", timeout=60)
        known = ws.diagnostics()
    assert folder / broken in known
    assert report.other_files.verdict.dirty
    assert folder / broken in report.other_files.diagnostics
