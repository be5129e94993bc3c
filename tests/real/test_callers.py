"""Many callers of one real server, and a server that is still at work.

Of many threads no request is lost, and one process serves them all. A text that is only for one
caller never answers for another, on servers that compare files. A change far away, in a project
that a server needs seconds to look through again: whatever the server says of a file before it has
come to the end of its own work is of the time before.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap_projects import COURSES
from tests import real_servers
from tests.real.running import workspace
from tests.real_servers import command, require
from tests.runtime.server_log import written_outside

pytestmark = pytest.mark.server

FILES = ("one.py", "two.py", "three.py")


def _config(server: str) -> dict:
    own = {"command": command(server), "disabled": False}
    return {"lsp": {server: own, "ruff": {"disabled": True}}}


@pytest.mark.parametrize("server", ["ty", "pyright"])
def test_8_threads_ask_800_times_over_3_files_without_a_failure(tmp_path: Path, server: str):
    require(server)
    for name in FILES:
        (tmp_path / name).write_text("def greet() -> int: ...\n\n\nprint(greet())\n")

    def caller(number: int) -> int:
        name = FILES[number % 3]
        right = 0
        for turn in range(100):
            if turn % 2:
                found = ws.definition(name, 4, 7)
                right += [str(one.range.start) for one in found] == ["1:5"]
            else:
                hover = ws.hover(name, 4, symbol="greet")
                right += hover is not None and "greet" in hover.contents[0]
        return right

    with lspkit.Workspace(tmp_path, config=_config(server)) as ws, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(caller, range(8))) == [100] * 8
        row = next(row for row in ws.status().rows if row.server == server)
    assert len(row.roots) == 1
    assert row.roots[0].requests.count >= 800
    assert (row.roots[0].requests.starts, row.roots[0].requests.timeouts) == (1, 0)


SERVERS = ["pyrefly", "ty", "zuban", "pyright", "basedpyright"]
MODULES, FUNCTIONS = 200, 60
#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0


def base(returned: str) -> str:
    return f"def made() -> {returned}: ...\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    work = "\n".join(
        f"def work{number}(given: list[int]) -> dict[str, list[int]]:\n"
        "    return {str(one): [more for more in given if more > one] for one in given}\n"
        for number in range(FUNCTIONS)
    )
    for number in range(MODULES):
        (folder / f"module{number}.py").write_text(f"from base import made as made\n\n{work}")
    (folder / "base.py").write_text(base("int"))
    (folder / "pyrefly.toml").write_text("")
    user = f"from module{MODULES - 1} import made\n\ncount: int = made()\n"
    (folder / "user.py").write_text(user)
    return folder


@pytest.mark.parametrize("server", SERVERS)
def test_a_verdict_waits_for_the_end_of_the_work(server: str, project: Path) -> None:
    real_servers.require(server)
    returned = ["int", "str", "int", "str", "int"]
    with workspace(project, server, argv=real_servers.command(server)) as ws:
        verdicts = []
        for one in returned:
            written_outside(project / "base.py", base(one))
            verdicts.append(ws.check("user.py", timeout=TIMEOUT).verdict.value)
    assert verdicts == ["clean" if one == "int" else "dirty" for one in returned]


ANSWERING = ("basedpyright", "pyright", "ty", "typescript", "typescript-7", "vtsls", "gopls")
CHECKS = 20


@pytest.mark.parametrize("server", ANSWERING)
def test_a_text_for_one_call_does_not_mend_what_another_caller_checks(
    server: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    folder, course = tmp_path / "project", COURSES[server]
    folder.mkdir()
    course.write(folder, real_servers.NODE_MODULES)
    assert course.pair is not None
    assert course.other is not None
    user, other = folder / course.pair.name, folder / course.other.name
    for file in (user, other):
        file.parent.mkdir(parents=True, exist_ok=True)
    user.write_text(course.pair.make(1, broken=False).content)
    other.write_text(course.other.make(2, broken=True).content)
    fine = [course.other.make(number, broken=False).content for number in range(3, 9)]
    over = threading.Event()
    with workspace(folder, server, argv=real_servers.command(server)) as ws:
        assert ws.check(user, timeout=60).verdict.dirty
        ws.check(other, timeout=60)

        def what_if() -> None:
            while not over.is_set():
                for text in fine:
                    ws.check(other, text, timeout=60)

        guest = threading.Thread(target=what_if)
        guest.start()
        try:
            verdicts = [ws.check(user, timeout=60).verdict.value for _ in range(CHECKS)]
        finally:
            over.set()
            guest.join()
    assert verdicts == ["dirty"] * CHECKS
