"""From an edit to fresh diagnostics: python benchmarks/edit_time.py [SERVER…]

Three sides take turns, each on a copy of the same server: lspkit; a bare loop that knows when to
stop (`overlap_floor.py`); and a bare loop with OpenCode's rule, which waits for a push and then for
150 ms without another one (`clean_edit.py`). Edits break and mend the file by turns.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.clean_edit import PushRule  # noqa: E402
from benchmarks.many_files import Runner, runner  # noqa: E402
from benchmarks.overlap_floor import EDITS, FEWEST, LONG, PATIENCE, Floor  # noqa: E402
from benchmarks.sections import QUICK, median, spread, table, write_section  # noqa: E402
from lspkit import Verdict  # noqa: E402
from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402

SERVERS = ("ty", "typescript") if QUICK else ("ty", "pyright", "typescript", "gopls", "clangd")
#: Edits before the measured ones.
WARM_UPS = 4


def bare(server: str, folder: Path, kind: type[Floor]) -> tuple[Floor, Path, Runner]:
    """A bare loop that has seen the file."""
    own = runner(server, folder)
    own.course.write(folder, real_servers.NODE_MODULES)
    loop = kind(own.argv, folder, own.environment, own.definition)
    if kind is PushRule and loop.stop == "pull":
        loop.stop = "push"  # a server that may be asked would push nothing
    loop.begin()
    path = folder / own.course.alone.name
    loop.warm_up(path, own.course.alone, own.course.language)
    return loop, path, own


def measured(server: str, scratch: Path) -> tuple[dict[str, list[float]], int]:
    """Milliseconds of each side, and how many of lspkit's verdicts were wrong."""
    folder = scratch / "own"
    own = runner(server, folder)
    own.course.write(folder, real_servers.NODE_MODULES)
    template, main = own.course.alone, folder / own.course.alone.name
    times: dict[str, list[float]] = {"lspkit": [], "floor": [], "rule": []}
    before, loops, wrong = take_snapshot(), [], 0
    try:
        for side, kind in (("floor", Floor), ("rule", PushRule)):
            loops.append((side, *bare(server, scratch / side, kind)[:2]))
        with lspkit.Workspace(folder, config=own.config(), trusted=True) as ws:
            for number in range(WARM_UPS):
                text = template.make(number, broken=number % 2 == 0)
                ws.write(main, text.content, timeout=PATIENCE)
            until = time.monotonic() + LONG
            for number in range(EDITS):
                if number >= FEWEST and time.monotonic() > until:
                    break
                text = template.make(5000 + number, broken=number % 2 == 0)
                began = time.perf_counter()
                report = ws.write(main, text.content, timeout=PATIENCE).report
                times["lspkit"].append((time.perf_counter() - began) * 1000)
                wrong += report.verdict is not (Verdict.DIRTY if text.broken else Verdict.CLEAN)
                for side, loop, path in loops if number % 2 else reversed(loops):
                    took, _ = loop.edit(path, text, own.course.language)
                    times[side].append(took * 1000)
    finally:
        for _, loop, _ in loops:
            loop.close()
        kill_leaked_processes(before)  # some servers leave one behind
    return times, wrong


def main() -> None:
    """Measure, print, and keep the numbers."""
    results: dict[str, Any] = {}
    for server in sys.argv[1:] or SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            times, wrong = measured(server, Path(scratch).resolve())
        results[server] = {
            **{side: spread(values) for side, values in times.items()},
            "above_floor_ms": median(times["lspkit"]) - median(times["floor"]),
            "times_as_fast_as_rule": median(times["rule"]) / median(times["lspkit"]),
            "wrong": wrong,
        }
    rows = [
        [
            server,
            *(one[side][key] for side in ("lspkit", "floor", "rule") for key in ("p50", "p95")),
        ]
        for server, one in results.items()
    ]
    print(table(["server", "lspkit p50 ms", "p95", "bare", "p95", "rule", "p95"], rows))
    if not sys.argv[1:]:
        write_section("edit_time", {"results": results})


if __name__ == "__main__":
    main()
