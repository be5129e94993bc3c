"""What a write, a move, a deletion or an undo breaks in other files, by method and by tool.

The projects are those of `test_broken_elsewhere.py`: a declaration, a file that uses it, and one
that uses it and had an error before. Nobody has opened the users.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
from lspkit.diagnostics.report import EditReport
from lspkit.operations import CheckEditRequest, EditedFile
from lspkit.runtime.freshness.dependents import MOST_DECLARATIONS
from tests import real_servers
from tests.real.running import workspace
from tests.real.test_broken_elsewhere import HALF, TIMEOUT, Scene, old_errors, scene, shown
from tests.real.test_complete_answers import c_project

pytestmark = pytest.mark.server

SERVERS = ["ty", "pyright", "typescript", "gopls"]
#: Servers whose users of a file import it by its name.
IMPORTING = ["ty", "pyright", "typescript"]


def broken(here: Scene, change: lspkit.Change) -> list[str]:
    """The other files with new errors, by name."""
    assert change.report is not None
    return broken_by_report(here, change.report)


def broken_by_report(here: Scene, report: EditReport | lspkit.Report) -> list[str]:
    introduced = report.other_files.introduced
    assert introduced is not None, report
    return sorted(str(path.relative_to(here.folder)) for path in introduced)


def users(here: Scene) -> list[str]:
    return sorted([here.project.user, here.project.broken])


def elsewhere(here: Scene) -> str:
    """Another name for the edited file, in the same folder."""
    path = Path(here.project.path)
    return str(path.with_name(f"other{path.suffix}"))


@pytest.mark.parametrize("server", SERVERS)
def test_a_write_tells_what_it_breaks(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        project = here.project
        old = (here.folder / project.path).read_text(encoding="utf-8")
        new = old.replace(project.old, project.new)
        change = here.ws.write(project.path, new, check="project", timeout=TIMEOUT)
        assert change.verdict.dirty
        assert broken(here, change) == users(here)
        back = here.ws.write(project.path, old, check="project", timeout=TIMEOUT)
        assert broken(here, back) == []


@pytest.mark.parametrize("server", SERVERS)
def test_an_undo_tells_what_it_breaks(tmp_path: Path, server: str) -> None:
    """The edit is the half of a rename that mends what somebody else has broken."""
    old, new = HALF[server if server != "pyright" else "basedpyright"]
    with scene(tmp_path, server) as here:
        own = here.folder / here.project.path
        whole = here.ws.rename(here.project.path, symbol=old, new_name=new, timeout=TIMEOUT)
        half = tuple(one for one in whole.changes if one.path == own)
        applied = here.ws.apply(lspkit.WorkspaceEdit(half, whole.server))
        for name in users(here):
            path = here.folder / name
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(old, new), encoding="utf-8")
        change = here.ws.undo(applied, check="project", timeout=TIMEOUT)
        assert broken(here, change) == users(here)
        report = change.report
        assert report is not None
        assert report.verdict.dirty
        assert "LSP errors detected in other files:" in str(report)


@pytest.mark.parametrize("server", SERVERS)
def test_a_deletion_tells_what_it_breaks(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        change = here.ws.delete(here.project.path, check="project", timeout=TIMEOUT)
        assert broken(here, change) == users(here)
        report = change.report
        assert report is not None
        assert report.verdict.dirty
        assert report.reports == []
        assert f"from before the edit: {old_errors(here, report.other_files)}" in str(report)


@pytest.mark.parametrize("server", IMPORTING)
def test_a_move_tells_what_it_breaks(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        new = elsewhere(here)
        change = here.ws.move(here.project.path, new, check="project", timeout=TIMEOUT)
        assert broken(here, change) == users(here)
        report = change.report
        assert report is not None
        assert [one.path for one in report.reports] == [here.folder / new]
        assert report.reports[0].verdict.clean


def delete_by_tool(here: Scene) -> str:
    (here.folder / here.project.path).unlink()
    arguments = {"path": here.project.path}
    return here.hooks.tool_result("delete_file", arguments, "Done.", timeout=TIMEOUT)


def delete_by_patch(here: Scene) -> str:
    (here.folder / here.project.path).unlink()
    patch = f"*** Begin Patch\n*** Delete File: {here.project.path}\n*** End Patch\n"
    return here.hooks.tool_result("apply_patch", {"input": patch}, "Done.", timeout=TIMEOUT)


def delete_by_command(here: Scene) -> str:
    return run(here, ["rm", here.project.path])


def move_by_tool(here: Scene) -> str:
    new = elsewhere(here)
    (here.folder / here.project.path).rename(here.folder / new)
    arguments = {"source": here.project.path, "destination": new}
    return here.hooks.tool_result("move_file", arguments, "Done.", timeout=TIMEOUT)


def move_by_patch(here: Scene) -> str:
    new = elsewhere(here)
    (here.folder / here.project.path).rename(here.folder / new)
    patch = f"*** Begin Patch\n*** Update File: {here.project.path}\n*** Move to: {new}\n"
    arguments = {"input": f"{patch}*** End Patch\n"}
    return here.hooks.tool_result("apply_patch", arguments, "Done.", timeout=TIMEOUT)


def move_by_command(here: Scene) -> str:
    return run(here, ["mv", here.project.path, elsewhere(here)])


def run(here: Scene, argv: list[str]) -> str:
    """A command, after the file that it changes was checked: its text is known then."""
    here.ws.check(here.project.path, timeout=TIMEOUT)
    here.hooks.tool_result("bash", {"command": "true"}, "", timeout=TIMEOUT)
    subprocess.run(argv, cwd=here.folder, check=True)
    return here.hooks.tool_result("bash", {"command": " ".join(argv)}, "Done.", timeout=TIMEOUT)


REMOVALS = [
    delete_by_tool,
    delete_by_patch,
    delete_by_command,
    move_by_tool,
    move_by_patch,
    move_by_command,
]


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize("server", IMPORTING)
def test_a_tool_that_removes_a_file_is_told_who_imports_it(
    tmp_path: Path, server: str, remove: Callable[[Scene], str]
) -> None:
    with scene(tmp_path, server) as here:
        told = remove(here)
        found = shown(told)
        assert sorted(found) == users(here), told
        assert all(len(lines) == 1 for lines in found.values()), told


#: A module in a folder, and two files that import it, of which the agent reads the first.
MODULES = {
    ".py": {
        "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
        "pkg/__init__.py": "",
        "pkg/mod.py": "def area() -> int:\n    return 1\n",
        "user.py": "from pkg.mod import area\n\narea()\n",
        "other.py": "import pkg.mod\n\npkg.mod.area()\n",
    },
    ".ts": {
        "package.json": "{}",
        "tsconfig.json": '{"compilerOptions": {"strict": true, "types": []}}',
        "pkg/mod.ts": "export function area(): number {\n  return 1;\n}\n",
        "user.ts": "import { area } from './pkg/mod';\n\narea();\n",
        "other.ts": "import * as mod from './pkg/mod';\n\nmod.area();\n",
    },
}


@pytest.mark.parametrize(
    "server",
    IMPORTING,
)
def test_a_command_that_moves_a_folder_is_told_who_imports_from_it(
    tmp_path: Path, server: str
) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    suffix = ".ts" if server == "typescript" else ".py"
    for name, text in MODULES[suffix].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    argv = real_servers.command(server)
    with workspace(folder, server, argv=argv, trusted=True) as ws:
        user = f"user{suffix}"
        assert ws.check(user, timeout=TIMEOUT).verdict.clean
        hooks = EditHooks(ws)
        hooks.tool_result("read_file", {"path": user}, "")
        # From here on it is known what a command changes.
        hooks.tool_result("bash", {"command": "true"}, "", timeout=TIMEOUT)
        subprocess.run(["mv", "pkg", "lib"], cwd=folder, check=True)
        output = hooks.tool_result("bash", {"command": "mv pkg lib"}, "Done.", timeout=TIMEOUT)
        errors = shown(output)
        assert sorted(errors) == [f"other{suffix}", user], output
        assert all("ERROR [1:" in line for lines in errors.values() for line in lines), output


#: A module without types, the stub that describes it, and who uses it, with an error of its own.
STUBBED = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "lib.py": "def area(x, y):\n    return x\n",
    "lib.pyi": "def area(x: int) -> int: ...\n",
    "user.py": "from lib import (\n    area,\n)\n\narea(1)\nold: int = 'a'\n",
    "other.py": "",
}


@pytest.mark.parametrize("server", ["ty", "pyright"])
def test_a_command_that_removes_a_stub_is_told_what_it_breaks(tmp_path: Path, server: str) -> None:
    """Another file takes the place of the stub, so it is not the import that is broken."""
    real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in STUBBED.items():
        (folder / name).write_text(text, encoding="utf-8")
    with workspace(folder, server) as ws:
        hooks = EditHooks(ws)
        assert hooks.tool_result("write", {"path": "other.py"}, "Done.", timeout=TIMEOUT) == "Done."
        (folder / "lib.pyi").unlink()
        told = hooks.tool_result("bash", {"command": "rm lib.pyi"}, "Done.", timeout=TIMEOUT)
        [line] = shown(told)["user.py"]
        assert line.startswith("ERROR [5:"), told


@pytest.mark.parametrize("server", SERVERS)
def test_a_command_right_after_a_read_is_told_what_it_breaks(tmp_path: Path, server: str) -> None:
    """The worker that tells the servers of a read may come when the file has changed already."""
    with scene(tmp_path, server) as here:
        project = here.project
        here.hooks.tool_result("read_file", {"path": project.path}, "")
        here.replace(project.old, project.new)
        here.ws.sync(project.path)  # what the worker does
        told = here.hooks.tool_result("bash", {"command": "sed"}, "Done.", timeout=TIMEOUT)
        assert sorted(shown(told)) == users(here), told


@pytest.mark.parametrize("server", SERVERS)
def test_users_are_counted_without_time_for_the_edited_file(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        project = here.project
        here.ws.check(project.path, timeout=TIMEOUT)
        path = here.folder / project.path
        file = EditedFile(str(path), path.read_text(encoding="utf-8"))
        here.replace(project.old, project.new)
        report = here.ws.run(CheckEditRequest(files=(file,), seconds=0.0), timeout=TIMEOUT)
        others = report.other_files
        assert others.introduced or others.left_out or others.unsearched, report
        assert not report.verdict.clean


@pytest.mark.parametrize("server", SERVERS)
def test_a_command_and_a_patch_are_told_what_they_break(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        project = here.project
        told = run(here, ["sed", "-i", f"s/{project.old}/{project.new}/", project.path])
        assert sorted(shown(told)) == users(here), told
        assert run(here, ["sed", "-i", f"s/{project.new}/{project.old}/", project.path]) == "Done."
        text = (here.folder / project.path).read_text(encoding="utf-8")
        line = next(one for one in text.split("\n") if project.old in one)
        changed = line.replace(project.old, project.new)
        here.replace(line, changed)
        patch = f"--- a/{project.path}\n+++ b/{project.path}\n@@ -1 +1 @@\n-{line}\n+{changed}\n"
        told = here.hooks.tool_result("apply_patch", {"patch": patch}, "Done.", timeout=TIMEOUT)
        assert sorted(shown(told)) == users(here), told


@pytest.mark.parametrize("server", SERVERS)
def test_a_command_that_removes_what_nobody_has_read_is_told_what_it_breaks(
    tmp_path: Path, server: str
) -> None:
    with scene(tmp_path, server) as here:
        here.ws.check(here.project.broken, timeout=TIMEOUT)
        here.hooks.tool_result("bash", {"command": "true"}, "", timeout=TIMEOUT)
        path = here.folder / here.project.path
        path.write_text("package lib\n" if server == "gopls" else "\n", encoding="utf-8")
        told = here.hooks.tool_result("bash", {"command": "sed"}, "Done.", timeout=TIMEOUT)
        assert sorted(shown(told)) == users(here), told


TWO_FILES = ["ty", "typescript", "pyright"]


@pytest.mark.parametrize("server", TWO_FILES)
def test_what_two_files_of_a_patch_break_in_each_other_is_new(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        names = [here.project.path, here.project.user]
        paths = [here.folder / name for name in names]
        files = [EditedFile(str(path), path.read_text(encoding="utf-8")) for path in paths]
        here.replace(*HALF[{"pyright": "ty"}.get(server, server)])
        paths[1].write_text(f"{files[1].before}\n\n", encoding="utf-8")
        report = here.ws.run(CheckEditRequest(files=tuple(files)), timeout=TIMEOUT)
        [user] = [one for one in report.reports if one.path == paths[1]]
        assert user.introduced
        assert not user.remaining
        assert broken_by_report(here, report) == [here.project.broken]


#: More functions than the search asks about at once, in two languages.
MANY = {
    "ty": ("many.py", "def f{0}(x: int) -> None: ...\n"),
    "pyright": ("many.py", "def f{0}(x: int) -> None: ...\n"),
    "typescript": ("many.ts", "export function f{0}(x: number): void {{}}\n"),
}


@pytest.mark.parametrize(
    "server",
    list(MANY),
)
def test_what_was_not_searched_is_said_in_one_line(tmp_path: Path, server: str) -> None:
    name, line = MANY[server]
    with scene(tmp_path, server) as here:
        path = here.folder / name
        text = "".join(line.format(number) for number in range(MOST_DECLARATIONS + 3))
        path.write_text(text, encoding="utf-8")
        here.ws.check(name, timeout=TIMEOUT)
        path.write_text(text.replace("x:", "y:"), encoding="utf-8")
        told = here.hooks.tool_result("write_file", {"path": name}, "Done.", timeout=TIMEOUT)
        last = here.hooks.last
        assert last is not None
        assert last.other_files.unsearched == ["f40", "f41", "f42"]
        said = "What the edit changed and whose uses could not be searched"
        said += ": <names>f40, f41, f42</names>"
        assert told.splitlines()[-1] == f"The edit was applied. {said}"
        path.write_text(text.replace("x:", "z:"), encoding="utf-8")
        report = here.ws.check(name, scope="project", timeout=TIMEOUT)
        assert str(report).splitlines()[-1] == said


def test_files_over_the_limit_are_counted(tmp_path: Path) -> None:
    limits = {"maxDependents": 1, "newOnly": True}
    with scene(tmp_path, "ty", diagnostics=limits) as here:
        told = here.edit(here.project.old, here.project.new)
        assert len(shown(told)) == 1, told
        assert "Files that use what the edit changed and could not be checked: 1" in told


@pytest.mark.parametrize("attempt", range(3))
def test_the_search_waits_for_an_index(tmp_path: Path, attempt: int) -> None:
    """With a compilation database, clangd knows files that nobody has opened, after some time."""
    real_servers.require("clangd")
    folder = c_project(tmp_path, database=True)
    with workspace(folder, "clangd", argv=real_servers.command("clangd")) as ws:
        hooks = EditHooks(ws)
        old, new = "int add(int a, int b);", "int add(int a);"
        (folder / "util.h").write_text(f"{new}\n", encoding="utf-8")
        arguments = {"path": "util.h", "old_string": old, "new_string": new}
        told = hooks.tool_result("edit", arguments, "Edited.", timeout=TIMEOUT)
        assert sorted(shown(told)) == ["main.c", "util.c"], told
