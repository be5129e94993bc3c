"""What another process writes, and what a caller says with `text=`, as real servers see it.

Each server runs once for all tests of this module; each test has a file of its own. The edits are
made by another process, since it is those that lspkit is not told about.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lspkit
from tests import real_servers
from tests.real.projects import PROJECTS, WIDE
from tests.real.reading import plain_range
from tests.real.running import workspace

pytestmark = pytest.mark.server

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0


@dataclass(frozen=True)
class Language:
    """How to write a file with a function, and a file that uses it."""

    suffix: str
    #: A function NAME, and a call of CALL, which may be another.
    function: str
    #: A call of CALL, which the file MODULE has to have.
    user: str
    #: A line with a call of a function that is not there.
    error: str
    #: Files that make a folder a project.
    project: dict[str, str]


PYTHON = Language(
    suffix=".py",
    function="""\
def NAME(text: str) -> str:
    return text


"WIDE"; CALL("a")
""",
    user="""\
from MODULE import CALL

"WIDE"; CALL("a")
""",
    error='"WIDE"; missing()',
    project={},
)
TYPESCRIPT = Language(
    suffix=".ts",
    function="""\
export function NAME(text: string) { return text; }
/* WIDE */ CALL("a");
""",
    user="""\
import { CALL } from "./MODULE";
/* WIDE */ CALL("a");
""",
    error="/* WIDE */ missing();",
    project={"tsconfig.json": PROJECTS["typescript"].files["tsconfig.json"]},
)
CPP = Language(
    suffix=".h",
    function="""\
#pragma once
inline int NAME(int number) { return number; }
/* WIDE */ inline int called = CALL(1);
""",
    user="""\
#include "MODULE.h"
/* WIDE */ inline int used = CALL(1);
""",
    error="/* WIDE */ inline int never = missing();",
    project={"compile_flags.txt": PROJECTS["clangd"].files["compile_flags.txt"]},
)
LANGUAGES = {
    "pyright": PYTHON,
    "basedpyright": PYTHON,
    "ty": PYTHON,
    "typescript": TYPESCRIPT,
    "clangd": CPP,
}


def fill(template: str, **words: str) -> str:
    for word, text in {"WIDE": WIDE, **words}.items():
        template = template.replace(word, text)
    return template


@dataclass(frozen=True)
class Bench:
    """A running server, and a folder to write to."""

    server: str
    folder: Path
    ws: lspkit.Workspace

    def source(self, name: str, call: str = "") -> str:
        """A file that defines `name`, and calls it, or something else."""
        return fill(LANGUAGES[self.server].function, NAME=name, CALL=call or name)

    def user(self, module: str, call: str) -> str:
        """A file that calls something of another file."""
        return fill(LANGUAGES[self.server].user, MODULE=module, CALL=call)

    def error(self) -> str:
        """A line with an error."""
        return fill(LANGUAGES[self.server].error) + "\n"

    def path(self, name: str) -> Path:
        return self.folder / (name + LANGUAGES[self.server].suffix)

    def write(self, name: str, text: str) -> Path:
        self.path(name).write_text(text, encoding="utf-8")
        return self.path(name)

    def functions(self, path: Path, text: str | None = None) -> list[str]:
        """The functions that the server sees."""
        symbols = self.ws.document_symbols(path, text=text, timeout=TIMEOUT)
        return [one.name for one in symbols if one.kind == "function"]

    def errors(self, path: Path, text: str | None = None) -> list[tuple[tuple[int, int], str]]:
        """Where the server finds an error, and what it says."""
        report = self.ws.check(path, text, timeout=TIMEOUT)
        assert not any(one.timed_out for one in report.servers), report.servers
        return [(plain_range(one.range)[0], one.message) for one in report.counted]


@pytest.fixture(scope="module", params=list(LANGUAGES))
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    server: str = request.param
    real_servers.require(server)
    folder = tmp_path_factory.mktemp(server)
    for name, text in LANGUAGES[server].project.items():
        (folder / name).write_text(text, encoding="utf-8")
    with workspace(folder, server) as ws:
        bench = Bench(server, folder, ws)
        # Files that name each other are there from the beginning: that a server learns of new ones
        # is another matter.
        bench.write("module", bench.source("alpha"))
        bench.write("user", bench.user("module", "alpha"))
        bench.write("other", bench.source("alpha"))
        bench.write("other_user", bench.user("other", "alpha") + bench.error())
        # Now, so that what the server starts is there before a test's leak check looks.
        ws.check(bench.write("first", bench.source("first", "nothing")), timeout=TIMEOUT)
        yield bench


#: Writes a file: over the old one, or beside it and then in its place; and may hide that.
WRITER = """
import os, sys
path, text, way, times = sys.argv[1:]
before = os.stat(path)
target = path + ".new" if way == "replace" else path
with open(target, "w", encoding="utf-8") as stream:
    stream.write(text)
