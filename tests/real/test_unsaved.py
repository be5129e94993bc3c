"""Another file has a text that is not on disk: verdicts are about that text, or unknown.

Each server is tried on a file that another one can break, as its definition says that it sees such
texts. Whoever sees none gives no verdict, also where it finds something: that may be mended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap import running
from benchmarks.overlap_projects import COURSES, Course
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers

pytestmark = pytest.mark.server

#: Those that never call a file clean have nothing to be wrong about.
DOUBTFUL = ("jdtls", "intelephense")
TRIED = [name for name, course in COURSES.items() if course.pair and name not in DOUBTFUL]
DEFINED = {one.id: one for one in BUILT_IN}
SEES_FILES = [name for name in TRIED if DEFINED[name].documents.unsaved_files]
#: That a module is missing is said where it is declared, and not in the file that uses it.
SAYS_SO_ELSEWHERE = ("rust-analyzer",)
TIMEOUT = 60


@contextmanager
def project(
    server: str, scratch: Path, *, there: bool = True
) -> Iterator[tuple[lspkit.Workspace, Course]]:
    """Two files that are in order, where one needs the other, or lacks it."""
    course, folder = COURSES[server], scratch / "project"
    real_servers.require(server)
    assert course.pair and course.other
    course.write(folder, real_servers.NODE_MODULES)
    for template in (course.alone, course.pair, course.other):
        text = template.make(1, broken=False).content
        (folder / template.name).write_text(text, encoding="utf-8")
    if not there:
        (folder / course.other.name).unlink()
    with running(server, folder, scratch / "sent") as ws:
        yield ws, course


def expected(server: str, verdict: str) -> str:
    return "unknown" if DEFINED[server].documents.unsaved == "never" else verdict


@pytest.mark.parametrize("server", TRIED)
def test_a_server_that_runs_sees_the_text_of_a_file_that_it_has_not_opened(
    tmp_path: Path, server: str
) -> None:
    with project(server, tmp_path) as (ws, course):
        user, other = course.pair.name, course.other.name
        broken = course.other.make(2, broken=True).content
        verdicts = [ws.check(user, timeout=TIMEOUT).verdict]
        with ws.overlay({other: broken}):
            verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
        verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
    assert [one.value for one in verdicts] == ["clean", expected(server, "dirty"), "clean"]


@pytest.mark.parametrize("server", TRIED)
def test_a_server_that_is_asked_about_the_others_sees_the_text_of_the_call(
    tmp_path: Path, server: str
) -> None:
    with project(server, tmp_path) as (ws, course):
        user, other = course.pair.name, course.other.name
        broken = course.other.make(2, broken=True).content
        ws.check(user, timeout=TIMEOUT)
        report = ws.check(other, text=broken, scope="project", timeout=TIMEOUT)
        verdicts = [report.verdict, report.other_files.verdict]
        verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
        ws.sync(other, text=broken)
        verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
    dirty = expected(server, "dirty")
    assert not any(one.severity == lspkit.Severity.ERROR for one in report.diagnostics)
    assert [one.value for one in verdicts] == [dirty, dirty, "clean", dirty]


@pytest.mark.parametrize("server", TRIED)
def test_a_server_that_starts_sees_the_text_and_not_what_is_wrong_on_disk(
    tmp_path: Path, server: str
) -> None:
    with project(server, tmp_path) as (ws, course):
        user, other = course.pair.name, course.other.name
        broken = course.other.make(2, broken=True).content
        mended = course.other.make(3, broken=False).content
        (tmp_path / "project" / other).write_text(broken, encoding="utf-8")
        with ws.overlay({other: mended}):
            within = ws.check(user, timeout=TIMEOUT).verdict
        after = ws.check(user, timeout=TIMEOUT).verdict
    assert [within.value, after.value] == [expected(server, "clean"), "dirty"]


@pytest.mark.parametrize("server", SEES_FILES)
def test_a_file_that_is_not_there_is_seen_by_some(tmp_path: Path, server: str) -> None:
    with project(server, tmp_path, there=False) as (ws, course):
        user, other = course.pair.name, course.other.name
        verdicts = [ws.check(user, timeout=TIMEOUT).verdict]
        with ws.overlay({other: course.other.make(2, broken=False).content}):
            verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
        verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
    assert [one.value for one in verdicts] == ["dirty", "clean", "dirty"]


@pytest.mark.parametrize("server", [one for one in TRIED if one not in SAYS_SO_ELSEWHERE])
def test_a_file_that_comes_while_its_text_is_shown_is_there_afterwards(
    tmp_path: Path, server: str
) -> None:
    with project(server, tmp_path) as (ws, course):
        user, other = course.pair.name, tmp_path / "project" / course.other.name
        text = course.other.make(2, broken=False).content
        other.unlink()
        verdicts = [ws.check(user, timeout=TIMEOUT).verdict]
        with ws.overlay({course.other.name: text}):
            ws.check(user, timeout=TIMEOUT)
            other.write_text(text, encoding="utf-8")
            ws.check(user, timeout=TIMEOUT)
        verdicts.append(ws.check(user, timeout=TIMEOUT).verdict)
    assert [one.value for one in verdicts] == ["dirty", "clean"]


def small_project(
    server: str, folder: Path, files: dict[str, str]
) -> AbstractContextManager[lspkit.Workspace]:
    """A workspace with these files, and with this server."""
    real_servers.require(server)
    for name, text in files.items():
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_text(text, encoding="utf-8")
    return running(server, folder / "project", folder / "sent")


def test_ty_gives_no_verdict_about_relative_imports_of_a_file_that_is_not_there(
    tmp_path: Path,
) -> None:
    """It does not find the module beside it, although that is on disk."""
    relative, absolute = "from .a import K\nt: int = K\n", "from pkg.a import K\nt: int = K\n"
    files = {"pyproject.toml": "", "pkg/__init__.py": "", "pkg/a.py": "K: int = 1\n"}
    with small_project("ty", tmp_path, files) as ws:
        reports = [ws.check("pkg/b.py", text=relative, timeout=TIMEOUT)]
        with ws.overlay({"pkg/b.py": relative}):
            reports.append(ws.check("pkg/b.py", timeout=TIMEOUT))
        assert all("pkg/b.py" in one.why for one in reports)
        reports.append(ws.check("pkg/b.py", text=absolute, timeout=TIMEOUT))
        reports.append(ws.write("pkg/b.py", relative, timeout=TIMEOUT).report)
        reports.append(ws.check("pkg/b.py", text=relative, timeout=TIMEOUT))
    verdicts = [one.verdict.value for one in reports]
    assert verdicts == ["unknown", "unknown", "clean", "clean", "clean"]


def test_typescript_7_gives_no_verdict_beside_a_file_in_a_folder_that_is_not_there(
    tmp_path: Path,
) -> None:
    """It does not find a file there, although it was shown its text."""
    use = "import { K } from './a';\nexport const t: number = K;\n"
    shown = {"pkg/a.ts": "export const K: number = 1;\n", "pkg/b.ts": use}
    options = '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}'
    with small_project("typescript-7", tmp_path, {"tsconfig.json": options}) as ws:
        with ws.overlay(shown):
            report = ws.check("pkg/b.ts", timeout=TIMEOUT)
            assert report.verdict.unknown
            assert "pkg/a.ts" in report.why
        (tmp_path / "project" / "pkg").mkdir()
        with ws.overlay(shown):
            assert ws.check("pkg/b.ts", timeout=TIMEOUT).verdict.clean


def test_every_server_that_was_tried_says_so() -> None:
    assert {name for name in TRIED if DEFINED[name].documents.unsaved == "untried"} == set()
