"""How costs grow with the work: python benchmarks/growth.py [NAME…]

Each cost at 1, 10 and 100 times the work: a course prepares the state for one scale and yields the
work, which is then timed any number of times. All courses use the scripted server, so that what
grows is lspkit's own part. The scales take turns,
so that what else the machine does falls on all of them, and the median counts. The exponent is that
of the last step: 1 means that ten times the work costs ten times as much. One that is clearly above
what the course allows is a defect, and the program then ends with status 1.
"""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too


import lspkit  # noqa: E402
from benchmarks.page import growth_table  # noqa: E402
from benchmarks.sections import median, write_section  # noqa: E402
from lspkit.batch.batch_check import dispatch  # noqa: E402
from lspkit.testing import Diagnostics, Script  # noqa: E402
from tests.scripted import config_for  # noqa: E402
from tests.service.site import Site  # noqa: E402

PULL = Diagnostics(how="pull")
SOURCE = "def greet\ngreet ok\n"
#: Calls of each thread and client.
CALLS = 10

Work = Callable[[], object]


class Course(NamedTuple):
    """A cost and what it depends on."""

    #: What grows, with its amount at scale 1.
    grows: str
    #: The work that is timed.
    cost: str
    #: 1: it may grow with the work; 0: it must not depend on it.
    allowed: int
    prepare: Callable[[int, Path], AbstractContextManager[Work]]
    #: Where the time is spent: `own` processor time of this process, or `wall` time if another
    #: process of lspkit takes part.
    clock: str = "own"
    #: Multiples of the work.
    scales: tuple[int, ...] = (1, 10, 100)


def server(folder: Path, script: Script | None = None, **more: Any) -> dict[str, Any]:
    """The configuration, with the script beside the project and its log nowhere."""
    made = (script or Script(diagnostics=PULL, log="/dev/null")).command(folder / "script")
    return config_for(made, **more)


def project(folder: Path, texts: dict[str, str]) -> Path:
    root = folder / "project"
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(count: int) -> list[str]:
    return [f"file_{number}.scr" for number in range(count)]


@contextmanager
def check_files(scale: int, folder: Path) -> Iterator[Work]:
    """All files are edited, and checked."""
    files = names(scale)
    root = project(folder, dict.fromkeys(files, SOURCE))
    numbers = itertools.count()
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:

        def work() -> None:
            text = f"{SOURCE}{next(numbers)}\n"
            for name in files:
                (root / name).write_text(text)
            reports = ws.check_all(files)
            require(all(one.verdict.clean for one in reports.values()), len(reports) == scale)

        yield work


@contextmanager
def check_one_of(scale: int, folder: Path) -> Iterator[Work]:
    """One file is edited and checked while others are open."""
    files = names(scale)
    root = project(folder, dict.fromkeys(files, SOURCE))
    numbers = itertools.count()
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:
        for name in files:
            ws.definition(name, 2, 1)

        def work() -> None:
            (root / files[0]).write_text(f"{SOURCE}{next(numbers)}\n")
            require(ws.check(files[0]).verdict.clean)

        yield work


@contextmanager
def diagnostics(scale: int, folder: Path) -> Iterator[Work]:
    """A file with ten findings, at scale 1, gets another text and is checked."""
    root = project(folder, {"a.scr": ""})
    numbers = itertools.count()
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:

        def work() -> None:
            (root / "a.scr").write_text(f"{next(numbers)}\n" + "ERROR é\n" * (10 * scale))
            require(len(ws.check("a.scr").diagnostics) == 10 * scale)

        yield work


@contextmanager
def summary(scale: int, folder: Path) -> Iterator[Work]:
    """The known findings of all files, ten in each."""
    files = names(scale)
    root = project(folder, dict.fromkeys(files, "ERROR\n" * 10))
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:
        ws.check_all(files)

        def work() -> None:
            require(sum(map(len, ws.diagnostics().values())) == 10 * scale)

        yield work


@contextmanager
def threads(scale: int, folder: Path) -> Iterator[Work]:
    """Threads that ask the same server at the same time."""
    root = project(folder, {"a.scr": SOURCE})
    with (
        lspkit.Workspace(root, config=server(folder), trusted=True) as ws,
        ThreadPoolExecutor(scale) as pool,
    ):

        def ask(_: int) -> None:
            for _ in range(CALLS):
                require(len(ws.definition("a.scr", 2, 1)) == 1)

        def work() -> None:
            list(pool.map(ask, range(scale)))

        yield work


