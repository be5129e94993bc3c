"""Files that come in the place of others, as the next check sees them. The shape race found these.

A `tsconfig.json` that is removed and written anew, as git does it; a source or a `go.mod` that has
the time and the size of the one before it, as from an archive; and a package in the place of an
installed one: package managers remove or rename the old folder, and move or copy another one in.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import lspkit
from lspkit import Verdict
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace_with

pytestmark = pytest.mark.server

CLEAN, DIRTY = Verdict.CLEAN, Verdict.DIRTY

STRICT = '{"compilerOptions": {"strict": true, "types": [], "noEmit": true}}\n'
LAX = STRICT.replace("true", "false", 1)

MODULE = "module example.com/race\n\ngo 1.14\n"
OTHER = MODULE.replace("race", "game")
MAIN = """\
package main

import "example.com/race/dep"

var a int = dep.F()

func main() { _ = a }
"""
RIGHT = "package dep\n\nfunc F() int { return 12345 }\n"
WRONG = 'package dep\n\nfunc F() string { return "" }\n'


def run(act: str, folder: Path) -> None:
    """Let another process do it, and return when it is done."""
    subprocess.run(["sh", "-ec", act], cwd=folder, check=True, timeout=TIMEOUT)


@pytest.mark.parametrize("server", ["typescript", "typescript-7"])
def test_a_tsconfig_that_is_removed_and_written_anew_counts(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    project = tmp_path / "project"
    (project / "types").mkdir(parents=True)
    (project / "tsconfig.json").write_text(STRICT, encoding="utf-8")
    (project / "types" / "ambient.d.ts").write_text("declare const ambient: number;\n")
    text = "export function own(given) { return given; }\nexport const d: number = ambient;\n"
    (project / "main.ts").write_text(text, encoding="utf-8")
    (tmp_path / "lax").write_text(LAX, encoding="utf-8")
    (tmp_path / "strict").write_text(STRICT, encoding="utf-8")
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        found = [ws.check("main.ts", timeout=TIMEOUT)]
        for name in ("lax", "strict"):
            run(f"rm tsconfig.json; cat ../{name} > tsconfig.json", project)
            found.append(ws.check("main.ts", timeout=TIMEOUT))
    lines = [{one.range.start.line for one in report.counted} for report in found]
    assert lines == [{1}, set(), {1}]


def make_module(project: Path) -> None:
    """A module with two packages, of which one imports the other."""
    source = project / "dep" / "dep.go"
    source.parent.mkdir(parents=True)
    (project / "go.mod").write_text(MODULE, encoding="utf-8")
    (project / "main.go").write_text(MAIN, encoding="utf-8")
    source.write_text(RIGHT, encoding="utf-8")


def move_in(path: Path, text: str, when: int) -> None:
    """Another file in the place of one, with the time of that."""
    aside = path.parents[1] / "aside"
    aside.write_text(text, encoding="utf-8")
    os.utime(aside, ns=(when, when))
    aside.replace(path)


@pytest.mark.parametrize("is_away", [False, True])
@pytest.mark.parametrize(
    ("name", "texts", "line"),
    [("dep/dep.go", (WRONG, RIGHT), 5), ("go.mod", (OTHER, MODULE), 3)],
)
def test_a_file_with_the_time_and_size_of_the_one_before_it_counts(
    name: str, texts: tuple[str, str], line: int, is_away: bool, tmp_path: Path
) -> None:
    real_servers.require("gopls")
    project = tmp_path / "project"
    make_module(project)
    changed, lines = project / name, []
    when = changed.stat().st_mtime_ns
    with workspace_with(project, {"gopls": real_servers.command("gopls")}) as ws:
        assert ws.check("main.go", timeout=TIMEOUT).verdict is CLEAN
        for text in texts:
            if is_away:
                changed.unlink()
                ws.check("main.go", timeout=TIMEOUT)
            move_in(changed, text, when)
            report = ws.check("main.go", timeout=TIMEOUT)
            lines.append([one.range.start.line for one in report.counted])
    assert lines == [[line], []]


def test_an_edit_starts_no_new_process(tmp_path: Path) -> None:
    real_servers.require("gopls")
    project = tmp_path / "project"
    make_module(project)
    (tmp_path / "right").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong").write_text(WRONG, encoding="utf-8")
    acts = (
        "cat ../wrong > dep/dep.go",
        "cp ../right dep/new; mv dep/new dep/dep.go",
        "rm dep/dep.go; cp ../wrong dep/dep.go",
        "cat ../right > dep/dep.go",
        "mv dep/dep.go dep/renamed.go",
    )
    with workspace_with(project, {"gopls": real_servers.command("gopls")}) as ws:
        verdicts = [ws.check("main.go", timeout=TIMEOUT).verdict]
        process = process_of(ws)
        for act in acts:
            run(act, project)
            verdicts.append(ws.check("main.go", timeout=TIMEOUT).verdict)
        ws.write("dep/renamed.go", WRONG, timeout=TIMEOUT)
        verdicts.append(ws.check("main.go", timeout=TIMEOUT).verdict)
        assert process_of(ws) == process
    assert verdicts == [CLEAN, DIRTY, CLEAN, DIRTY, CLEAN, CLEAN, DIRTY]


def process_of(ws: lspkit.Workspace) -> int | None:
    """The id of the one process that runs."""
    (pid,) = [root.pid for row in ws.status().rows for root in row.roots if root.pid]
    return pid


#: In the project; the next package is beside it.
ACTS = (
    "rm -r node_modules/pk; mv ../next node_modules/pk",
    "rm -r node_modules/pk; cp -r ../next node_modules/pk; rm -r ../next",
    "mv node_modules/pk node_modules/.old; mv ../next node_modules/pk; rm -r node_modules/.old",
    "cp -r ../next/. node_modules/pk; rm -r ../next",
)


def make_package(folder: Path, types: str, returned: str) -> None:
    """A package with a function that returns this type, declared in this file."""
    (folder / types).parent.mkdir(parents=True)
    about = {"name": "pk", "version": "1.0.0", "types": types}
    (folder / "package.json").write_text(json.dumps(about), encoding="utf-8")
    text = f"export declare function f(): {returned};\n"
    (folder / types).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("server", "types"),
    [
        ("typescript-7", "index.d.ts"),
        ("typescript-7", "dist/types/index.d.ts"),
        pytest.param("typescript", "dist/types/index.d.ts", marks=pytest.mark.slow),
        pytest.param("vtsls", "dist/types/index.d.ts", marks=pytest.mark.slow),
    ],
)
def test_the_next_check_goes_by_the_package_that_is_there(
    server: str, types: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    project = tmp_path / "project"
    make_package(project / "node_modules" / "pk", types, "number")
    (project / "package.json").write_text("{}", encoding="utf-8")
    (project / "tsconfig.json").write_text('{"compilerOptions": {"types": []}}', encoding="utf-8")
    importer = "import { f } from 'pk';\nexport const x: number = f();\n"
    (project / "main.ts").write_text(importer, encoding="utf-8")
    found = {}
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        assert ws.check("main.ts", timeout=TIMEOUT).verdict is CLEAN
        for act in ACTS:
            found[act] = []
            for returned in ("string", "number"):
                make_package(tmp_path / "next", types, returned)
                subprocess.run(["sh", "-ec", act], cwd=project, check=True, timeout=TIMEOUT)
                found[act].append(ws.check("main.ts", timeout=TIMEOUT).verdict)
    assert found == {act: [DIRTY, CLEAN] for act in ACTS}
