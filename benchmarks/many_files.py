"""Twenty files edited at once against one: python benchmarks/many_files.py [SERVER…]

Another process's edits, as far as lspkit can tell: plain writes, then one `check_all`. Its time is
taken; what the disk needs for the writes is nobody's fault here. A bare loop does the same on a
second copy of the server, so that the share of the client can be told from that
of the server: most servers look at one file after the other. `scripted` is one that takes 100 ms
for each file and any number of them at the same time. All take turns, so that what else the machine
does falls on all, and pause between two edits, as somebody does who reads what came of the last.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too


import lspkit  # noqa: E402
from benchmarks.overlap_floor import (  # noqa: E402
    PATIENCE,
    PULL,
    Floor,
)
from benchmarks.overlap_projects import COURSES, Course, Template  # noqa: E402
from benchmarks.page import many_files_table  # noqa: E402
from benchmarks.sections import QUICK, median, percentile, write_section  # noqa: E402
from lspkit.diagnostics.tsserver import COMMANDS, request  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from lspkit.servers.definition import Definition  # noqa: E402
from lspkit.servers.definition_parts import Launch  # noqa: E402
from lspkit.testing import Diagnostics, Fault, Script  # noqa: E402
from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import TIMING, environment  # noqa: E402


class AllAtOnce(Floor):
    """The bare loop that has many files under way: all changes, all questions, then all answers.

    What it needs is the server's own time, which no client can go below. It tells and asks what
    lspkit does, and stops at the first sign that the server has looked at each file.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._versions: dict[Path, int] = {}
        self._ids = 1_000_000

    def edit_all(self, paths: list[Path], texts: list[str], language: str) -> float:
        """Milliseconds from the last write to the last answer."""
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        began, before = time.perf_counter(), self._pushed
        for path, text in zip(paths, texts, strict=True):
            self._tell(path, text, language)
        asked: set[int] = set()
        for path in paths:
            for method, params in self._questions(path):
                self._ids += 1
                asked.add(self._ids)
                self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        limit = time.monotonic() + PATIENCE
        awaited = set(paths) if self.stop in ("version", "push") else set()
        while asked or awaited:
            message = self.read(limit)
            if "method" in message:
                self.take(message)
                awaited = {path for path in awaited if not self._has_spoken(path, before)}
            else:
                asked.discard(message["id"])
        return (time.perf_counter() - began) * 1000

    def _tell(self, path: Path, text: str, language: str) -> None:
        version = self._versions[path] = self._versions.get(path, 0) + 1
        if version == 1:
            item = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
            self.notify("textDocument/didOpen", {"textDocument": item})
            return
        self.tell_of_change(path, version, text)

    def _has_spoken(self, path: Path, before: int) -> bool:
        version, _, number = self._pushes.get(path.as_uri(), (None, [], 0))
        if self.stop == "version" and self._versions[path] > 1:
            return (version or 0) >= self._versions[path]
        # A file that is opened may have been spoken of before.
        return number > before or (self._versions[path] == 1 and number > 0)

    def _questions(self, path: Path) -> list[tuple[str, Any]]:
        if self.stop == "tsserver":
            return [("workspace/executeCommand", request(one, str(path))) for one in COMMANDS]
        if self.stop == "pull":
            return [(PULL, {"textDocument": {"uri": path.as_uri()}, **self.identified})]
        return []


SCRIPTED = "scripted"
#: Those that mostly compute, and those whose verdict is mostly waiting.
SERVERS = ("ty", "pyright", "typescript", SCRIPTED, "bash", "yaml", "eslint", "gopls", "clangd")
if QUICK:
    SERVERS = ("ty", "clangd", SCRIPTED)
FILES = 20
#: Rounds at most, and at least; in between the time decides, in seconds.
RUNS, FEWEST, LONG = (4, 3, 5.0) if QUICK else (25, 7, 12.0)
#: Before the measured ones: the servers load and warm up.
WARM_UPS = 1 if QUICK else 3
#: Seconds between two edits.
PAUSE = 1.1
#: Seconds that the scripted server takes for a file.
DELAY = 0.1


@dataclass(frozen=True)
class Runner:
    """How a server is run, by lspkit and by the bare loop."""

    course: Course
    definition: Definition
    argv: list[str]
    environment: dict[str, str]

    def config(self) -> dict[str, Any]:
        """This server and no other."""
        said = {
            "command": self.argv,
            "env": self.environment,
            "extensions": list(self.definition.languages),
            "proof": "pull",
            "disabled": False,
        }
        if self.definition in BUILT_IN:
            del said["extensions"], said["proof"]
        others = {one.id: {"disabled": True} for one in BUILT_IN if one is not self.definition}
        return {"lsp": {**others, self.definition.id: said}, "timing": TIMING}

    def paths(self, folder: Path) -> list[Path]:
        """The files; in folders of their own where the course has one for its file."""
        name = Path(self.course.alone.name)
        if name.parent == Path():
            return [folder / f"file_{number}{name.suffix}" for number in range(FILES)]
        return [folder / f"{name.parent}_{number}" / name.name for number in range(FILES)]