@contextmanager
def start_servers(scale: int, folder: Path) -> Iterator[Work]:
    """Servers are started, asked once, and stopped. Each has a root of its own."""
    files = [f"part_{number}/a.scr" for number in range(scale)]
    markers = {f"part_{number}/marker": "" for number in range(scale)}
    root = project(folder, {**dict.fromkeys(files, SOURCE), **markers})
    config = server(folder, roots=["marker"])

    def work() -> None:
        with lspkit.Workspace(root, config=config, trusted=True) as ws:
            futures = [ws.submit(ws.definition, name, 2, 1) for name in files]
            require(all(len(one.result()) == 1 for one in futures))

    yield work


@contextmanager
def ask_one_server_of(scale: int, folder: Path) -> Iterator[Work]:
    """One file is edited and checked by its server while others run."""
    files = [f"part_{number}/a.scr" for number in range(scale)]
    markers = {f"part_{number}/marker": "" for number in range(scale)}
    root = project(folder, {**dict.fromkeys(files, SOURCE), **markers})
    numbers = itertools.count()
    with lspkit.Workspace(root, config=server(folder, roots=["marker"]), trusted=True) as ws:
        for name in files:
            ws.definition(name, 2, 1)

        def work() -> None:
            (root / files[0]).write_text(f"{SOURCE}{next(numbers)}\n")
            require(ws.check(files[0]).verdict.clean)

        yield work


@contextmanager
def clients(scale: int, folder: Path) -> Iterator[Work]:
    """Clients of one service ask at the same time."""
    with (
        Site(Script(diagnostics=PULL, log="/dev/null")) as site,
        ExitStack() as stack,
        ThreadPoolExecutor(scale) as pool,
    ):
        connected = [stack.enter_context(site.connect()) for _ in range(scale)]

        def ask(ws: lspkit.Workspace) -> None:
            for _ in range(CALLS):
                require(len(ws.definition("a.scr", 2, 4)) == 1)

        def work() -> None:
            list(pool.map(ask, connected))

        yield work


