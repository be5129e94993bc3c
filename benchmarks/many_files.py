"""Twenty files edited at once against one: python benchmarks/many_files.py [SERVER…]

Another process's edits, as far as lspkit can tell: plain writes, then one `check_all`. A bare loop
does the same on a second copy of the server: all changes and all questions first, then all answers.
What it needs is the server's own time, which a client cannot go below. All of them take turns, so
that what else the machine does falls on all.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.overlap import running  # noqa: E402
from benchmarks.overlap_floor import PULL, Floor  # noqa: E402
from benchmarks.overlap_projects import COURSES  # noqa: E402
from benchmarks.sections import median, percentile, table, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import environment  # noqa: E402

SERVERS = ("ty", "pyright", "typescript")
FILES = 20
RUNS = 25
#: Before the measured ones: the servers load and warm up.
WARM_UPS = 3


class AllAtOnce(Floor):
    """The bare loop, with all questions under way at the same time."""

    def __init__(self, server: str, folder: Path) -> None:
        definition = next(one for one in BUILT_IN if one.id == server)
        argv, variables = real_servers.command(server), environment(folder, server)
        super().__init__(argv, folder, variables, definition)
        self._versions: dict[Path, int] = {}
        self._ids = 1_000_000

    def edit_all(self, paths: list[Path], texts: list[str], language: str) -> float:
        """Milliseconds from the first write to the last answer."""
        began = time.perf_counter()
        asked: set[int] = set()
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
            version = self._versions[path] = self._versions.get(path, 0) + 1
            if version == 1:
                item = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
                self.notify("textDocument/didOpen", {"textDocument": item})
            else:
                self.change(path, version, text)
        for path in paths:
            for method, params in self._questions(path):
                self._ids += 1
                asked.add(self._ids)
                self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        while asked:
            message = self.read(time.monotonic() + 60.0)
            if "method" in message:
                self.take(message)
            else:
                asked.discard(message["id"])
        return (time.perf_counter() - began) * 1000

    def _questions(self, path: Path) -> list[tuple[str, Any]]:
        if self.stop != "tsserver":
            return [(PULL, {"textDocument": {"uri": path.as_uri()}, **self.identified})]
        return [
            (
                "workspace/executeCommand",
                {
                    "command": "typescript.tsserverRequest",
                    "arguments": [command, {"file": str(path)}, {}],
                },
            )
            for command in ("syntacticDiagnosticsSync", "semanticDiagnosticsSync")
        ]


def edit_and_check(ws: lspkit.Workspace, paths: list[Path], texts: list[str]) -> float:
    """Milliseconds from the first write to the last verdict."""
    began = time.perf_counter()
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    reports = ws.check_all(paths, timeout=60.0)
    took = (time.perf_counter() - began) * 1000
    unknown = [report.why for report in reports.values() if report.why]
    if unknown:
        raise RuntimeError(f"not all were checked: {unknown[0]}")
    return took


def measured(server: str, scratch: Path) -> dict[str, list[float]]:
    """Milliseconds for one file and for all of them."""
    folder, course = scratch / server, COURSES[server]
    course.write(folder, real_servers.NODE_MODULES)
    suffix = Path(course.alone.name).suffix
    paths = [folder / f"file_{number}{suffix}" for number in range(FILES)]
    times: dict[str, list[float]] = {"one": [], "all": [], "one, bare": [], "all, bare": []}
    beside = scratch / f"{server}-beside"
    course.write(beside, real_servers.NODE_MODULES)
    floor = AllAtOnce(server, beside)
    numbers = itertools.count(1)
    try:
        floor.begin()
        floor.warm_up(beside / course.alone.name, course.alone, course.language)
        with running(server, folder, scratch / f"{server}.sent") as ws:
            for run in range(WARM_UPS + RUNS):
                for kind, count in (("one", 1), ("all", FILES)):
                    texts = [
                        course.alone.make(next(numbers), broken=run % 2 == 0).content
                        for _ in range(count)
                    ]
                    own = edit_and_check(ws, paths[:count], texts)
                    others = [beside / path.name for path in paths[:count]]
                    bare = floor.edit_all(others, texts, course.language)
                    if run >= WARM_UPS:
                        times[kind].append(own)
                        times[f"{kind}, bare"].append(bare)
    finally:
        floor.close()
    return times


def main() -> None:
    """Measure, print, and keep the numbers."""
    rows, kept = [], {}
    for server in sys.argv[1:] or SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            times = measured(server, Path(scratch))
        middle = {kind: median(values) for kind, values in times.items()}
        row = {
            "one_p50_ms": middle["one"],
            "one_p95_ms": percentile(times["one"], 0.95),
            "all_p50_ms": middle["all"],
            "all_p95_ms": percentile(times["all"], 0.95),
            "ratio": middle["all"] / middle["one"],
            "bare_one_p50_ms": middle["one, bare"],
            "bare_all_p50_ms": middle["all, bare"],
            "bare_ratio": middle["all, bare"] / middle["one, bare"],
            "all_to_bare_all": middle["all"] / middle["all, bare"],
        }
        kept[server] = row
        rows.append([server, *row.values()])
    headings = ["server", "1 file p50 ms", "p95", f"{FILES} files p50 ms", "p95", "ratio"]
    headings += ["bare 1 p50", f"bare {FILES} p50", "bare ratio", f"{FILES} files: lspkit / bare"]
    print(table(headings, rows))
    write_section("many_files", {"files": FILES, "runs": RUNS, "results": kept})


if __name__ == "__main__":
    main()
