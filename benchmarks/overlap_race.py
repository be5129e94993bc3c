"""One form of the overlap race on a server that runs: the edits, and the calls about them.

Who writes what is known to the millisecond, since the truth is worked out from it: each write is
waited for until it can be seen on disk, while the verdicts are not waited for.
"""

from __future__ import annotations

import collections
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lspkit
from benchmarks.overlap_projects import Template, Text
from benchmarks.overlap_truth import TIMEOUT, Judge, Said, Tally, Timeline, Wire

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
    said.result = future.result() if problem is None else problem


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
