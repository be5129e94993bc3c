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
import collections
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too


import lspkit  # noqa: E402
from benchmarks.overlap_floor import Floor, timed  # noqa: E402
from benchmarks.overlap_projects import COURSES, Course, Template, Text  # noqa: E402  # noqa: E402
from benchmarks.overlap_truth import TIMEOUT, Judge, Said, Tally, Timeline, Wire  # noqa: E402  # noqa: E402
from benchmarks.sections import median, percentile, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from lspkit.servers.restriction.trust_profile import at_home  # noqa: E402
from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.recording import recorded  # noqa: E402
from tests.real.running import TIMING, environment  # noqa: E402

#: So many calls are under way at most; then the oldest is waited for.
UNDER_WAY = 6
#: Share of rounds, and the longest pause after one, in seconds: mostly shorter than any server.
PAUSES = ((0.5, 0.0), (0.25, 0.1), (0.15, 0.4), (0.1, 1.0))
#: Share of the checks that get hardly any time, so that they are given up while under way.
CUT_SHORT = 0.1

#: Replaces files when it is told to, in one of two ways, and says so.
WRITER = """
import json, os, sys
for line in sys.stdin:
    path, text, way = json.loads(line)
    if way == "replace":
        with open(path + ".new", "w") as stream:
            stream.write(text)
        os.replace(path + ".new", path)
    else:
        descriptor = os.open(path, os.O_WRONLY)
        os.pwrite(descriptor, text.encode(), 0)
        os.close(descriptor)
    print("done", flush=True)
"""


class Elsewhere:
    """Another process that writes files."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=TIMEOUT)

    def write(self, path: Path, text: str, way: str) -> None:
        """Returns when it is on disk."""
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the writer has no pipes")
        process.stdin.write(json.dumps([str(path), text, way]).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()


@dataclass
class Raced:
    """One file of the race."""

    path: Path
    template: Template
    timeline: Timeline

    def start(self, text: Text) -> None:
        """A text that is there before anybody asks."""
        began = time.monotonic()
        self.path.write_text(text.content)
        self.timeline.note(began, time.monotonic(), text)


class Race:
    """One form of the race on one running server."""

    def __init__(
        self, ws: lspkit.Workspace, writer: Elsewhere, folder: Path, seed: str, first: int
    ) -> None:
        self._ws = ws
        self._writer = writer
        self._folder = folder
        self._random = random.Random(seed)
        self._number = first
        self._threads = ThreadPoolExecutor(UNDER_WAY)
        self._under_way: collections.deque[Future[Any]] = collections.deque()
        self.calls: list[Said] = []
        self.texts: list[Text] = []

    def file(self, template: Template) -> Raced:
        """A file to race on, in order and checked once, so that the server knows it."""
        raced = Raced(self._folder / template.name, template, Timeline())
        raced.start(self.make(raced, broken=False))
        return raced

    def make(self, file: Raced, *, broken: bool | None = None) -> Text:
        """The next text of a file."""
        self._number += 1
        if broken is None:
            broken = self._random.random() < 0.5
        text = file.template.make(self._number, broken=broken)
        self.texts.append(text)
        return text

    # The ways to bring a text in, and to ask

    def write(self, file: Raced, about: str) -> None:
        """Through lspkit, which then checks it."""
        text = self.make(file)
        began = time.monotonic()
        self._call(f"write {about} {text.number}", about, self._ws.write, file.path, text.content)
        while file.path.read_text() != text.content and time.monotonic() < began + TIMEOUT:
            time.sleep(0.0005)  # so that the order of the writes is known
        file.timeline.note(began, time.monotonic(), text)

    def elsewhere(self, file: Raced) -> None:
        """Behind lspkit's back."""
        text, way = self.make(file), self._random.choice(["replace", "in place"])
        began = time.monotonic()
        self._writer.write(file.path, text.content, way)
        file.timeline.note(began, time.monotonic(), text)

    def check(self, file: Raced, about: str) -> None:
        """What is on disk."""
        self._call(f"check {about}", about, self._ws.check, file.path, **self._time())

    def check_text(self, file: Raced, about: str) -> None:
        """What the caller brings."""
        text = self.make(file)
        what = f"check {about} text {text.number}"
        self._call(what, about, self._ws.check, file.path, text.content, text=text, **self._time())

    def check_project(self, file: Raced, about: str) -> None:
        """One file, and the state of the others."""
        self._call("check project", about, self._ws.check, file.path, scope="project")

    def _time(self) -> dict[str, Any]:
        if self._random.random() < CUT_SHORT:
            return {"timeout": self._random.uniform(0.001, 0.3)}
        return {}

    def _call(
        self,
        what: str,
        about: str,
        method: Callable[..., Any],
        *arguments: Any,
        text: Text | None = None,
        timeout: float | None = None,
        **more: Any,
    ) -> None:
        """Begin a call, by a thread or without one, and go on."""
        while len(self._under_way) >= UNDER_WAY:
            self._under_way.popleft().exception(TIMEOUT)
        said = Said(what, about, time.monotonic(), text, timeout is not None)
        self.calls.append(said)
        more["timeout"] = timeout or TIMEOUT
        if self._random.random() < 0.5:
            future = self._ws.submit(method, *arguments, **more)
        else:
            future = self._threads.submit(method, *arguments, **more)
        future.add_done_callback(lambda done: _ended(said, done))
        self._under_way.append(future)

    def pause(self) -> None:
        """A random time, mostly none."""
        shares, longest = zip(*PAUSES, strict=True)
        (most,) = self._random.choices(longest, shares)
        time.sleep(self._random.uniform(0.0, most))

    def pick(self, ways: dict[Callable[[], None], int]) -> None:
        """Do one of these."""
        (way,) = self._random.choices(list(ways), list(ways.values()))
        way()

    def settle(self) -> None:
        """Wait for whatever is under way."""
        wait(self._under_way, TIMEOUT)
        self._under_way.clear()

    def finish(self) -> None:
        """Wait for all."""
        self.settle()
        self._threads.shutdown()


