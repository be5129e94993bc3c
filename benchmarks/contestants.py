"""The processes that `client_cost.py` and `real_requests.py` compare: lspkit, the floor, the peers.

Each contestant asks the same server from a process of its own. Blocks of calls are interleaved
and their order turns from round to round, so that a busy machine is busy for everyone.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from environments import PEERS, Unavailable, environment
from sections import median, spread

#: A contestant that is silent for longer is out.
PATIENCE = 60.0
#: Contestant to adapter; those of `PEERS` run in an environment of their own.
ADAPTERS = {
    "floor": "floor.py",
    "lspkit": "workspace.py",
    "SolidLSP": "solidlsp.py",
    "multilspy": "multilspy.py",
    "pylspclient": "pylspclient.py",
    "pygls": "pygls.py",
}
OPERATIONS = ("definition", "hover", "references", "symbols")

Times = dict[str, dict[str, list[float]]]


class Contestant:
    """One adapter process and the pipe to it."""

    def __init__(
        self, name: str, folder: Path, server: list[str], environ: Mapping[str, str] | None = None
    ) -> None:
        python = sys.executable
        if name in PEERS:
            python = str(environment(PEERS[name]) / "bin" / "python")
        here = Path(__file__).resolve().parent
        # -P: an adapter is named like the package it drives, and must not hide it.
        self._process = subprocess.Popen(
            [python, "-P", str(here / "peers" / ADAPTERS[name]), str(folder), *server],
            cwd=folder,
            env=None if environ is None else dict(environ),
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

    def block(self, operation: str, calls: int) -> list[float]:
        """One block of calls; milliseconds of each."""
        if self._process.stdin is None:
            raise Unavailable("no pipe")
        print(json.dumps({"operation": operation, "calls": calls}), file=self._process.stdin)
        self._process.stdin.flush()
        return [nanoseconds / 1e6 for nanoseconds in self._answer()]

    def _answer(self) -> Any:
        pipe = self._process.stdout
        if pipe is None or not select.select([pipe], [], [], PATIENCE)[0]:
            raise Unavailable(f"silent for {PATIENCE:.0f} s")
        line = pipe.readline()
        while line and line[0] not in "{[":  # a peer prints while it starts
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
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


def start(
    make: Callable[[str], Contestant], expected: Mapping[str, int] | None = None
) -> tuple[dict[str, Contestant], dict[str, str]]:
    """Those that run here with the expected answers, if any, and why other peers do not."""
    running: dict[str, Contestant] = {}
    missing: dict[str, str] = {}
    for name in ADAPTERS:
        try:
            contestant = make(name)
        except Unavailable as error:
            if name not in PEERS:
                raise  # without lspkit and the floor there is nothing to compare
            missing[name] = str(error)
            continue
        if expected is not None and contestant.facts["results"] != expected:
            contestant.close()
            reason = f"other answers than expected: {contestant.facts['results']}"
            if name not in PEERS:
                raise Unavailable(f"{name}: {reason}")
            missing[name] = reason
            continue
        running[name] = contestant
    return running, missing


def interleave(
    running: dict[str, Contestant], missing: dict[str, str], rounds: int, calls: int, limit: float
) -> tuple[Times, int]:
    """Milliseconds per contestant and operation, and how many rounds fitted into the seconds.

    A peer that fails in its warm-up goes from `running` to `missing`; a later failure ends the run.
    """
    end = time.monotonic() + limit
    for name, contestant in list(running.items()):
        try:
            for operation in OPERATIONS:
                contestant.block(operation, calls)  # Warm; thrown away.
        except Unavailable as error:
            if name not in PEERS:
                raise
            missing[name] = str(error)
            running.pop(name).close()
    times: Times = {name: {operation: [] for operation in OPERATIONS} for name in running}
    for number in range(rounds):
        turn = number % len(running)
        order = [*list(running)[turn:], *list(running)[:turn]]
        for operation in OPERATIONS:
            for name in order:
                times[name][operation] += running[name].block(operation, calls)
        if time.monotonic() > end:
            return times, number + 1
    return times, rounds


def summary(times: Times) -> dict[str, dict[str, dict[str, float]]]:
    """The spread in milliseconds, and the distance of the median to the floor's."""
    floor = {operation: median(values) for operation, values in times["floor"].items()}
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, per_operation in times.items():
        results[name] = {}
        for operation, values in per_operation.items():
            row = {f"{key}_ms": value for key, value in spread(values).items() if key != "n"}
            row["calls"] = len(values)
            row["above_floor_ms"] = row["p50_ms"] - floor[operation]
            row["times_floor"] = row["p50_ms"] / floor[operation]
            results[name][operation] = row
    return results
