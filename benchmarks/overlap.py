"""The overlap race: are lspkit's verdicts true while edits come faster than answers?

Each round gives a file a random state, in order or broken, in one of several ways: by `ws.write`,
by another process behind lspkit's back, or as the text of one check; and asks for a verdict without
waiting for the one before. A second form has two files of which one breaks and mends the other.
Every report is then held against the truth (`overlap_truth.py`). Seeded: the same seed gives the
same edits and the same pauses, though not the same timing of the server.

    python -m benchmarks.overlap [--rounds N] [--seed N] [--json] [SERVER…]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.overlap_floor import Floor, timed  # noqa: E402
from benchmarks.overlap_projects import COURSES, Course  # noqa: E402
from benchmarks.overlap_race import Elsewhere, Race, race_alone, race_pair  # noqa: E402
from benchmarks.overlap_truth import Tally, Wire  # noqa: E402
from benchmarks.sections import median, percentile, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from lspkit.servers.restriction.trust_profile import at_home  # noqa: E402
from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.recording import recorded  # noqa: E402
from tests.real.running import TIMING, environment  # noqa: E402

Judges = dict[str, Callable[[Wire], Tally]]


@dataclass
class Outcome:
    """All that is known of one server after a run."""

    forms: dict[str, Tally]
    times: dict[str, list[float]]
    #: Verdicts that were wrong although nothing overlapped.
    wrong_alone: int

    @property
    def total(self) -> Tally:
        """Of all forms."""
        total = Tally()
        for tally in self.forms.values():
            total.add(tally)
        return total

    def row(self, rounds: int, seed: int) -> dict[str, Any]:
        """What is kept of it."""
        total = self.total
        kept = ("calls", "sure", "false_clean", "unknown", "cut", "late")
        return {
            "rounds": rounds,
            "seed": seed,
            "forms": list(self.forms),
            "proof": {how: count for how, count in total.how.items() if count},
            "wrong": total.wrong + self.wrong_alone,
            **{name: getattr(total, name) for name in kept},
            "milliseconds": {
                side: {"p50": round(median(times), 2), "p95": round(percentile(times, 0.95), 2)}
                for side, times in self.times.items()
            },
        }

    def words(self, server: str, took: float) -> str:
        """The same for people, with what was wrong."""
        lines = [f"{server} in {took:.0f} s; {self.wrong_alone} wrong without any overlap"]
        for side, times in self.times.items():
            middle, most = median(times), percentile(times, 0.95)
            lines.append(f"    {side}: p50 {middle:.1f} ms, p95 {most:.1f} ms")
        for form, tally in self.forms.items():
            lines.append(
                f"    {form}: {tally.calls} calls, {tally.sure} sure, {tally.wrong} wrong, "
                f"{tally.false_clean} false clean, {tally.unknown} unknown, "
                f"{tally.cut} cut short, {tally.late} late, {tally.how}"
            )
            lines += [f"        WRONG {story}" for story in tally.stories[:8]]
            lines += [f"        unknown {n} times: {why}" for why, n in tally.reasons.items()]
        return "\n".join(lines)


@contextlib.contextmanager
def running(server: str, folder: Path, log: Path) -> Iterator[lspkit.Workspace]:
    """The server as its definition has it, with a copy of what it is sent."""
    program = COURSES[server].program or server
    said = {
        "command": recorded(real_servers.command(program), log, by_process=True),
        "env": environment(folder, program),
        "disabled": False,
    }
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != server}
    config = {"lsp": {**others, server: said}, "timing": TIMING}
    before = os.environ["PATH"]
    # It may load a part of another server's package, which is found by that one's program.
    os.environ["PATH"] = f"{real_servers.PROGRAMS}{os.pathsep}{before}"
    try:
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            yield ws
    finally:
        os.environ["PATH"] = before


def raced(ws: lspkit.Workspace, course: Course, folder: Path, rounds: int, seed: str) -> Judges:
    """Both forms of the race, or the one that makes sense for this server."""
    judges: Judges = {}
    with Elsewhere() as writer:
        race = Race(ws, writer, folder, f"{seed} alone", 0)
        judges["alone"] = race_alone(race, course.alone, rounds)
        if course.pair is not None and course.other is not None:
            race = Race(ws, writer, folder, f"{seed} pair", 3000)
            judges["pair"] = race_pair(race, course.pair, course.other, rounds)
    return judges


def race_only(server: str, scratch: Path, rounds: int, seed: int = 1) -> dict[str, Tally]:
    """How the race ends for this server, by form."""
    folder, log = scratch / server, scratch / f"{server}.sent"
    COURSES[server].write(folder, real_servers.NODE_MODULES)
    with running(server, folder, log) as ws:
        judges = raced(ws, COURSES[server], folder, rounds, f"{server} {seed}")
    wire = Wire(log)
    return {form: judge(wire) for form, judge in judges.items()}


def measure(server: str, scratch: Path, rounds: int, seed: int = 1) -> Outcome:
    """The race, and then the time from an edit to its verdict, beside that of the bare loop."""
    course, folder, log = COURSES[server], scratch / server, scratch / f"{server}.sent"
    course.write(folder, real_servers.NODE_MODULES)
    with running(server, folder, log) as ws:
        judges = raced(ws, course, folder, rounds, f"{server} {seed}")
        times, wrong = beside_floor(server, ws, course, folder, scratch / f"{server}-floor")
    wire = Wire(log)
    return Outcome({form: judge(wire) for form, judge in judges.items()}, times, wrong)


def beside_floor(
    server: str, ws: lspkit.Workspace, course: Course, folder: Path, beside: Path
) -> tuple[dict[str, list[float]], int]:
    """Edits by lspkit and by the bare loop, in turns, each in a folder of its own."""
    course.write(beside, real_servers.NODE_MODULES)
    known = next(one for one in BUILT_IN if one.id == server)
    definition = at_home(known, str(beside), [str(real_servers.PROGRAMS)])
    assert not isinstance(definition, str), definition
    before, program = take_snapshot(), course.program or server
    argv, variables = real_servers.command(program), environment(beside, program)
    floor = Floor(argv, beside, variables, definition)
    try:
        floor.begin()
        name, path = course.alone.name, beside / course.alone.name
        floor.warm_up(path, course.alone, course.language)
        return timed(ws, folder / name, floor, path, course.alone, course.language)
    finally:
        floor.close()
        kill_leaked_processes(before)  # some servers leave one behind


def main() -> int:
    """Race, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one line of JSON for each server")
    options = parser.parse_args()
    wrong, rows = 0, {}
    for server in options.servers or COURSES:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            outcome = measure(server, Path(scratch), options.rounds, options.seed)
        wrong += outcome.total.wrong + outcome.wrong_alone
        rows[server] = outcome.row(options.rounds, options.seed)
        if options.json:
            print(json.dumps({server: rows[server]}), flush=True)
        print(outcome.words(server, time.monotonic() - began), file=sys.stderr, flush=True)
    if not options.servers:
        write_section("overlap", {"results": rows})
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
