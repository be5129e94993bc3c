"""Memory, threads and descriptors over a long session: python benchmarks/long_session.py

One workspace, 2,000 edits, each written and checked; every twenty edits the process is looked at.
Once on the scripted server, and once on ty. Each session has a process of its own, since what
another benchmark has left in memory would hide what grows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

from benchmarks.sections import QUICK, median, table, write_section  # noqa: E402

SCRIPTED = "scripted"
SERVERS = (SCRIPTED, "ty")
EDITS = 400 if QUICK else 2_000
#: Edits between two looks, and the edits that are compared: the first and the last so many.
STEP, WINDOW = 20, 100
#: Files that are edited in turn.
FILES = 10
#: What is looked at in the process of lspkit.
COLUMNS = ("memory_mib", "threads", "descriptors")


def look(process: psutil.Process, edit: int) -> dict[str, float]:
    """What the process has now, and the memory of all that it started."""
    servers = 0
    for child in process.children(recursive=True):
        try:
            servers += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return {
        "edit": edit,
        "memory_mib": process.memory_info().rss / 2**20,
        "threads": process.num_threads(),
        "descriptors": process.num_fds(),
        "servers_mib": servers / 2**20,
    }


def session(server: str, folder: Path) -> dict[str, Any]:
    """All edits of one session, in this process."""
    import lspkit  # here: the process that starts the sessions does not need it
    from benchmarks.many_files import prepared

    own, paths = prepared(server, folder)
    template, times, looks = own.course.alone, [], []
    unknown = 0
    process = psutil.Process()
    with lspkit.Workspace(folder, config=own.config(), trusted=True) as ws:
        for number in range(EDITS):
            text = template.make(number, broken=number % 2 == 0)
            began = time.perf_counter()
            report = ws.write(paths[number % FILES], text.content, timeout=60.0).report
            times.append((time.perf_counter() - began) * 1000)
            unknown += report.verdict.unknown
            if (number + 1) % STEP == 0:
                looks.append(look(process, number + 1))
    return {
        "looks": looks,
        "unknown": unknown,
        "first_p50_ms": median(times[:WINDOW]),
        "last_p50_ms": median(times[-WINDOW:]),
    }


def growth(looks: list[dict[str, float]]) -> dict[str, float]:
    """The last edits against the first ones: a share of memory, numbers of the others."""
    first = [one for one in looks if one["edit"] <= WINDOW]
    last = [one for one in looks if one["edit"] > looks[-1]["edit"] - WINDOW]
    ends = {
        column: (median([one[column] for one in first]), median([one[column] for one in last]))
        for column in COLUMNS
    }
    before, after = ends["memory_mib"]
    return {
        "memory_growth_percent": 100 * (after / before - 1),
        "memory_first_mib": before,
        "memory_last_mib": after,
        "more_threads": ends["threads"][1] - ends["threads"][0],
        "more_descriptors": ends["descriptors"][1] - ends["descriptors"][0],
    }


def main() -> None:
    """Measure, print, and keep the numbers."""
    results: dict[str, Any] = {}
    for server in SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            command = [sys.executable, __file__, server, str(Path(scratch).resolve() / "project")]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        results[server] = {**found, **growth(found["looks"])}
    columns = ["memory_growth_percent", "more_threads", "more_descriptors", "first_p50_ms"]
    columns.append("last_p50_ms")
    rows = [[server, *(one[column] for column in columns)] for server, one in results.items()]
    print(table(["server", *columns], rows))
    write_section("long_session", {"edits": EDITS, "results": results})


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(session(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