def _ended(said: Said, future: Future[Any]) -> None:
    said.ended = time.monotonic()
    problem = future.exception()
    result = future.result() if problem is None else problem
    if isinstance(result, lspkit.Change) and result.report is not None:
        [result] = result.report.reports
    said.result = result


def race_alone(race: Race, template: Template, rounds: int) -> Callable[[Wire], Tally]:
    """One file. Returns what judges it, once all is written down."""
    main = race.file(template)

    def from_elsewhere() -> None:
        race.elsewhere(main)
        race.check(main, "main")

    ways = {
        lambda: race.write(main, "main"): 3,
        from_elsewhere: 3,
        lambda: race.elsewhere(main): 1,
        lambda: race.check_text(main, "main"): 3,
        lambda: race.check(main, "main"): 1,
    }
    race.check(main, "main")
    race.settle()
    for _ in range(rounds):
        race.pick(ways)
        race.pause()
    race.finish()
    # A project as a whole is in order only if all of its files are.
    main.start(race.make(main, broken=False))
    return lambda wire: Judge(wire, main.timeline, None, race.texts).tally(race.calls)


def race_pair(
    race: Race, user: Template, template: Template, rounds: int
) -> Callable[[Wire], Tally]:
    """Two files, of which one breaks and mends the other."""
    main, other = race.file(user), race.file(template)

    def unchecked() -> None:
        race.elsewhere(other)
        race.check(main, "main")

    def both() -> None:
        race.write(other, "other")
        race.check(main, "main")

    ways = {
        lambda: race.write(main, "main"): 2,
        lambda: race.elsewhere(main): 1,
        lambda: race.check_text(main, "main"): 2,
        lambda: race.check(main, "main"): 2,
        lambda: race.elsewhere(other): 1,
        lambda: race.check_project(other, "project"): 1,
        lambda: race.check_project(main, "main"): 1,
        lambda: race.write(other, "other"): 2,
        # A text that is on no disk, and must not matter to anybody else.
        lambda: race.check_text(other, "other"): 2,
        unchecked: 4,
        both: 3,
    }
    race.check(other, "other")
    race.check(main, "main")
    race.settle()
    for _ in range(rounds):
        race.pick(ways)
        race.pause()
    race.finish()
    return lambda wire: Judge(wire, main.timeline, other.timeline, race.texts).tally(race.calls)


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