if times == "hide":
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
os.replace(target, path)
"""


def write_elsewhere(path: Path, text: str, *, way: str = "write", times: str = "show") -> None:
    """Let another process write a file."""
    argv = [sys.executable, "-I", "-c", WRITER, str(path), text, way, times]
    subprocess.run(argv, check=True, timeout=TIMEOUT)


def shape(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def test_an_edit_by_another_process_is_seen_by_the_next_question(bench: Bench) -> None:
    path = bench.write("edited", bench.source("alpha"))
    assert bench.functions(path) == ["alpha"]

    write_elsewhere(path, bench.source("something_longer"))

    assert bench.functions(path) == ["something_longer"]


@pytest.mark.parametrize("way", ["write", "replace"])
def test_an_edit_that_leaves_size_and_time_as_they_were_is_seen_too(bench: Bench, way: str) -> None:
    path = bench.write(f"hidden_{way}", bench.source("alpha"))
    assert bench.functions(path) == ["alpha"]
    before = shape(path)

    write_elsewhere(path, bench.source("gamma"), way=way, times="hide")

    assert shape(path) == before
    assert bench.functions(path) == ["gamma"]


def test_an_edit_by_another_process_is_seen_by_the_next_check(bench: Bench) -> None:
    path = bench.write("checked", bench.source("alpha", "omega"))
    text = path.read_text(encoding="utf-8")
    line = text[: text.index("omega")].count("\n") + 1
    column = text.split("\n")[line - 1].index("omega") + 1
    broken = bench.errors(path)
    assert [place for place, _ in broken] == [(line, column)]

    write_elsewhere(path, bench.source("alpha"))
    mended = bench.errors(path)
    write_elsewhere(path, text)
    broken_again = bench.errors(path)

    assert mended == []
    assert broken_again == broken


def test_an_edit_of_another_open_file_is_seen_by_the_next_check(bench: Bench) -> None:
    module, user = bench.path("module"), bench.path("user")
    assert bench.functions(module) == ["alpha"]
    assert bench.errors(user) == []

    write_elsewhere(module, bench.source("omega"))

    assert bench.errors(user)


def test_a_given_text_is_for_one_question(bench: Bench) -> None:
    path = bench.write("asked", bench.source("alpha"))
    assert bench.functions(path) == ["alpha"]

    assert bench.functions(path, text=bench.source("omega")) == ["omega"]
    assert bench.functions(path) == ["alpha"]


def test_a_given_text_is_for_one_check(bench: Bench) -> None:
    path = bench.write("judged", bench.source("alpha"))
    bench.functions(path)

    assert bench.errors(path, bench.source("alpha", "omega"))
    assert bench.errors(path) == []


def test_positions_are_those_of_the_given_text(bench: Bench) -> None:
    path = bench.write("moved", bench.source("alpha"))
    text = bench.source("alpha")
    lines = text.split("\n")
    line = max(number for number, one in enumerate(lines, 1) if "alpha" in one)

    def definition(down: int, **more: Any) -> list[int]:
        found = bench.ws.definition(path, line + down, symbol="alpha", timeout=TIMEOUT, **more)
        return [one.range.start.line for one in found]

    (on_disk,) = definition(0)
    assert definition(3, text="\n\n\n" + text) == [on_disk + 3]
    assert definition(0) == [on_disk]


def test_a_given_text_is_gone_from_the_view_of_other_files_as_well(bench: Bench) -> None:
    module, user = bench.path("other"), bench.path("other_user")
    ((line, column), message), *others = bench.errors(user)
    assert others == []
    assert "missing" in message

    assert bench.functions(module, text=bench.source("omega")) == ["omega"]

    # An edit, so that every server has a reason to look at the file again.
    write_elsewhere(user, "\n" + user.read_text(encoding="utf-8"))
    assert bench.errors(user) == [((line + 1, column), message)]
