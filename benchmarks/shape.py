"""The shape race: are verdicts true while the set of files changes?

Files, folders, links, stubs, packages and configuration come, go and are replaced at random, by
another process or by lspkit itself, one or a few at a time, some while checks are under way. After
each round the one file that never changes is checked. What is true is said by a fresh process of
the same server, on a fresh folder with the same files. Seeded: the same seed gives the same
changes and the same pauses, though not the same timing of the server.

    python -m benchmarks.shape [--rounds N] [--seed N] [--without PLACE] [--json] [SERVER…]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too


import lspkit  # noqa: E402
from benchmarks.overlap import running  # noqa: E402
from benchmarks.shape_projects import (  # noqa: E402
    LINK,
    PROJECTS,
    Files,
    Project,
)
from lspkit import Verdict  # noqa: E402

#: Seconds for one verdict.
TIMEOUT = 60.0
#: How many places change in a round.
CHANGES = (1, 1, 1, 2, 3)
#: Share of the changes that lspkit makes itself, where it can.
BY_LSPKIT = 0.2
#: Share of the changes before which a check is begun that nobody waits for.
UNDER_WAY = 0.4
#: Share of rounds, and the longest pause after one, in seconds.
PAUSES = ((0.5, 0.0), (0.3, 0.2), (0.2, 1.0))
#: In which ways another process puts new files in the place of old ones.
WAYS = ("written", "moved", "in place", "old times")
#: The longest time between the removal of old files and the arrival of new ones, in seconds.
GAPS = (0.0, 0.0, 0.02, 0.1)

State = tuple[int, ...]

#: Changes files when it is told to, and says so. What is moved away or in lies beside the project.
CHANGER = """
import itertools, json, os, shutil, sys, time
number, LINK = itertools.count(), "-> "

def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if text.startswith(LINK):
        os.symlink(text[len(LINK):], path)
    else:
        with open(path, "w") as stream:
            stream.write(text)

def whole(path, gone, root):
    # The largest folder in which nothing else is.
    above = os.path.dirname(path)
    while above != root and all(os.path.join(above, one) in gone for one in os.listdir(above)):
        gone.add(above)
        path, above = above, os.path.dirname(above)
    return path

def remove(root, names, move):
    gone = {os.path.join(root, one) for one in names}
    for path in sorted(gone):
        if os.path.lexists(path):
            path = whole(path, gone, root)
            if move:
                os.rename(path, f"{root}-aside/{next(number)}")
            elif os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

def take_in(aside, place):
    if os.path.isdir(place) and not os.path.islink(place):
        for name in sorted(os.listdir(aside)):
            take_in(os.path.join(aside, name), os.path.join(place, name))
    else:
        os.replace(aside, place)

for line in sys.stdin:
    root, old, new, way, gap = json.loads(line)
    os.makedirs(f"{root}-aside", exist_ok=True)
    kept = set()
    if way == "in place":
        kept = {one for one in old if one in new and not os.path.islink(f"{root}/{one}")}
        kept = {one for one in kept if not new[one].startswith(LINK)}
    elif way in ("moved", "old times") and not gap:
        kept = {one for one in old if one in new}
    times = {one: os.lstat(f"{root}/{one}") for one in old if one in new}
    remove(root, [one for one in old if one not in kept], way == "moved")
    time.sleep(gap)
    if way in ("moved", "old times"):
        aside = f"{root}-aside/{next(number)}"
        for name, text in new.items():
            put(f"{aside}/{name}", text)
            if way == "old times" and name in times and not text.startswith(LINK):
                known = times[name]
                os.utime(f"{aside}/{name}", ns=(known.st_atime_ns, known.st_mtime_ns))
        if new:
            take_in(aside, root)
    else:
        for name, text in new.items():
            put(f"{root}/{name}", text)
    print("done", flush=True)
"""


@dataclass
class Tally:
    """How a race ended."""

    rounds: int = 0
    changes: int = 0
    calls: int = 0
    #: Verdicts while which nothing changed, so that only one answer was possible.
    sure: int = 0
    wrong: int = 0
    #: Those of them that leave out something that is wrong with the file.
    missed: int = 0
    unknown: int = 0
    #: Different states of the project that were judged.
    states: int = 0
    #: What was wrong, in words.
    stories: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)


class Changer:
    """Another process that changes the shape of a project."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", CHANGER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Changer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=TIMEOUT)

    def change(self, folder: Path, old: Files, new: Files, way: str, gap: float) -> None:
        """Returns when it is done."""
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the changer has no pipes")
        process.stdin.write(json.dumps([str(folder), list(old), new, way, gap]).encode() + b"\n")
        process.stdin.flush()
        if process.stdout.readline() != b"done\n":
            raise RuntimeError("the changer has failed")


