"""What a client adds to each request: lspkit and its peers against the raw loop.

    python benchmarks/client_cost.py [ROUNDS]

All contestants ask the same canned server, each from a process of its own. Blocks of calls
are interleaved and their order turns from round to round, so that a busy machine is busy
for everyone. What counts is the distance to the floor, in milliseconds, and what share that is of
the peers' distance: a machine may be slower than the one that the bar was set on. The price of
`import lspkit` is measured beside it, in processor time of fresh interpreters.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from canned import write_folder
from environments import Unavailable, environment
from sections import CHECKOUT, median, percentile, table, write_section

#: Blocks per contestant and operation, unless the command line says otherwise.
ROUNDS = 20
#: Calls in a block.
CALLS = 100
#: The whole run ends after this many seconds, with the rounds it has.
LIMIT = 300.0
#: A contestant that is silent for longer is out.
PATIENCE = 30.0
#: What is asked, and how many things come back.
OPERATIONS = {"definition": 1, "hover": 1, "references": 50, "symbols": 50}
#: Contestant to adapter and requirement; None: the interpreter that runs this.
CONTESTANTS: dict[str, tuple[str, str | None]] = {
    "floor": ("floor.py", None),
    "lspkit": ("workspace.py", None),
    "SolidLSP": ("solidlsp.py", "serena-agent==2.1.0"),
    "multilspy": ("multilspy.py", "multilspy==0.1.1"),
}
#: The bar for lspkit: at most this many milliseconds above the floor.
BAR = {"definition": 0.10, "hover": 0.10, "references": 0.6, "symbols": 0.6}
#: Fresh interpreters per module in the import measurement.
IMPORTS = 15

Times = dict[str, dict[str, list[float]]]


class Contestant:
    """One adapter process and the pipe to it."""

    def __init__(self, adapter: str, requirement: str | None, folder: Path) -> None:
        python = sys.executable
        if requirement is not None:
            python = str(environment(requirement) / "bin" / "python")
        here = Path(__file__).resolve().parent
        server = [sys.executable, str(here / "canned.py"), str(folder)]
        # -P: an adapter is named like the package it drives, and must not hide it.
        self._process = subprocess.Popen(
            [python, "-P", str(here / "peers" / adapter), str(folder), *server],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self.facts = self._answer()
        except Unavailable:
            self.close()
            raise

    def block(self, operation: str) -> list[float]:
        """One block of calls; milliseconds of each."""
        if self._process.stdin is None:
            raise Unavailable("no pipe")
        print(json.dumps({"operation": operation, "calls": CALLS}), file=self._process.stdin)
        self._process.stdin.flush()
        return [nanoseconds / 1e6 for nanoseconds in self._answer()]

    def _answer(self) -> Any:
        pipe = self._process.stdout
        if pipe is None or not select.select([pipe], [], [], PATIENCE)[0]:
            raise Unavailable(f"silent for {PATIENCE:.0f} s")
        line = pipe.readline()
        if not line:
            said = self._process.stderr.read() if self._process.stderr else ""
            raise Unavailable((said.strip().splitlines() or ["ended without a word"])[-1])
        return json.loads(line)

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def contestants(folder: Path) -> tuple[dict[str, Contestant], dict[str, str]]:
    """Those that run here, and why the others do not."""
    running: dict[str, Contestant] = {}
    missing: dict[str, str] = {}
    for name, (adapter, requirement) in CONTESTANTS.items():
        try:
            contestant = Contestant(adapter, requirement, folder)
        except Unavailable as error:
            missing[name] = str(error)
            continue
        if contestant.facts["results"] != OPERATIONS:
            missing[name] = f"other answers than the floor: {contestant.facts['results']}"
            contestant.close()
            continue
        running[name] = contestant
    return running, missing


def measure(running: dict[str, Contestant], rounds: int) -> tuple[Times, int]:
    """Milliseconds per contestant and operation, and how many rounds fitted the time."""
    times: Times = {name: {operation: [] for operation in OPERATIONS} for name in running}
    end = time.monotonic() + LIMIT
    for contestant in running.values():
        for operation in OPERATIONS:
            contestant.block(operation)  # Warm; thrown away.
    for number in range(rounds):
        turn = number % len(running)
        order = [*list(running)[turn:], *list(running)[:turn]]
        for operation in OPERATIONS:
            for name in order:
                times[name][operation] += running[name].block(operation)
        if time.monotonic() > end:
            return times, number + 1
    return times, rounds


def summary(times: Times) -> dict[str, dict[str, dict[str, float]]]:
    """p50, p95 and the distance of p50 to the floor's, in milliseconds."""
    floor = {operation: median(values) for operation, values in times["floor"].items()}
    return {
        name: {
            operation: {
                "p50_ms": median(values),
                "p95_ms": percentile(values, 0.95),
                "above_floor_ms": median(values) - floor[operation],
                "times_floor": median(values) / floor[operation],
            }
            for operation, values in per_operation.items()
        }
        for name, per_operation in times.items()
    }


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
        running, missing = contestants(folder)
        try:
            times, done = measure(running, rounds)
        finally:
            for contestant in running.values():
                contestant.close()
    results = summary(times)
    rows = [
        [operation, name, *results[name][operation].values()]
        for operation in OPERATIONS
        for name in running
    ]
    print(table(["operation", "client", "p50 ms", "p95 ms", "above floor", "x floor"], rows))
    for name, reason in missing.items():
        print(f"not measured: {name}: {reason}")
    for operation, allowed in BAR.items() if "lspkit" in results else ():
        above = results["lspkit"][operation]["above_floor_ms"]
        verdict = "ok" if above <= allowed else "OVER"
        shares = [
            f"{above / results[peer][operation]['above_floor_ms']:.2f} x {peer}'s"
            for peer in ("SolidLSP", "multilspy")
            if peer in results
        ]
        print(f"{operation}: {above:+.3f} ms, bar {allowed} ms, {verdict}; {', '.join(shares)}")
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
