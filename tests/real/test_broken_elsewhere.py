"""What an edit breaks in other files, that nobody has opened: every door tells it, on real servers.

Each project has a declaration, a file that uses it, and one that uses it and had an error before.
The edit adds a required parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
from lspkit.agent.tools.toolbox import Toolbox
from lspkit.diagnostics.report import OtherFiles
from tests import real_servers
from tests.real.running import TIMING

pytestmark = pytest.mark.server

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0


@dataclass(frozen=True)
class Project:
    """A project by its files, and the edit that breaks the users of a declaration."""

    files: dict[str, str]
    #: The file that is edited, and what is replaced in it.
    path: str
    old: str
    new: str
    #: An edit of a body, which breaks nothing.
    body: tuple[str, str]
    #: The file that the edit breaks, and the one that it breaks and that had an error before.
    user: str
    broken: str


PYTHON = Project(
    {
        "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
        "prices.py": "def price_of(item: str) -> int:\n    count = len(item)\n    return count\n",
        "shop.py": "from prices import price_of\n\nprint(price_of('a'))\n",
        "old.py": "from prices import price_of\n\nx: int = 'a'\nprint(price_of('a'))\n",
        "alone.py": "y: int = 'a'\n",
    },
    *("prices.py", "item: str)", "item: str, tax: int)"),
    ("count = len(item)", "count = len(item) + 1"),
    *("shop.py", "old.py"),
)
TYPESCRIPT = Project(
    {
        "package.json": "{}",
        "tsconfig.json": '{"compilerOptions": {"strict": true, "types": []}}',
        "prices.ts": "export function priceOf(item: string): number {\n  return item.length\n}\n",
        "shop.ts": 'import { priceOf } from "./prices"\n\nexport const p = priceOf("a")\n',
        "old.ts": 'import { priceOf } from "./prices"\n\nexport const x: number = "a"\n'
        'export const q = priceOf("a")\n',
        "alone.ts": 'export const y: number = "a"\n',
    },
    *("prices.ts", "item: string)", "item: string, tax: number)"),
    ("return item.length", "return item.length + 1"),
    *("shop.ts", "old.ts"),
)
GO = Project(
    {
        "go.mod": "module x\n\ngo 1.20\n",
        "lib/lib.go": "package lib\n\nfunc F(x int) int {\n\treturn x\n}\n",
        "main.go": 'package main\n\nimport "x/lib"\n\nfunc main() {\n\tlib.F(1)\n}\n',
        "old/old.go": 'package old\n\nimport "x/lib"\n\nvar y int = "a"\n\n'
        "func G() int { return lib.F(1) }\n",
    },
    *("lib/lib.go", "x int)", "x int, y int)"),
    ("return x", "return x + 1"),
    *("main.go", "old/old.go"),
)
CPP = Project(
    {
        "compile_flags.txt": "-Wall\n",
        "lib.h": "#pragma once\nint f(int);\ninline int g(int x) {\n  return x;\n}\n",
        "main.cpp": '#include "lib.h"\nint main() {\n  return f(1);\n}\n',
        "old.cpp": '#include "lib.h"\nint x = "a";\nint h() { return f(1); }\n',
    },
    *("lib.h", "f(int)", "f(int, int)"),
    ("return x", "return 2 * x"),
    *("main.cpp", "old.cpp"),
)
PROJECTS = {
    "ty": PYTHON,
    "basedpyright": PYTHON,
    "pyright": PYTHON,
    "pyrefly": PYTHON,
    "typescript": TYPESCRIPT,
    "vtsls": TYPESCRIPT,
    "gopls": GO,
    "clangd": CPP,
}
#: Servers that know only files that they have opened: the users are read first.
KNOW_OPENED = ("clangd",)
#: Servers that do not show an unsaved text to other files, so that an error in a file that was not
#: checked before cannot be dated.
SEE_THE_DISK = ("clangd",)


class Scene:
    """A project, its workspace and its hooks."""

    def __init__(self, folder: Path, ws: lspkit.Workspace, project: Project) -> None:
        self.folder, self.ws, self.project = folder, ws, project
        self.hooks = EditHooks(ws)

    def replace(self, old: str, new: str) -> None:
        path = self.folder / self.project.path
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def edit(self, old: str, new: str) -> str:
        """The answer of an edit tool, with what the hook appends."""
        self.replace(old, new)
        arguments = {"path": self.project.path, "old_string": old, "new_string": new}
        return self.hooks.tool_result("edit", arguments, "Edited.", timeout=TIMEOUT)


@contextmanager
def scene(folder: Path, server: str, **config: object) -> Iterator[Scene]:
    real_servers.require(server)
    project = PROJECTS[server]
    for name, text in project.files.items():
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_text(text, encoding="utf-8")
    (folder / "tmp").mkdir()
    said = {
        "command": real_servers.command(server),
        "env": {**real_servers.environment(server), "TMPDIR": str(folder / "tmp")},
        "disabled": False,
    }
    timing = {**TIMING, "dependentsTimeoutMs": int(TIMEOUT * 1000)}
    whole = {"lsp": {server: said, "ruff": {"disabled": True}}, "timing": timing, **config}
    with lspkit.Workspace(folder / "project", config=whole, trusted=True) as ws:
        here = Scene(folder / "project", ws, project)
        if server in KNOW_OPENED:
            for name in (project.user, project.broken):
                ws.check(name, timeout=TIMEOUT)
        yield here


def shown(text: str) -> dict[str, list[str]]:
    """The findings of a text by file."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("<diagnostics file="):
            name = line.split('"')[1]
        elif line.startswith("ERROR"):
            found.setdefault(name, []).append(line)
    return found


