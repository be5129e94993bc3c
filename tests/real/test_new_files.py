"""Files come, go and change while a server answers: it goes on answering, and answers right.

ty blocks itself for good when it is told of a new file while it works on a request. What lspkit
does about that is in its adapter, `blocks_on_new_files`.

When the set of modules changes, an import leads elsewhere, though no file that was read is another:
a module becomes a package, a stub comes to stand before it, a folder of sources comes, a package is
put into the environment by hand. The check that follows at once has to see it, and that it is as
before when all is taken back.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap import running
from benchmarks.shape import Changer, make, own_environment
from benchmarks.shape_projects import SITE, Files, Place, Project
from lspkit import Verdict
from tests import real_servers
from tests.real.running import workspace

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: How often a file comes or goes. Without what lspkit does about it, ty blocked itself in two of
#: three runs, after some 200 of them. When it still does, rarely, it is replaced after 5 s.
ROUNDS = 300
#: Seconds for one answer, on a busy machine.
TIMEOUT = 60.0


def test_ty_answers_while_files_come_and_go(tmp_path: Path) -> None:
    real_servers.require("ty")
    folder, over = tmp_path / "project", threading.Event()
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.py").write_text("x: int = 1\n")
    new = folder / "new.txt"

    def asked(name: str) -> None:
        while not over.is_set():
            assert ws.hover(name, 1, 1, timeout=TIMEOUT) is not None

    with workspace(folder, "ty") as ws, ThreadPoolExecutor() as threads:
        for name in "abcd":
            assert ws.check(f"{name}.py").verdict is Verdict.CLEAN
        callers = [threads.submit(asked, f"{name}.py") for name in "abc"]
        try:
            for number in range(ROUNDS):
                if number % 2:
                    new.unlink()
                else:
                    new.write_text("y\n")
                # It tells the server what has happened, and then waits for an answer.
                change = ws.write("d.py", f"x: int = {number}\n", timeout=TIMEOUT)
                assert change.verdict is Verdict.CLEAN, str(change.report)
        finally:
            over.set()
        for caller in callers:
            caller.result()


#: Seconds between two changes: less than any silence that is waited for.
EVERY = 0.1


@pytest.mark.parametrize("server", ["pyrefly", "ty"])
def test_there_is_a_verdict_while_another_file_keeps_changing(server: str, tmp_path: Path) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "main.py").write_text("from dep import f\nx: int = f()\n")
    (folder / "dep.py").write_text("def f() -> int: ...\n")
    enough, found = threading.Event(), list[lspkit.Verdict]()

    def keep_changing() -> None:
        number = 0
        while not enough.wait(EVERY):
            number += 1
            (folder / "other.py").write_text(f"number = {number}\n")

    thread = threading.Thread(target=keep_changing)
    with running(server, folder, tmp_path / "sent") as ws:
        ws.check("main.py", timeout=TIMEOUT)
        thread.start()
        try:
            for kind in ("str", "int"):
                (folder / "dep.py").write_text(f"def f() -> {kind}: ...\n")
                found.append(ws.check("main.py", timeout=TIMEOUT).verdict)
        finally:
            enough.set()
            thread.join()
    assert found == [lspkit.Verdict.DIRTY, lspkit.Verdict.CLEAN]


_INT, _STR = "def f() -> int: ...\n", "def f() -> str: ...\n"
_USES = "from dep import f\nx: int = f()\n"
_STANDARD = "import colorsys\nx: float = colorsys.ONE_THIRD\n"
_FOUND = {"lib/dep.py": _INT}

#: What is asked about, and what is there while that is clean and while it is dirty. `FOLDER` stands
#: for that of the project.
CHANGES: dict[str, tuple[str, Files, Files]] = {
    "package": (_USES, {"dep/__init__.py": _INT}, {"dep.py": _STR}),
    "package-before-module": (_USES, {"dep.py": _STR, "dep/__init__.py": _INT}, {"dep.py": _STR}),
    "namespace": ("from dep import f\n", {"dep/__init__.py": _INT}, {"dep/other.py": _INT}),
    "stub": (_USES, {"dep.py": _STR, "dep.pyi": _INT}, {"dep.py": _STR}),
    "stub-folder": (_USES, {"typings/dep.pyi": _INT}, {}),
    "installed": (_USES, {f"{SITE}/dep/__init__.py": _INT, f"{SITE}/dep/py.typed": ""}, {}),
    "named-folder": (_USES, {**_FOUND, f"{SITE}/more.pth": "FOLDER/lib\n"}, _FOUND),
    "standard": (_STANDARD, {}, {"colorsys.py": 'ONE_THIRD = ""\n'}),
}
#: Only pyrefly looks for stubs there.
APART = {("ty", "stub-folder"), ("zuban", "stub-folder")}
CASES = [
    (server, change)
    for server in ("ty", "pyrefly", "zuban")
    for change in CHANGES
    if (server, change) not in APART
]


@pytest.mark.parametrize(("server", "change"), CASES, ids=map("-".join, CASES))
def test_the_next_check_goes_by_the_modules_that_there_are(
    server: str, change: str, tmp_path: Path
) -> None:
    real_servers.require(server)
    folder = tmp_path / "project"
    text, clean, dirty = CHANGES[change]
    states = [_placed(dirty, folder), _placed(clean, folder)]
    files = {"pyproject.toml": "", f"{SITE}/README.txt": ""}
    make(
        folder, Project("main.py", text, (Place("", (states[0],)),), files, environment=True), (0,)
    )
    found = []
    with own_environment(), running(server, folder, tmp_path / "sent") as ws, Changer() as changer:
        found.append(ws.check("main.py", timeout=TIMEOUT).verdict)
        for old, new in (states, reversed(states)):
            gone = {name: text for name, text in old.items() if new.get(name) != text}
            came = {name: text for name, text in new.items() if old.get(name) != text}
            changer.change(folder, gone, came, "written", 0.0)
            found.append(ws.check("main.py", timeout=TIMEOUT).verdict)
    assert found == [Verdict.DIRTY, Verdict.CLEAN, Verdict.DIRTY]


def _placed(files: Files, folder: Path) -> Files:
    return {name: text.replace("FOLDER", str(folder)) for name, text in files.items()}
