"""Projects whose files another process changes, and the verdicts of a real server about them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lspkit
from benchmarks.overlap_projects import Course
from lspkit import Verdict
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING, environment

#: Seconds for one check, on a busy machine.
TIMEOUT = 60.0
#: Seconds within which a server that reloads its configuration in the background has done so.
RELOADED = 30.0
#: So many servers are tried at the same time: they mostly wait.
AT_ONCE = 4

CLEAN, DIRTY, UNKNOWN = Verdict.CLEAN, Verdict.DIRTY, Verdict.UNKNOWN

#: Writes a file beside its place and puts it there; writes one where nothing is any more; moves
#: one; removes one.
ELSEWHERE = """
import os, sys
act, path, more = sys.argv[1:]
if act == "write":
    with open(path + ".new", "w", encoding="utf-8") as stream:
        stream.write(more)
    os.replace(path + ".new", path)
elif act == "rewrite":
    os.unlink(path)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(more)
elif act == "move":
    os.rename(path, more)
else:
    os.unlink(path)
"""


def elsewhere(act: str, path: Path, more: str = "") -> None:
    """Let another process do it, and return when it is done."""
    argv = [sys.executable, "-I", "-c", ELSEWHERE, act, str(path), more]
    subprocess.run(argv, check=True, timeout=TIMEOUT)


@contextmanager
def workspace(server: str, course: Course, folder: Path) -> Iterator[lspkit.Workspace]:
    """A project without its files, and this server as its definition has it."""
    program = course.program or server
    real_servers.require(server)
    course.write(folder, real_servers.NODE_MODULES)
    own = {
        "command": real_servers.command(program),
        "env": environment(folder, program),
        "disabled": False,
    }
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    config = {"lsp": {**others, server: own}, "timing": TIMING}
    with lspkit.Workspace(folder, config=config, trusted=True) as ws:
        yield ws


def group_of(case: Any, cases: Sequence[Any]) -> Sequence[Any]:
    """The cases that are run together with this one."""
    first = cases.index(case) // AT_ONCE * AT_ONCE
    return cases[first : first + AT_ONCE]


def verdict_soon(ws: lspkit.Workspace, path: Path, wanted: Verdict) -> Verdict:
    """The first verdict that is the wanted one, or the last before the time is up."""
    deadline = time.monotonic() + RELOADED
    while True:
        verdict = ws.check(path, timeout=TIMEOUT).verdict
        if verdict is wanted or time.monotonic() > deadline:
            return verdict