def runner(server: str, folder: Path) -> Runner:
    """The one for a real server, or for the scripted one."""
    if server != SCRIPTED:
        definition = next(one for one in BUILT_IN if one.id == server)
        argv, variables = real_servers.command(server), environment(folder, server)
        return Runner(COURSES[server], definition, argv, variables)
    slow = Fault(PULL, "delay", seconds=DELAY)
    script = Script(diagnostics=Diagnostics(how="pull"), faults=[slow])
    argv = script.command(folder.with_name(f"{folder.name}-script"))
    course = Course("scripted", Template("main.scr", "NUMBER\nGAP\nLINE\n", "fine", "ERROR"))
    definition = Definition(
        id=SCRIPTED,
        family=SCRIPTED,
        languages={".scr": SCRIPTED},
        launch=Launch(commands=(tuple(argv),)),
    )
    return Runner(course, definition, argv, {})


def prepared(server: str, folder: Path) -> tuple[Runner, list[Path]]:
    """A project for this server."""
    folder.mkdir(parents=True)
    found = runner(server, folder)
    found.course.write(folder, real_servers.NODE_MODULES)
    paths = found.paths(folder)
    for path in paths:
        path.parent.mkdir(exist_ok=True)
    return found, paths


@contextmanager
def bare_loop(server: str, folder: Path) -> Iterator[tuple[AllAtOnce, list[Path]]]:
    """The bare loop on a copy of the server, which has seen a file."""
    beside, paths = prepared(server, folder)
    before, course = take_snapshot(), beside.course
    floor = AllAtOnce(beside.argv, folder, beside.environment, beside.definition)
    try:
        floor.begin()
        floor.warm_up(folder / course.alone.name, course.alone, course.language)
        yield floor, paths
    finally:
        floor.close()
        kill_leaked_processes(before)  # some servers leave one behind


def edit_and_check(ws: lspkit.Workspace, paths: list[Path], texts: list[str]) -> tuple[float, ...]:
    """Milliseconds from the last write to the last verdict, and of this process's processor."""
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    began, spent = time.perf_counter(), time.process_time()
    reports = ws.check_all(paths, timeout=60.0)
    took = (time.perf_counter() - began) * 1000
    spent = (time.process_time() - spent) * 1000
    unknown = [report.why for report in reports.values() if report.why]
    if unknown:
        raise RuntimeError(f"not all were checked: {unknown[0]}")
    return took, spent


def measured(server: str, scratch: Path) -> dict[str, list[float]]:
    """Milliseconds for one file and for all of them."""
    own, paths = prepared(server, scratch / server)
    template, numbers = own.course.alone, itertools.count(1)
    times: dict[str, list[float]] = {}
    with (
        bare_loop(server, scratch / f"{server}-beside") as (floor, others),
        lspkit.Workspace(scratch / server, config=own.config(), trusted=True) as ws,
    ):
        until = time.monotonic() + LONG
        for run in range(WARM_UPS + RUNS):
            if run >= WARM_UPS + FEWEST and time.monotonic() > until:
                break
            for kind, count in (("one", 1), ("all", FILES)):
                made = [template.make(next(numbers), broken=run % 2 == 0) for _ in range(count)]
                # Without the empty lines that make all texts of a race equally long.
                texts = [one.content.rstrip("\n") + "\n" for one in made]
                time.sleep(PAUSE)
                took, spent = edit_and_check(ws, paths[:count], texts)
                bare = floor.edit_all(others[:count], texts, own.course.language)
                if run >= WARM_UPS:
                    kinds = {kind: took, f"{kind}, processor": spent, f"{kind}, bare": bare}
                    for name, value in kinds.items():
                        times.setdefault(name, []).append(value)
    return times


def summed_up(times: dict[str, list[float]]) -> dict[str, float]:
    """What is kept of it."""
    middle = {kind: median(values) for kind, values in times.items()}
    return {
        "one_p50_ms": middle["one"],
        "one_p95_ms": percentile(times["one"], 0.95),
        "all_p50_ms": middle["all"],
        "all_p95_ms": percentile(times["all"], 0.95),
        "ratio": middle["all"] / middle["one"],
        "bare_one_p50_ms": middle["one, bare"],
        "bare_all_p50_ms": middle["all, bare"],
        "bare_ratio": middle["all, bare"] / middle["one, bare"],
        "all_to_bare_all": middle["all"] / middle["all, bare"],
        "own_processor_ms": middle["all, processor"],
    }


def main() -> None:
    """Measure, print, and keep the numbers."""
    results = {}
    for server in sys.argv[1:] or SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            results[server] = summed_up(measured(server, Path(scratch)))
        print(many_files_table(FILES, {server: results[server]}), flush=True)
    if not sys.argv[1:]:
        write_section("many_files", {"files": FILES, "runs": RUNS, "results": results})


if __name__ == "__main__":
    main()
