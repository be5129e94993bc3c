"""A host that runs out of file descriptors. Run by test_environment.py.

    python starved.py FOLDER SCENARIO FREE SERVER_ARGV…

Runs one scenario with only so many descriptors to spare, then asks again with plenty, and prints a
line of JSON: what each call said, how long the starved one took, and what was left when the
workspace was closed. Ways to starve: the limit is lowered, or all descriptors below it are taken.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import lspkit

#: Seconds for each call.
LIMIT = 6.0
#: Seconds in which calls have to succeed again: a program that did not start is tried every few.
RECOVERY = 9.0
#: Enough for everything, and quickly used up.
ROOMY = 200


def ask(ws: lspkit.Workspace, name: str = "a.scr") -> str:
    """Where the symbol is defined, or the code of the error."""
    try:
        return str(ws.definition(name, 2, 4, timeout=LIMIT)[0].range.start)
    except lspkit.LspkitError as problem:
        return problem.code
    except Exception as problem:  # noqa: BLE001 (reported: it is what must not happen)
        return repr(problem)


def set_limit(soft: int) -> None:
    """How many descriptors there may be."""
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    )


def lowest() -> int:
    """The number that the next descriptor will have."""
    number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)
    return number


@contextmanager
def lowered(free: int) -> Iterator[None]:
    """A limit that leaves so many."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    set_limit(lowest() + free)
    try:
        yield
    finally:
        set_limit(before)


@contextmanager
def taken(free: int) -> Iterator[None]:
    """All descriptors in use but so many."""
    held: list[int] = []
    try:
        while True:
            try:
                held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        for _ in range(free):
            os.close(held.pop())
        yield
    finally:
        for number in held:
            os.close(number)


Starve = Callable[[int], AbstractContextManager[None]]
#: Of a starved call: what it said, and the seconds it took.
Said = tuple[str, float]


def timed(call: Callable[[], str]) -> Said:
    """What a call says, and when."""
    began = time.monotonic()
    said = call()
    return said, time.monotonic() - began


def starting(ws: lspkit.Workspace, free: int, starve: Starve) -> Said:
    """The first call, which has to start a server."""
    with starve(free):
        return timed(lambda: ask(ws))


def reading(ws: lspkit.Workspace, free: int, starve: Starve) -> Said:
    """The server runs; a file has to be read that it does not know yet."""
    ask(ws)
    with starve(free):
        return timed(lambda: ask(ws, "b.scr"))


def dying(ws: lspkit.Workspace, free: int, starve: Starve) -> Said:
    """The server runs, and ends when it is asked this."""

    def crash() -> str:
        try:
            return str(ws.request("a.scr", "x/crash", timeout=LIMIT))
        except lspkit.LspkitError as problem:
            return problem.code

    ask(ws)
    with starve(free):
        return timed(crash)


SCENARIOS: dict[str, tuple[Callable[[lspkit.Workspace, int, Starve], Said], Starve]] = {
    "starting, lowered": (starting, lowered),
    "starting, taken": (starting, taken),
    "reading, taken": (reading, taken),
    "dying, taken": (dying, taken),
}


def descriptors() -> set[str]:
    """Those that are open now."""
    with os.scandir("/proc/self/fd") as found:
        return {one.name for one in found}


def main(folder: str, scenario: str, free: int, argv: list[str]) -> None:
    """See above."""
    set_limit(ROOMY)
    server = {"command": argv, "extensions": [".scr"]}
    config: dict[str, Any] = {
        "lsp": {"scripted": server},
        "restart": {"baseMs": 0, "jitter": 0},
    }
    run, starve = SCENARIOS[scenario]
    before, threads = descriptors(), threading.active_count()
    with lspkit.Workspace(folder, config=config) as ws:
        first, took = run(ws, free, starve)
        deadline = time.monotonic() + RECOVERY
        while (last := ask(ws)) != "1:5" and time.monotonic() < deadline:
            threading.Event().wait(0.05)
        if scenario.startswith("reading"):
            last = ask(ws, "b.scr")
        with starve(free):
            ws.close()
    left = sorted(descriptors() - before)
    more = threading.active_count() - threads
    print(json.dumps({"first": first, "took": took, "last": last, "left": left, "threads": more}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
