"""The set of modules changes: an import leads elsewhere, though no file that was read is another.

A module becomes a package, a stub comes to stand before it, a folder of sources comes, a package is
put into the environment by hand. The check that follows at once has to see it, and that it is as
before when all is taken back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.overlap import running
from benchmarks.shape import Changer, make, own_environment
from benchmarks.shape_projects import SITE, Files, Place, Project
from lspkit import Verdict
from tests import real_servers

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0

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
