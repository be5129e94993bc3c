"""What a client adds to each request: lspkit and its peers against the raw loop.

    python benchmarks/client_cost.py [ROUNDS]

All contestants ask the same canned server, each from a process of its own, in turns
(`contestants.py`). What counts is the distance to the floor, in milliseconds, and what share that
is of the peers' distance: a machine may be slower than the one that the bar was set on. The price
of `import lspkit` is measured beside it, in processor time of fresh interpreters.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from canned import write_folder
from contestants import OPERATIONS, Contestant, interleave, start, summary
from sections import CHECKOUT, QUICK, median, table, write_section

#: Blocks per contestant and operation, unless the command line says otherwise.
ROUNDS = 5 if QUICK else 20
#: Calls in a block.
CALLS = 100
#: The whole run ends after this many seconds, with the rounds it has.
LIMIT = 30.0 if QUICK else 240.0
#: How many things come back.
EXPECTED = {"definition": 1, "hover": 1, "references": 50, "symbols": 50}
#: The bar for lspkit: at most this many milliseconds above the floor.
BAR = {"definition": 0.15, "hover": 0.15, "references": 0.5, "symbols": 0.5}
#: Fresh interpreters per module in the import measurement.
IMPORTS = 7 if QUICK else 15


def import_cost() -> dict[str, float]:
    """Processor milliseconds of an import in a fresh interpreter, minus the bare interpreter."""
    programs = {
        "bare": "",
        "json": "import json;",
        "lspkit": "import lspkit;",
        "msgspec": "import msgspec;",
    }
    spent: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(IMPORTS):
        for name, program in programs.items():
            result = subprocess.run(
                [sys.executable, "-c", f"{program}import time; print(time.process_time())"],
                cwd=CHECKOUT,
                check=False,
                capture_output=True,
                text=True,
                timeout=30,
            )
            if result.returncode == 0:
                spent[name].append(float(result.stdout) * 1000)
    bare = median(spent["bare"])
    cost = {name: median(values) - bare for name, values in spent.items() if values}
    return cost | {"bare": bare}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "project"
        write_folder(folder)
        canned = str(Path(__file__).resolve().parent / "canned.py")
        server = [sys.executable, canned, str(folder)]
        running, missing = start(lambda name: Contestant(name, folder, server), EXPECTED)
        try:
            times, done = interleave(running, missing, rounds, CALLS, LIMIT)
        finally:
            for contestant in running.values():
                contestant.close()
    results = summary(times)
    rows = [
        [operation, name, one["p50_ms"], one["p95_ms"], one["above_floor_ms"], one["times_floor"]]
        for operation in OPERATIONS
        for name in running
        for one in [results[name][operation]]
    ]
    print(table(["operation", "client", "p50 ms", "p95 ms", "above floor", "x floor"], rows))
    for name, reason in missing.items():
        print(f"not measured: {name}: {reason}")
    imports = import_cost()
    print(table(["import", "processor ms"], [[name, value] for name, value in imports.items()]))
    write_section(
        "client_cost",
        {
            "rounds": done,
            "calls_per_block": CALLS,
            "results": results,
            "bar_ms": BAR,
            "versions": {name: c.facts.get("version") for name, c in running.items()},
            "missing": missing,
            "import_processor_ms": imports,
        },
    )


if __name__ == "__main__":
    main()
