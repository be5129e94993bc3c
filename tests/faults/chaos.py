"""Callers who ask all the time, and somebody who kills the server they ask, at random moments.

What is asked and when is killed follows from the seed, so that a run can be had again; how the two
fall together is up to the machine. Every call has to be right or a structured error, in time, and
the other server of the workspace must not notice anything.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil

import lspkit
from tests.faults.cells import NEIGHBOUR, SLACK, attempt, right
from tests.faults.operations import OPERATIONS, SUBJECTS
from tests.faults.table import BROKEN, UNAVAILABLE

CALLERS = 4
#: Seconds for each call.
LIMIT = 10.0
#: Seconds between two kills, at least and at most: from the middle of a start to a busy hour.
GAPS = (0.005, 0.4)

#: A server either pushes or is asked; this one pushes.
ASKED = [one for one in OPERATIONS if one.diagnostics == "push"]


@dataclass
class Tally:
    """What came of a run."""

    kills: int = 0
    right: int = 0
    #: Calls that were told that their server is gone.
    spoilt: int = 0
    wrong: list[str] = field(default_factory=list)


class Storm:
    """One run. `folder` holds the subjects; the neighbour's file is written here."""

    def __init__(self, folder: Path, victim: list[str], well: list[str], *, seed: int) -> None:
        self._folder = folder
        self._victim = victim
        self._seed = seed
        self._config = {
            "lsp": {
                "faulty": {"command": victim, "extensions": [".scr"]},
                "well": {"command": well, "extensions": [".ok"]},
            },
            "restart": {"baseMs": 0, "jitter": 0},
        }
        self._over = threading.Event()
        #: Guards the tally.
        self._lock = threading.Lock()
        self._tally = Tally()

    def moments(self, count: int) -> list[float]:
        """The first pauses between kills."""
        return list(itertools.islice(self._gaps(), count))

    def _gaps(self) -> itertools.starmap[float]:
        dice = random.Random(f"{self._seed} kills")
        return itertools.starmap(dice.uniform, itertools.repeat(GAPS))

    def rage(self, seconds: float) -> Tally:
        """Let it happen for so long; afterwards everything is closed."""
        (self._folder / NEIGHBOUR.file).write_text(NEIGHBOUR.text, encoding="utf-8")
        with (
            lspkit.Workspace(self._folder, config=self._config) as ws,
            ThreadPoolExecutor(CALLERS + 1) as callers,
        ):
            asking = [callers.submit(self._ask, ws, number) for number in range(CALLERS)]
            asking.append(callers.submit(self._ask_neighbour, ws))
            try:
                self._kill(ws, time.monotonic() + seconds)
            finally:
                self._over.set()
            for one in asking:
                one.result(LIMIT + SLACK)
            self._note_last(ws)
        return self._tally

    def _note_last(self, ws: lspkit.Workspace) -> None:
        """When the storm is over, everything is right. Its last kill may just have happened."""
        for operation in ASKED:
            outcomes = [attempt(ws, operation, SUBJECTS[0], LIMIT) for _ in range(2)]
            if outcomes[-1].told != right(operation, SUBJECTS[0]):
                self._tally.wrong.append(f"afterwards, {operation.name}: {outcomes}")

    def _kill(self, ws: lspkit.Workspace, until: float) -> None:
        for gap in self._gaps():
            self._over.wait(gap)
            if time.monotonic() >= until:
                return
            rows = [row for row in ws.status().rows if row.server == "faulty"]
            for pid in [one.pid for row in rows for one in row.roots if one.pid]:
                self._tally.kills += self._kill_one(pid)

    def _kill_one(self, pid: int) -> bool:
        """Kill it if it is what it should be: a number may be another's by now."""
        try:
            if psutil.Process(pid).cmdline()[-1:] != self._victim[-1:]:
                return False
            os.kill(pid, signal.SIGKILL)
        except (psutil.Error, ProcessLookupError):
            return False
        return True

    def _ask(self, ws: lspkit.Workspace, number: int) -> None:
        dice = random.Random(f"{self._seed} caller {number}")
        while not self._over.is_set():
            operation, subject = dice.choice(ASKED), dice.choice(SUBJECTS)
            outcome = attempt(ws, operation, subject, LIMIT)
            unsure = operation.is_check and outcome.told == "unknown"
            with self._lock:
                if outcome.seconds > LIMIT + SLACK:
                    self._tally.wrong.append(f"{operation.name} took {outcome.seconds:.1f} s")
                elif outcome.told == right(operation, subject):
                    self._tally.right += 1
                elif outcome.told in (BROKEN, UNAVAILABLE) or unsure:
                    self._tally.spoilt += 1
                else:
                    self._tally.wrong.append(f"{operation.name}: {outcome}")

    def _ask_neighbour(self, ws: lspkit.Workspace) -> None:
        definition = next(one for one in OPERATIONS if one.name == "definition")
        while not self._over.wait(0.01):
            outcome = attempt(ws, definition, NEIGHBOUR, LIMIT)
            if outcome.told != right(definition, NEIGHBOUR):
                with self._lock:
                    self._tally.wrong.append(f"the neighbour: {outcome}")
