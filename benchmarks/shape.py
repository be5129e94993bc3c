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
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.overlap import running  # noqa: E402
from benchmarks.shape_projects import LINK, PROJECTS, Project  # noqa: E402
from benchmarks.shape_race import TIMEOUT, Answer, Changer, Race, State, Tally  # noqa: E402
from lspkit import Verdict  # noqa: E402

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
