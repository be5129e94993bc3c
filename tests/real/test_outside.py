"""What lies outside of the project is as fresh as the project, also by way of a link.

TypeScript 7 asks for such files late, or for everything in a folder above.
"""

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


RIGHT, WRONG = "def f() -> int: return 1\n", 'def f() -> str: return ""\n'
WAYS = ["folder", "file", "written by the link", "work tree around", "link in a link"]


def linked_project(folder: Path, way: str) -> tuple[Path, Path]:
    """A project with a link out of it, and the file that is written."""
    project, shared, other = folder / "project", folder / "shared", folder / "other"
    for one in (project, shared, other):
        one.mkdir()
    (shared / "part.py").write_text(RIGHT)
    (other / "part.py").write_text(RIGHT)
    if way == "file":
        (project / "part.py").symlink_to("../shared/part.py")
    else:
        (project / "linked").symlink_to("../shared")
    if way == "link in a link":
        (shared / "inner").symlink_to("../other")
    if way == "work tree around":
        (folder / ".git").mkdir()
    module = {"file": "part", "link in a link": "linked.inner.part"}.get(way, "linked.part")
    (project / "user.py").write_text(f"from {module} import f\ny: int = f()\n")
    written = {
        "link in a link": other / "part.py",
        "written by the link": project / "linked" / "part.py",
    }
    return project, written.get(way, shared / "part.py")


@pytest.mark.parametrize(
    ("server", "way"),
    [
        *(("ty", way) for way in WAYS),
        # What a server is told depends on the link alone; pyright takes seconds to start.
        ("pyright", "file"),
        ("pyright", "link in a link"),
        ("pyrefly", "folder"),
    ],
)
def test_a_change_behind_a_link_that_leads_outside_is_seen(
    server: str, way: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    project, written = linked_project(tmp_path, way)
    found = []
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        for text in (RIGHT, WRONG, RIGHT, WRONG):
            written.write_text(text)
            found.append(ws.check("user.py", timeout=60).verdict.value)
    assert found == ["clean", "dirty"] * 2


@pytest.mark.parametrize("server", ["ty", "pyright"])
def test_a_link_that_comes_later_or_leads_nowhere_at_first_is_followed(
    server: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    project, written = linked_project(tmp_path, "folder")
    (project / "linked").unlink()
    (project / "two.py").symlink_to("../missing/part.py")
    (tmp_path / "missing").mkdir()
    (project / "second.py").write_text("from two import f\ny: int = f()\n")
    found = []
    with workspace_with(project, {server: real_servers.command(server)}) as ws:
        for user in ("user.py", "second.py"):
            found.append(ws.check(user, timeout=60).verdict.value)
        (project / "linked").symlink_to("../shared")
        for user, path in (("user.py", written), ("second.py", tmp_path / "missing/part.py")):
            for text in (RIGHT, WRONG, RIGHT):
                path.write_text(text)
                found.append(ws.check(user, timeout=60).verdict.value)
    assert found == ["dirty", "dirty", *["clean", "dirty", "clean"] * 2]
