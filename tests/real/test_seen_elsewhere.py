"""What real servers read besides the sources in their root, and how soon a change of it is seen.

A package in a new folder, what lies beside the root, installed packages, and files of other kinds.
Each is changed by another process, and by lspkit where it may; the check that follows at once has
to see it, both when it breaks something and when it mends it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING, environment

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0

#: A text for each path, None to remove it with all that is in it.
Files = dict[str, str | None]

#: Writes and removes, and is done when it ends.
ELSEWHERE = """
import json, os, pathlib, shutil, sys
for name, text in json.load(sys.stdin).items():
    path = pathlib.Path(name)
    if text is None:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
"""


def elsewhere(folder: Path, files: Files) -> None:
    """Let another process do it, and return when it is done."""
    argv = [sys.executable, "-I", "-c", ELSEWHERE]
    subprocess.run(
        argv, input=json.dumps(files), text=True, cwd=folder, check=True, timeout=TIMEOUT
    )


@dataclass(frozen=True)
class Case:
    """A file that is in order, and changes elsewhere that break it and mend it."""

    server: str
    #: The file that is asked about.
    path: str
    files: Files
    breaks: Files
    mends: Files
    #: Whether there is a virtual environment; `{site}` in a path is where its packages lie.
    environment: bool = False
    #: Whether lspkit may write these files, too.
    ours: bool = True
    #: Whether it is broken at first, so that what mends it has never been there.
    broken_first: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    #: Packages that are there, and stay as they are.
    links: tuple[str, ...] = ()


_INT, _STR = "def f() -> int: return 1\n", 'def f() -> str: return ""\n'
_USES = "from dep import f\nx: int = f()\n"
_TSCONFIG = (
    '{"compilerOptions": {"noEmit": true, "strict": true, "types": [], "lib": ["es2020"], '
    '"module": "commonjs", "moduleResolution": "node10", "resolveJsonModule": true, '
    '"esModuleInterop": true}}\n'
)
_SITE = "{site}/dep/__init__.py"
_NODE = {
    "node_modules/dep/package.json": '{"name": "dep", "version": "1.0.0", "types": "index.d.ts"}',
    "node_modules/dep/index.d.ts": "export declare const d: number;\n",
}
_RULES = 'module.exports = {"no-debugger": "HOW"};\n'
_GO = "package lib\n\nfunc F() {} {{ return {} }}\n"


def _new_folder(server: str) -> Case:
    files: Files = {
        "pyproject.toml": "",
        "main.py": "from new.dep import f\nx: int = f()\n",
        "new/__init__.py": "",
        "new/dep.py": _INT,
    }
    came = {name: text for name, text in files.items() if name.startswith("new/")}
    return Case(server, "main.py", files, {"new": None}, came, ours=False, broken_first=True)


def _source_folder(server: str, folder: str) -> Case:
    """A folder that comes while the server runs, and in which modules are looked for."""
    files: Files = {"pyproject.toml": "", "main.py": _USES, f"{folder}/dep.py": _INT}
    came: Files = {f"{folder}/dep.py": _INT}
    return Case(server, "main.py", files, {folder: None}, came, ours=False, broken_first=True)


def _like_a_tool(server: str) -> Case:
    """A package with the name of a folder that build tools use."""
    files: Files = {
        "pyproject.toml": "",
        "main.py": "from target.dep import f\nx: int = f()\n",
        "target/__init__.py": "",
        "target/dep.py": _INT,
    }
    return Case(server, "main.py", files, {"target/dep.py": _STR}, {"target/dep.py": _INT})


def _sibling(server: str) -> Case:
    files: Files = {
        "app/pyproject.toml": f'[tool.{server}]\nextraPaths = ["../lib"]\n',
        "app/main.py": _USES,
        "lib/pyproject.toml": "",
        "lib/dep.py": _INT,
    }
    return Case(server, "app/main.py", files, {"lib/dep.py": _STR}, {"lib/dep.py": _INT})


def _upgraded(server: str) -> Case:
    files: Files = {"pyproject.toml": "", "main.py": _USES, _SITE: _INT, "{site}/dep/py.typed": ""}
    return Case(
        server, "main.py", files, {_SITE: _STR}, {_SITE: _INT}, environment=True, ours=False
    )


def _installed(server: str) -> Case:
    files: Files = {"pyproject.toml": "", "main.py": _USES, _SITE: _INT, "{site}/dep/py.typed": ""}
    came = {name: text for name, text in files.items() if name.startswith("{site}")}
    gone: Files = {"{site}/dep": None}
    return Case(
        server, "main.py", files, gone, came, environment=True, ours=False, broken_first=True
    )


def _node_upgraded(server: str) -> Case:
    used = 'import { d } from "dep";\nexport const y: number = d;\n'
    files: Files = {"package.json": "{}", "tsconfig.json": _TSCONFIG, "a.ts": used, **_NODE}
    broken = {"node_modules/dep/index.d.ts": "export declare const d: string;\n"}
    return Case(server, "a.ts", files, {**broken}, {**_NODE}, ours=False)


def _node_installed(server: str) -> Case:
    case = _node_upgraded(server)
    gone: Files = {"node_modules": None}
    return Case(server, "a.ts", case.files, gone, {**_NODE}, ours=False, broken_first=True)


def _generated(server: str) -> Case:
    """Types that a framework writes."""
    name = ".next/types/one.d.ts"
    settings = _TSCONFIG.replace(
        '"esModuleInterop": true}',
        '"esModuleInterop": true}, "include": ["*.ts", ".next/types/**/*.ts"]',
    )
    files: Files = {
        "package.json": "{}",
        "tsconfig.json": settings,
        "a.ts": "export const y: number = made;\n",
        name: "declare const made: number;\n",
    }
    broken: Files = {name: "declare const made: string;\n"}
    return Case(server, "a.ts", files, broken, {name: files[name]})


_RUFF: Files = {
    "ruff.toml": 'lint.ignore = ["F821"]\n',
    "pkg/pyproject.toml": '[project]\nname = "x"\nversion = "0"\n',
    "pkg/a.py": "print(missing)\n",
}
_GOPLS: Files = {
    "app/go.mod": "module app\n\ngo 1.14\n\nrequire example.com/lib v0.0.0\n\n"
    "replace example.com/lib => ../lib\n",
    "app/main.go": 'package main\n\nimport "example.com/lib"\n\n'
    "func main() {\n\tvar x int = lib.F()\n\t_ = x\n}\n",
    "lib/go.mod": "module example.com/lib\n\ngo 1.14\n",
    "lib/lib.go": _GO.format("int", "1"),
}
_DATA: Files = {
    "package.json": "{}",
    "tsconfig.json": _TSCONFIG,
    "a.ts": 'import data from "./data.json";\nexport const y: number = data.a;\n',
    "data.json": '{"a": 1}\n',
}
_SCHEMA = '{"type": "object", "properties": {"a": {"type": "TYPE"}}}\n'
_YAML = "# yaml-language-server: $schema=./schema.json\na: 1\n"
_SHELL = '#!/bin/bash\nfor one in $@; do echo "$one"; done\n'
_CARGO = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'

CASES: dict[str, Case] = {
    "ty-new-folder": _new_folder("ty"),
    "pyright-new-folder": _new_folder("pyright"),
    "pyrefly-new-folder": _new_folder("pyrefly"),
    "ty-src": _source_folder("ty", "src"),
    "ty-python": _source_folder("ty", "python"),
    **{f"{one}-src": _source_folder(one, "src") for one in ("pyright", "pyrefly", "zuban")},
    "ty-target": _like_a_tool("ty"),
    "pyright-target": _like_a_tool("pyright"),
    "typescript-generated": _generated("typescript"),
    "vtsls-generated": _generated("vtsls"),
    "typescript-7-generated": _generated("typescript-7"),
    "pyright-sibling": _sibling("pyright"),
    "basedpyright-sibling": _sibling("basedpyright"),
    "ruff-above": Case("ruff", "pkg/a.py", _RUFF, {"ruff.toml": "line-length = 99\n"}, {**_RUFF}),
    "gopls-sibling": Case(
        "gopls",
        "app/main.go",
        _GOPLS,
        {"lib/lib.go": _GO.format("string", '""')},
        {"lib/lib.go": _GO.format("int", "1")},
        variables={"GOFLAGS": "-mod=mod", "GOPROXY": "off"},
    ),
    **{
        f"{server}-{what}": make(server)
        for server in ("pyright", "basedpyright", "ty", "pyrefly")
        for what, make in (("upgraded", _upgraded), ("installed", _installed))
    },
    **{
        f"{server}-{what}": make(server)
        for server in ("typescript", "vtsls", "typescript-7")
        for what, make in (("upgraded", _node_upgraded), ("installed", _node_installed))
    },
    "typescript-data": Case(
        "typescript", "a.ts", _DATA, {"data.json": '{"a": ""}\n'}, {"data.json": '{"a": 1}\n'}
    ),
    "vtsls-data": Case(
        "vtsls", "a.ts", _DATA, {"data.json": '{"a": ""}\n'}, {"data.json": '{"a": 1}\n'}
    ),
    "clangd-any-extension": Case(
        "clangd",
        "main.cpp",
        {"compile_flags.txt": "", "main.cpp": '#include "t.inc"\nint x = t;\n', "t.inc": "int t;"},
        {"t.inc": "int u;"},
        {"t.inc": "int t;"},
    ),
    "rust-analyzer-included": Case(
        "rust-analyzer",
        "src/lib.rs",
        {
            "Cargo.toml": _CARGO,
            "src/lib.rs": 'pub const TEXT: &str = include_str!("data.txt");\n',
            "src/data.txt": "x",
        },
        {"src/data.txt": None},
        {"src/data.txt": "x"},
    ),
    "yaml-schema": Case(
        "yaml",
        "data.yaml",
        {"data.yaml": _YAML, "schema.json": _SCHEMA.replace("TYPE", "number")},
        {"schema.json": _SCHEMA.replace("TYPE", "string")},
        {"schema.json": _SCHEMA.replace("TYPE", "number")},
    ),
    "eslint-rules": Case(
        "eslint",
        "main.js",
        {
            "package.json": "{}",
            "eslint.config.js": 'module.exports = [{rules: require("rules")}];\n',
            "main.js": "debugger;\n",
            "node_modules/rules/index.js": _RULES.replace("HOW", "off"),
        },
        {"node_modules/rules/index.js": _RULES.replace("HOW", "error")},
        {"node_modules/rules/index.js": _RULES.replace("HOW", "off")},
        links=("eslint",),
        ours=False,
    ),
    "bash-settings": Case(
        "bash",
        "main.sh",
        {".shellcheckrc": "disable=SC2068\n", "main.sh": _SHELL},
        {".shellcheckrc": None},
        {".shellcheckrc": "disable=SC2068\n"},
    ),
}


def site_packages(folder: Path) -> str:
    """Make a virtual environment, and say where its packages lie."""
    venv.create(folder / ".venv")
    (site,) = (folder / ".venv" / "lib").glob("python*/site-packages")
    return str(site.relative_to(folder))


@contextmanager
def workspace(case: Case, folder: Path) -> Iterator[lspkit.Workspace]:
    """A project with this server only, as its definition has it."""
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != case.server}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(real_servers.PROGRAMS), prepend=os.pathsep)
        patch.delenv("VIRTUAL_ENV", raising=False)  # the project's own is meant
        own = {
            "command": real_servers.command(case.server),
            "env": {**environment(folder, case.server), **case.variables},
            "disabled": False,
        }
        config = {"lsp": {**others, case.server: own}, "timing": TIMING}
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            yield ws


def by_lspkit(ws: lspkit.Workspace, files: Files) -> None:
    for name, text in files.items():
        if text is None:
            ws.delete(name)
        else:
            ws.write(name, text)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_next_check_sees_it(case: Case, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    real_servers.require(case.server)
    folder.mkdir()
    site = site_packages(folder) if case.environment else ""

    def placed(files: Files) -> Files:
        return {path.replace("{site}", site): text for path, text in files.items()}

    elsewhere(folder, placed(case.files))
    for package in case.links:
        (folder / "node_modules" / package).symlink_to(real_servers.NODE_MODULES / package)
    steps = [("dirty", placed(case.breaks)), ("clean", placed(case.mends))]
    if case.broken_first:
        elsewhere(folder, steps[0][1])
        steps.reverse()
    found, expected = [], [steps[1][0]]
    with workspace(case, folder) as ws:

        def look() -> None:
            found.append(ws.check(case.path, timeout=TIMEOUT).verdict.value)

        look()
        for verdict, files in steps * 2:
            elsewhere(folder, files)
            look()
            expected.append(verdict)
        for verdict, files in steps if case.ours else ():
            by_lspkit(ws, files)
            look()
            expected.append(verdict)
    assert found == expected


@pytest.mark.parametrize("server", ["ty", "pyright", "pyrefly"])
def test_a_package_that_lspkit_writes_into_a_new_folder_resolves(
    server: str, tmp_path: Path
) -> None:
    case = _new_folder(server)
    real_servers.require(server)
    elsewhere(tmp_path, {name: case.files[name] for name in ("pyproject.toml", "main.py")})
    with workspace(case, tmp_path) as ws:
        assert ws.check("main.py", timeout=TIMEOUT).verdict.dirty
        by_lspkit(ws, case.mends)
        assert ws.check("main.py", timeout=TIMEOUT).verdict.clean


def test_a_schema_of_json_is_read_again(tmp_path: Path) -> None:
    # What does not fit a schema is a warning there.
    data = '{"$schema": "./schema.json", "a": 1}\n'
    case = Case("json", "data.json", {"package.json": "{}", "data.json": data}, {}, {})
    real_servers.require(case.server)
    elsewhere(tmp_path, {**case.files, "schema.json": _SCHEMA.replace("TYPE", "number")})
    with workspace(case, tmp_path) as ws:
        found = [len(ws.check("data.json", timeout=TIMEOUT).diagnostics)]
        elsewhere(tmp_path, {"schema.json": _SCHEMA.replace("TYPE", "string")})
        found.append(len(ws.check("data.json", timeout=TIMEOUT).diagnostics))
        ws.write("schema.json", _SCHEMA.replace("TYPE", "number"))
        found.append(len(ws.check("data.json", timeout=TIMEOUT).diagnostics))
    assert found == [0, 1, 0]
