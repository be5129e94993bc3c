"""From nothing to the first definition: python benchmarks/cold_start.py [SERVER…]

lspkit, from making a `Workspace` to the answer, beside a bare loop that starts the same server,
opens the file and asks until there is an answer. In turns; `import lspkit` has a row of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.many_files import runner  # noqa: E402
from benchmarks.overlap_floor import PATIENCE, Floor  # noqa: E402
from benchmarks.sections import QUICK, median, spread, table, write_section  # noqa: E402
from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402

SERVERS = ("ty", "clangd") if QUICK else ("ty", "pyright", "typescript", "clangd")
ROUNDS = 3 if QUICK else 7
#: Server to a file in which `total` is defined and used, and where it is used, from 1.
SOURCES = {
    "ty": ("shop.py", "def total(x: int) -> int:\n    return x\n\n\nprint(total(1))\n", 5, 8),
    "pyright": ("shop.py", "def total(x: int) -> int:\n    return x\n\n\nprint(total(1))\n", 5, 8),
    "typescript": (
        "shop.ts",
        "function total(x: number): number {\n  return x;\n}\n\nconsole.log(total(1));\n",
        5,
        14,
    ),
    "clangd": ("shop.cpp", "int total(int x) { return x; }\n\nint one = total(1);\n", 3, 12),
}


class ColdFloor(Floor):
    """The bare loop up to its first definition."""

    def first_definition(self, path: Path, language: str, line: int, column: int) -> float:
        """The point of time at which there is an answer."""
        self.begin()
        uri = path.as_uri()
        item = {"uri": uri, "languageId": language, "version": 1, "text": path.read_text()}
        self.notify("textDocument/didOpen", {"textDocument": item})
        place = {"line": line - 1, "character": column - 1}
        params = {"textDocument": {"uri": uri}, "position": place}
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            try:
                if self.request("textDocument/definition", params, PATIENCE):
                    return time.perf_counter()
            except RuntimeError:
                continue  # it is not ready
        raise TimeoutError("no definition")


def measured(server: str, scratch: Path) -> dict[str, list[float]]:
    """Milliseconds of each side."""
    name, text, line, column = SOURCES[server]
    times: dict[str, list[float]] = {"lspkit": [], "floor": []}
    for number in range(ROUNDS + 1):
        order = ("lspkit", "floor") if number % 2 else ("floor", "lspkit")
        for side in order:
            folder = scratch / f"{server}-{number}-{side}"
            own = runner(server, folder)
            own.course.write(folder, real_servers.NODE_MODULES)
            path = folder / name
            path.write_text(text)
            before = take_snapshot()
            began = time.perf_counter()
            if side == "lspkit":
                with lspkit.Workspace(folder, config=own.config(), trusted=True) as ws:
                    found = ws.definition(path, line, column, timeout=PATIENCE)
                    took = time.perf_counter() - began
                if not found:
                    raise RuntimeError(f"{server}: lspkit found no definition")
            else:
                floor = ColdFloor(own.argv, folder, own.environment, own.definition)
                try:
                    took = floor.first_definition(path, own.course.language, line, column) - began
                finally:
                    floor.close()
                    kill_leaked_processes(before)
            if number:  # the first of each fills the disk's caches
                times[side].append(took * 1000)
    return times


def main() -> None:
    """Measure, print, and keep the numbers."""
    # A server may load a part of another server's package, which is found by that one's program.
    os.environ["PATH"] = f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    results: dict[str, Any] = {}
    for server in sys.argv[1:] or SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            times = measured(server, Path(scratch).resolve())
        results[server] = {side: spread(values) for side, values in times.items()}
        results[server]["ratio"] = median(times["lspkit"]) / median(times["floor"])
        results[server]["above_ms"] = median(times["lspkit"]) - median(times["floor"])
    rows = [
        [server, one["lspkit"]["p50"], one["lspkit"]["p95"], one["floor"]["p50"], one["ratio"]]
        for server, one in results.items()
    ]
    print(table(["server", "lspkit p50 ms", "p95", "bare p50 ms", "ratio"], rows))
    if not sys.argv[1:]:
        write_section("cold_start", {"rounds": ROUNDS, "results": results})


if __name__ == "__main__":
    main()