@dataclass
class Answer:
    """What was said when nothing changed."""

    round: int
    state: State
    report: lspkit.Report
    #: What had happened in this round, in words.
    changes: list[str]
    took: float


class Race:
    """The race on one running server."""

    def __init__(
        self,
        ws: lspkit.Workspace,
        changer: Changer,
        folder: Path,
        project: Project,
        seed: str,
        without: Sequence[str],
    ) -> None:
        self._ws = ws
        self._changer = changer
        self._folder = folder
        self._project = project
        self._random = random.Random(seed)
        self._places = [at for at, one in enumerate(project.places) if one.name not in without]
        self._under_way: list[Future[Any]] = []
        self.state: State = (0,) * len(project.places)
        self.answers: list[Answer] = []
        self.tally = Tally()

    def run(self, rounds: int) -> None:
        """All of it."""
        self._ask(0, [])
        for number in range(1, rounds + 1):
            # All dice are thrown first: what comes of a round must not decide about the next one.
            planned = [self._planned() for _ in range(self._random.choice(CHANGES))]
            shares, longest = zip(*PAUSES, strict=True)
            (most,) = self._random.choices(longest, shares)
            pause = self._random.uniform(0.0, most)
            words = [self._change(*one) for one in planned]
            self._ask(number, words)
            time.sleep(pause)
            self.tally.rounds += 1
        wait(self._under_way, TIMEOUT)

    def _planned(self) -> tuple[int, float, str, float, bool, bool]:
        place = self._random.choice(self._places)
        way, most = self._random.choice(WAYS), self._random.choice(GAPS)
        ours, asked = self._random.random() < BY_LSPKIT, self._random.random() < UNDER_WAY
        return place, self._random.random(), way, self._random.uniform(0.0, most), ours, asked

    def _change(self, at: int, which: float, way: str, gap: float, ours: bool, asked: bool) -> str:
        place, before = self._project.places[at], self.state[at]
        others = [one for one in range(len(place.states)) if one != before]
        after = others[int(which * len(others))]
        old, new = place.states[before], place.states[after]
        if asked:
            self._begin_check()
        if ours and (name := _single(old, new)):
            way, gap = "by lspkit", 0.0
            if new:
                self._ws.write(name, new[name], timeout=TIMEOUT)
            else:
                self._ws.delete(name)
        else:
            self._changer.change(self._folder, old, new, way, gap)
        self.state = (*self.state[:at], after, *self.state[at + 1 :])
        self.tally.changes += 1
        pause = f" after {gap:.3f} s" if gap else ""
        during = ", a check under way" if asked else ""
        return f"{place.name} {before}->{after} {way}{pause}{during}"

    def _begin_check(self) -> None:
        self._under_way = [one for one in self._under_way if not one.done()]
        path = self._folder / self._project.main
        self._under_way.append(self._ws.submit(self._ws.check, path, timeout=TIMEOUT))
        self.tally.calls += 1

    def _ask(self, number: int, changes: list[str]) -> None:
        began = time.monotonic()
        report = self._ws.check(self._folder / self._project.main, timeout=TIMEOUT)
        took = time.monotonic() - began
        self.tally.calls += 1
        self.answers.append(Answer(number, self.state, report, changes, took))


def _single(old: Files, new: Files) -> str:
    """The one file directly in the root that is meant, if lspkit can make this change."""
    names = {*old, *new}
    texts = [*old.values(), *new.values()]
    if len(names) != 1 or any(one.startswith(LINK) for one in texts):
        return ""
    (name,) = names
    return "" if "/" in name else name


#: A verdict, and the lines of what counts.
Said = tuple[Verdict, tuple[int, ...]]


def make(folder: Path, project: Project, state: State) -> None:
    """A folder with these files."""
    folder.mkdir(parents=True)
    if project.environment:
        venv.create(folder / ".venv")
    for name, text in project.at(state).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith(LINK):
            path.symlink_to(text.removeprefix(LINK))
        else:
            path.write_text(text)


def told(report: lspkit.Report) -> Said:
    """The verdict, and the lines of what counts."""
    return report.verdict, tuple(sorted({one.range.start.line for one in report.counted}))


