"""An answer of a server that has just started is complete, or says what it may lack.

References without declarations: the servers for Python give the same, wherever they are asked.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import lspkit
from lspkit import IncompleteEditError
from tests import real_servers
from tests.real.both import TIMEOUT
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

SCRIPTS = ["typescript", "vtsls", "typescript-7"]
PYTHON = ["ty", "pyright", "basedpyright", "pyrefly", "zuban"]


def start(folder: Path, server: str) -> lspkit.Workspace:
    real_servers.require(server)
    return workspace(folder, server, argv=real_servers.command(server))


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def script_project(folder: Path) -> Path:
    """A project whose configuration does not include the first file of the folder."""
    return write(
        folder,
        {
            "tsconfig.json": '{"include": ["src"], "compilerOptions": {"strict": true}}',
            "build.js": "exports.go = function go() {};\n",
            "test.js": 'const build = require("./build");\nbuild.go();\n',
            "src/lift.ts": "export function operate(): void {}\n",
            "src/use.ts": 'import { operate } from "./lift";\noperate();\n',
        },
    )


def c_project(folder: Path, *, database: bool) -> Path:
    files = {
        "util.h": "int add(int a, int b);\n",
        "util.c": '#include "util.h"\nint add(int a, int b) { return a + b; }\n',
        "main.c": '#include "util.h"\nint main(void) { return add(1, 2); }\n',
    }
    if database:
        commands = [
            {"directory": str(folder), "file": file, "command": f"cc -c {file}"}
            for file in ("util.c", "main.c")
        ]
        files["compile_commands.json"] = json.dumps(commands)
    return write(folder, files)


@pytest.mark.parametrize("server", SCRIPTS)
def test_symbols_are_found_although_the_first_file_belongs_to_no_project(
    server: str, tmp_path: Path
) -> None:
    with start(script_project(tmp_path), server) as ws:
        found = ws.workspace_symbols("operate", timeout=TIMEOUT)
    assert [one.path for one in found] == [tmp_path / "src" / "lift.ts"]
    assert found.complete


@pytest.mark.parametrize("server", SCRIPTS)
def test_symbols_of_every_project_are_found_after_a_question_about_another_file(
    server: str, tmp_path: Path
) -> None:
    script_project(tmp_path)
    write(
        tmp_path,
        {
            "other/tsconfig.json": "{}",
            "other/lib/crane.ts": "export function operateCrane(): void {}\n",
        },
    )
    with start(tmp_path, server) as ws:
        ws.document_symbols("build.js", timeout=TIMEOUT)
        found = ws.workspace_symbols("operate", timeout=TIMEOUT)
    assert [one.name.removesuffix("()") for one in found] == ["operate", "operateCrane"]


@pytest.mark.parametrize("server", SCRIPTS)
def test_references_in_a_file_of_no_project_have_a_caveat(server: str, tmp_path: Path) -> None:
    with start(script_project(tmp_path), server) as ws:
        outside = ws.references("build.js", symbol="go", timeout=TIMEOUT)
        inside = ws.references("src/lift.ts", symbol="operate", timeout=TIMEOUT)
    assert [one.kind for one in outside.caveats] == ["outside the project"]
    assert "build.js" in outside.caveats[0].message
    assert inside.complete
    assert len(inside) == 3


@pytest.mark.parametrize("server", SCRIPTS)
def test_a_rename_reaches_other_projects_of_the_folder(server: str, tmp_path: Path) -> None:
    script_project(tmp_path)
    write(
        tmp_path,
        {
            "app/tsconfig.json": "{}",
            "app/main.ts": 'import { operate } from "../src/lift";\noperate();\n',
        },
    )
    with start(tmp_path, server) as ws:
        edit = ws.rename("src/lift.ts", symbol="operate", new_name="run", timeout=TIMEOUT)
    assert edit.complete
    assert [one.name for one in edit.files] == ["main.ts", "lift.ts", "use.ts"]


@pytest.mark.parametrize("attempt", range(3))
def test_references_with_a_compilation_database_wait_for_the_index(
    attempt: int, tmp_path: Path
) -> None:
    with start(c_project(tmp_path, database=True), "clangd") as ws:
        found = ws.references("util.c", symbol="add", timeout=TIMEOUT)
    assert [one.path.name for one in found if one.path] == ["main.c", "util.c", "util.h"]
    assert found.complete


def test_a_rename_with_a_compilation_database_waits_for_the_index(tmp_path: Path) -> None:
    with start(c_project(tmp_path, database=True), "clangd") as ws:
        edit = ws.rename("util.c", symbol="add", new_name="plus")
        assert edit.complete
        ws.apply(edit, check="project")
    assert "plus(1, 2)" in (tmp_path / "main.c").read_text()


def test_a_definition_in_another_file_waits_for_the_index(tmp_path: Path) -> None:
    with start(c_project(tmp_path, database=True), "clangd") as ws:
        found = ws.definition("main.c", 2, symbol="add", timeout=TIMEOUT)
    assert [one.path.name for one in found if one.path] == ["util.c"]


def test_a_file_that_has_changed_on_disk_is_in_the_index(tmp_path: Path) -> None:
    with start(c_project(tmp_path, database=True), "clangd") as ws:
        assert len(ws.references("util.c", symbol="add", timeout=TIMEOUT)) == 3
        text = (tmp_path / "main.c").read_text()
        (tmp_path / "main.c").write_text(f"{text}int more(void) {{ return add(3, 4); }}\n")
        found = ws.references("util.c", symbol="add", timeout=TIMEOUT)
        (tmp_path / "new.c").write_text(text.replace("main", "other"))
        later = ws.references("util.c", symbol="add", timeout=TIMEOUT)
    assert (len(found), found.complete) == (4, True)
    assert (len(later), later.complete) == (5, True)


def test_without_a_compilation_database_the_answer_says_so(tmp_path: Path) -> None:
    with start(c_project(tmp_path, database=False), "clangd") as ws:
        found = ws.references("util.c", symbol="add", timeout=TIMEOUT)
        symbols = ws.workspace_symbols("add", timeout=TIMEOUT)
    for answer in (found, symbols):
        assert [one.kind for one in answer.caveats] == ["no project index"]
        assert "compile_commands.json" in answer.caveats[0].message


def test_a_compilation_database_with_a_relative_folder_is_not_called_missing(
    tmp_path: Path,
) -> None:
    folder = c_project(tmp_path, database=False)
    entry = {"directory": ".", "file": "main.c", "command": "cc -c main.c"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    with start(folder, "clangd") as ws:
        found = ws.references("util.c", symbol="add", timeout=TIMEOUT)
    assert not found.complete
    assert "`directory` is not an absolute path" in found.caveats[0].message


def test_an_incomplete_edit_is_applied_only_by_force(tmp_path: Path) -> None:
    with start(c_project(tmp_path, database=False), "clangd") as ws:
        edit = ws.rename("util.c", symbol="add", new_name="plus", timeout=TIMEOUT)
        assert not edit.complete
        for check in (False, "project"):
            with pytest.raises(IncompleteEditError, match="has built no index"):
                ws.apply(edit, check=check)
        assert "plus" not in (tmp_path / "util.c").read_text()
        ws.apply(edit, force=True)
    assert "plus" in (tmp_path / "util.c").read_text()


@pytest.mark.parametrize("server", PYTHON)
def test_symbols_of_a_package_are_complete_at_the_first_question(
    server: str, tmp_path: Path
) -> None:
    source = real_servers.SERVERS / "python-sources" / "pendulum"
    if not source.is_dir():
        pytest.skip("no sources of pendulum; `make servers` installs them")
    shutil.copytree(source, tmp_path / "pendulum", ignore=shutil.ignore_patterns("*.so"))
    (tmp_path / "pyproject.toml").touch()
    with start(tmp_path, server) as ws:
        first = ws.workspace_symbols("Duration", timeout=TIMEOUT)
        ws.references("pendulum/duration.py", symbol="Duration", timeout=TIMEOUT)
        later = ws.workspace_symbols("Duration", timeout=TIMEOUT)
    assert first == later
    assert first[0].name == "Duration"


FILES = {
    "pyproject.toml": '[project]\nname = "example"\nversion = "1"\n',
    "m.py": "def f() -> int:\n    return 1\n\n\nvalue = f()\n",
    "user.py": "import m\nfrom m import f, value\n\nprint(f(), m.f(), value)\n",
    "other.py": "from m import f\n\nf()\n",
}
#: Where `f` is, besides in its declaration, and where that is.
USES = [
    ("m.py", 5, 9),
    ("other.py", 1, 15),
    ("other.py", 3, 1),
    ("user.py", 2, 15),
    ("user.py", 4, 7),
    ("user.py", 4, 14),
]
DECLARED = ("m.py", 1, 5)


def places(found: list[lspkit.Location]) -> list[tuple[str, int, int]]:
    starts = [(one.path.name, one.range.start) for one in found]
    return sorted((name, start.line, start.column) for name, start in starts)


@pytest.mark.parametrize("server", ["basedpyright", "pyright", "ty"])
def test_only_the_declaration_is_left_out(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with workspace(folder, server) as ws:
        for name, _, _ in USES:
            ws.check(name, timeout=TIMEOUT)  # the first answers of pyright are about few files
        for name, line, column in (DECLARED, *USES):
            found = ws.references(name, line, column, timeout=TIMEOUT)
            assert places(found) == sorted([DECLARED, *USES])
            found = ws.references(name, line, column, include_declaration=False, timeout=TIMEOUT)
            assert places(found) == USES
        # About a text of the caller's own.
        text = "\n" + FILES["user.py"]
        found = ws.references(
            "user.py", 5, 7, text=text, include_declaration=False, timeout=TIMEOUT
        )
        assert ("user.py", 3, 15) in places(found)
        assert DECLARED not in places(found)