@contextmanager
def answer(scale: int, folder: Path) -> Iterator[Work]:
    """An answer with ten locations, at scale 1, in ten files."""
    files = names(10)
    root = project(folder, dict.fromkeys(files, "é greet\n" * (10 * scale)))
    found = [
        {
            "uri": (root / files[number % 10]).as_uri(),
            "range": {
                "start": {"line": number // 10, "character": 2},
                "end": {"line": number // 10, "character": 7},
            },
        }
        for number in range(10 * scale)
    ]
    script = Script(diagnostics=PULL, log="/dev/null", answers={"textDocument/references": found})
    with lspkit.Workspace(root, config=server(folder, script), trusted=True) as ws:

        def work() -> None:
            require(len(ws.references(files[0], 1, 3)) == 10 * scale)

        yield work


@contextmanager
def length(scale: int, folder: Path) -> Iterator[Work]:
    """One line of a file with a hundred lines, at scale 1, is edited, and the file is checked."""
    root = project(folder, {"a.scr": ""})
    numbers = itertools.count()
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:

        def work() -> None:
            half = "é fine\n" * (50 * scale)
            (root / "a.scr").write_text(f"{half}{next(numbers)}\n{half}")
            require(ws.check("a.scr").verdict.clean)

        yield work


@contextmanager
def open_tree(scale: int, folder: Path) -> Iterator[Work]:
    """A tree with a hundred files, at scale 1, is opened, asked about once, and closed."""
    root = tree(scale, folder)

    def work() -> None:
        with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:
            require(len(ws.definition("folder_0/file_0.scr", 2, 1)) == 1)
            ws.changed_files()

    yield work


@contextmanager
def change_in_tree(scale: int, folder: Path) -> Iterator[Work]:
    """One file of an open tree is edited and checked."""
    root, numbers = tree(scale, folder), itertools.count()
    with lspkit.Workspace(root, config=server(folder), trusted=True) as ws:
        ws.definition("folder_0/file_0.scr", 2, 1)
        ws.changed_files()

        def work() -> None:
            (root / "folder_0/file_0.scr").write_text(f"{SOURCE}{next(numbers)}\n")
            require(ws.check("folder_0/file_0.scr").verdict.clean)

        yield work


def tree(scale: int, folder: Path) -> Path:
    places = [f"folder_{number // 20}/file_{number % 20}.scr" for number in range(100 * scale)]
    return project(folder, dict.fromkeys(places, SOURCE))


@contextmanager
def batch(scale: int, folder: Path) -> Iterator[Work]:
    """A batch of a hundred jobs, at scale 1, that take no time."""
    with ThreadPoolExecutor(4) as pool:

        def work() -> None:
            require(len(list(dispatch(abs, range(100 * scale), pool))) == 100 * scale)

        yield work


def require(*facts: bool) -> None:
    """Fail if the work was not done: its time would mean nothing."""
    if not all(facts):
        raise RuntimeError("the answer is not the expected one")


#: A service takes at most 64 clients.
CLIENTS = (1, 8, 64)

COURSES = {
    "files": Course("files, 1", "edit and check all", 1, check_files),
    "open files": Course("open files, 1", "edit and check one", 0, check_one_of),
    "diagnostics": Course("findings of a file, 10", "edit and check it", 1, diagnostics),
    "known findings": Course("files with 10 findings, 1", "list them", 1, summary),
    "threads": Course("threads, 1", f"{CALLS} definitions in each", 1, threads),
    "servers": Course("servers, 1", "start, ask, stop all", 1, start_servers),
    # A change of a file is offered to every server: any of them may have read it.
    "running servers": Course("running servers, 1", "edit and check", 1, ask_one_server_of),
    "clients": Course("clients, 1", f"{CALLS} definitions of each", 1, clients, "wall", CLIENTS),
    "answer": Course("locations, 10", "references", 1, answer),
    "length": Course("lines of a file, 100", "edit and check it", 1, length),
    "tree": Course("files of a tree, 100", "open, ask, close", 1, open_tree),
    "watched tree": Course("files of a tree, 100", "edit and check one", 0, change_in_tree),
    "batch": Course("jobs, 100", "hand over and collect", 1, batch),
}


#: Rounds at most, and at least; in between the time decides, in seconds.
ROUNDS, FEWEST, LONG = 15, 3, 20.0
#: Above the allowed exponent by this much: caches of the processor and of the allocator work less
#: well for more data, and medians differ between runs.
TOLERANCE = 0.2
#: Work that takes less than this, in seconds, is repeated within one measurement.
SHORTEST = 0.02


def exponent(costs: Mapping[int, float]) -> float:
    """How the cost grows with the work from the second largest scale to the largest.

    At smaller scales a fixed share would hide a growth that is worse than linear.
    """
    (less, before), (more, after) = sorted(costs.items())[-2:]
    return math.log(after / before) / math.log(more / less)


def spend(work: Work, clock: str, repeat: int) -> float:
    """Milliseconds of one piece of work."""
    now = time.process_time if clock == "own" else time.perf_counter
    began = now()
    for _ in range(repeat):
        work()
    return (now() - began) * 1000 / repeat


def measure(course: Course, scratch: Path) -> dict[int, list[float]]:
    """Milliseconds by scale, of rounds in which the scales take turns."""
    times: dict[int, list[float]] = {scale: [] for scale in course.scales}
    with ExitStack() as stack:
        works, repeats = {}, {}
        for scale in course.scales:
            folder = scratch / str(scale)
            folder.mkdir(parents=True)
            works[scale] = stack.enter_context(course.prepare(scale, folder))
            spend(works[scale], course.clock, 1)
            took = spend(works[scale], course.clock, 1) / 1000
            repeats[scale] = max(1, math.ceil(SHORTEST / max(took, SHORTEST / 50)))
        until = time.monotonic() + LONG
        for number in range(ROUNDS):
            if number >= FEWEST and time.monotonic() > until:
                break
            for scale in course.scales if number % 2 else reversed(course.scales):
                times[scale].append(spend(works[scale], course.clock, repeats[scale]))
    return times


def measured(course: Course) -> dict[str, Any]:
    """What is kept of a course."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        times = measure(course, Path(scratch).resolve())
    costs = {scale: median(values) for scale, values in times.items()}
    found = exponent(costs)
    return {
        "grows": course.grows,
        "cost": course.cost,
        "clock": course.clock,
        "rounds": len(times[course.scales[0]]),
        "milliseconds": {str(scale): value for scale, value in costs.items()},
        "exponent": found,
        "allowed": course.allowed,
        "ok": found <= course.allowed + TOLERANCE,
    }


def main(chosen: list[str]) -> int:
    """Measure, print, and keep the numbers."""
    results = {}
    for name in chosen or COURSES:
        results[name] = measured(COURSES[name])
        print(f"{name}: exponent {results[name]['exponent']:.2f}", file=sys.stderr, flush=True)
    print(growth_table(results))
    if not chosen:
        write_section("growth", {"tolerance": TOLERANCE, "results": results})
    return 0 if all(one["ok"] for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