class Judge:
    """Asks a fresh process."""

    def __init__(self, server: str, scratch: Path) -> None:
        self._server = server
        self._scratch = scratch
        self._known: dict[State, Said] = {}

    def truth(self, state: State) -> Said:
        """What is true of a project in this state."""
        if state not in self._known:
            self._known[state] = self._asked(state)
        return self._known[state]

    @property
    def states(self) -> int:
        """How many were judged."""
        return len(self._known)

    def _asked(self, state: State) -> Said:
        project, name = PROJECTS[self._server], f"judge-{len(self._known)}"
        folder = self._scratch / name
        make(folder, project, state)
        with running(self._server, folder, self._scratch / f"{name}.sent") as ws:
            return told(ws.check(project.main, timeout=TIMEOUT))


def judged(answers: list[Answer], judge: Judge, tally: Tally) -> Tally:
    """Hold what was said against the truth."""
    for one in answers:
        verdict, lines = told(one.report)
        if verdict is Verdict.UNKNOWN:
            tally.unknown += 1
            reason = one.report.why or ""
            tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
            continue
        truth, true_lines = judge.truth(one.state)
        if truth is Verdict.UNKNOWN:
            continue
        tally.sure += 1
        if (verdict, lines) != (truth, true_lines):
            tally.wrong += 1
            tally.missed += not set(true_lines) <= set(lines)
            tally.stories.append(
                f"round {one.round} ({'; '.join(one.changes)}): said {verdict.name} {lines} after "
                f"{one.took:.2f} s, true is {truth.name} {true_lines}; "
                f"{[message.message.splitlines()[0] for message in one.report.counted][:8]}"
            )
    tally.states = judge.states
    return tally


@contextlib.contextmanager
def own_environment() -> Iterator[None]:
    """Without one that is active here: the project's own is meant."""
    active = os.environ.pop("VIRTUAL_ENV", None)
    try:
        yield
    finally:
        if active is not None:
            os.environ["VIRTUAL_ENV"] = active


def race(
    server: str, scratch: Path, rounds: int, seed: int = 1, without: Sequence[str] = ()
) -> Tally:
    """How the race ends for this server. Places that are named stay as they are."""
    project, folder = PROJECTS[server], scratch / server
    make(folder, project, (0,) * len(project.places))
    with own_environment():
        with running(server, folder, scratch / f"{server}.sent") as ws, Changer() as changer:
            run = Race(ws, changer, folder, project, f"{server} {seed}", without)
            run.run(rounds)
        _compare(folder, project, run.state)
        return judged(run.answers, Judge(server, scratch), run.tally)


def _compare(folder: Path, project: Project, state: State) -> None:
    """The disk is as the race believes it to be."""
    for name, text in project.at(state).items():
        path = folder / name
        there = LINK + os.readlink(path) if path.is_symlink() else path.read_text()
        if there != text:
            raise RuntimeError(f"{name} is not as it should be at the end: {there!r}")
    meant = project.at(state)
    known = {one for place in project.places for state_of in place.states for one in state_of}
    # What is a link in one state may be a folder in another. It may lead to files.
    meant_folders = {str(above) for one in meant for above in Path(one).parents}
    links = {one for one, text in meant.items() if text.startswith(LINK)}
    extra = [
        one
        for one in known - {*meant, *meant_folders}
        if os.path.lexists(folder / one) and not links & {str(above) for above in Path(one).parents}
    ]
    if extra:
        raise RuntimeError(f"at the end there is also {extra}")


def words(server: str, tally: Tally, took: float) -> str:
    """For people, with what was wrong."""
    line = (
        f"{server} in {took:.0f} s: {tally.rounds} rounds, {tally.changes} changes, "
        f"{tally.calls} calls, {tally.sure} sure, {tally.states} states, {tally.wrong} wrong, "
        f"{tally.missed} missed, {tally.unknown} unknown"
    )
    lines = [line, *(f"    WRONG {story}" for story in tally.stories)]
    lines += [f"    unknown {count} times: {why}" for why, count in tally.reasons.items()]
    return "\n".join(lines)


def main() -> int:
    """Race, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", action="append", default=[], metavar="PLACE")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each server")
    options = parser.parse_args()
    wrong = 0
    for server in options.servers or PROJECTS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            place = Path(scratch).resolve()
            tally = race(server, place, options.rounds, options.seed, options.without)
        wrong += tally.wrong
        if options.json:
            row = asdict(tally) | {"seed": options.seed, "without": options.without}
            del row["stories"]  # these are for people
            print(json.dumps({server: row}), flush=True)
        print(words(server, tally, time.monotonic() - began), file=sys.stderr, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