def old_errors(here: Scene, others: OtherFiles) -> int:
    """How many errors are from before the edit: one in the file that was broken before.

    A server that has opened the file that nobody refers to reports the error in it, too.
    """
    assert others.remaining is not None
    names = {str(Path(one).relative_to(here.folder)): all for one, all in others.remaining.items()}
    assert {here.project.broken} <= names.keys() <= {here.project.broken, "alone.py", "alone.ts"}
    assert all(len(all) == 1 for all in names.values())
    return len(names)


@pytest.mark.parametrize("server", PROJECTS)
def test_an_edit_tool_is_told_what_its_edit_breaks_elsewhere(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        project = here.project
        for _ in range(2):
            told = here.edit(project.old, project.new)
            found = shown(told)
            assert sorted(found) == sorted([project.user, project.broken]), told
            assert all(len(lines) == 1 for lines in found.values()), told
            assert here.hooks.last is not None
            old = old_errors(here, here.hooks.last.other_files)
            assert f"LSP errors in other files from before the edit: {old}" in told
            assert here.edit(project.new, project.old) == "Edited."
            assert here.hooks.last.other_files.fixed is not None
            fixed = here.hooks.last.other_files.fixed
            assert {Path(one).name for one in fixed} == {
                Path(project.user).name,
                Path(project.broken).name,
            }


@pytest.mark.parametrize("server", PROJECTS)
def test_an_edit_of_a_body_asks_nobody(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        assert here.edit(*here.project.body) == "Edited."
        assert here.hooks.last is not None
        assert here.hooks.last.other_files.left_out == 0
        assert not here.hooks.last.other_files.introduced


@pytest.mark.parametrize("server", PROJECTS)
def test_the_verdict_about_a_project_is_that_of_the_whole(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        project = here.project
        here.ws.check(project.path, scope="project", timeout=TIMEOUT)
        here.replace(project.old, project.new)
        report = here.ws.check(project.path, scope="project", timeout=TIMEOUT)
        assert report.verdict.dirty
        assert report.other_files.introduced is not None
        names = {str(Path(one).relative_to(here.folder)) for one in report.other_files.introduced}
        assert names == {project.user, project.broken}
        assert str(report).splitlines()[1] == "LSP errors detected in other files:"
        assert f"from before the edit: {old_errors(here, report.other_files)}" in str(report)
        again = here.ws.check(project.path, scope="project", timeout=TIMEOUT)
        assert again.verdict.dirty
        assert again.other_files.introduced == {}


@pytest.mark.parametrize("server", [one for one in PROJECTS if one not in SEE_THE_DISK])
def test_errors_from_before_the_first_edit_are_not_new(tmp_path: Path, server: str) -> None:
    with scene(tmp_path, server) as here:
        name = here.project.broken
        path = here.folder / name
        text = path.read_text(encoding="utf-8")
        changed = f"{text}\n"
        here.hooks.tool_result("read_file", {"path": name}, text)
        here.ws.check(here.project.path, timeout=TIMEOUT)
        path.write_text(changed, encoding="utf-8")
        told = here.hooks.tool_result("write_file", {"path": name}, "Wrote.", timeout=TIMEOUT)
    assert told == (
        "Wrote.\n\nThe edit was applied. LSP errors from before the edit that remain: 1"
    )


#: A declaration, and another name for it.
HALF = {
    "ty": ("price_of", "cost_of"),
    "basedpyright": ("price_of", "cost_of"),
    "typescript": ("priceOf", "costOf"),
    "gopls": ("F", "Cost"),
}


@pytest.mark.parametrize("server", HALF)
def test_an_applied_edit_that_breaks_another_file_is_undone(tmp_path: Path, server: str) -> None:
    old, new = HALF[server]
    with scene(tmp_path, server) as here:
        own = here.folder / here.project.path
        whole = here.ws.rename(here.project.path, symbol=old, new_name=new, timeout=TIMEOUT)
        here.ws.apply(whole, check="project", timeout=TIMEOUT)
        text = own.read_text(encoding="utf-8")
        assert new in text
        back = here.ws.rename(here.project.path, symbol=new, new_name=old, timeout=TIMEOUT)
        half = tuple(one for one in back.changes if one.path == own)
        with pytest.raises(lspkit.RequestFailedError) as caught:
            here.ws.apply(lspkit.WorkspaceEdit(half, back.server), check="project", timeout=TIMEOUT)
        assert own.read_text(encoding="utf-8") == text
        found = caught.value.introduced
        broken = {str(Path(one["path"]).relative_to(here.folder)) for one in found}
        assert broken == {here.project.user, here.project.broken}
        assert all(one["line"] > 0 and one["severity"] == "error" for one in found)


@pytest.mark.parametrize("server", ["ty", "typescript"])
def test_a_rename_tool_verifies_what_it_applies(tmp_path: Path, server: str) -> None:
    """The new name is that of another declaration, in a file that uses both."""
    old, _ = HALF[server]
    clash = {
        "ty": ("clash.py", "from prices import price_of\n\ncost: str = 'a'\ny = price_of(cost)\n"),
        "typescript": (
            "clash.ts",
            'import { priceOf } from "./prices"\n\nexport const cost = "a"\npriceOf(cost)\n',
        ),
    }[server]
    with scene(tmp_path, server) as here:
        (here.folder / clash[0]).write_text(clash[1], encoding="utf-8")
        before = (here.folder / here.project.path).read_text(encoding="utf-8")
        tools = Toolbox(here.ws, allow_apply=True)
        given = {"filePath": here.project.path, "symbol": old, "newName": "cost", "apply": True}
        answer = tools.answer("lsp_rename", given, timeout=TIMEOUT)
        assert not answer.envelope["ok"], answer.text
        [error] = answer.envelope["errors"]
        assert {one["path"] for one in error["introduced"]} == {clash[0]}
        assert (here.folder / here.project.path).read_text(encoding="utf-8") == before
