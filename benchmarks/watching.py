"""What it costs to watch files, and how soon a change is known: inotify against watchfiles.

    python benchmarks/watching.py

Three candidates take turns, each in a process of its own: lspkit on inotify, lspkit on watchfiles
(the pruned folders one by one), and watchfiles by itself as it is mostly used (one tree, filtered
afterwards). Two trees: one with a large `node_modules`, one with many files. The numbers are the
ground of the decision in docs/decisions.md.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import watchfiles
from sections import median, percentile, table, write_section
from watchfiles._rust_notify import RustNotify

from lspkit.runtime.watch.inotify import InotifyNotifier
from lspkit.runtime.watch.watcher import Watcher
from lspkit.runtime.watch.watchfiles_backend import WatchfilesNotifier

#: Folders of the first tree: the project's own, and those that nobody looks at.
OWN, FOREIGN = 2_000, 18_000
#: Files of the second tree, which are in as many folders as the project's own.
FILES = 50_000
#: Changes of which the latency is taken.
CHANGES = 50
#: Interleaved runs of which the median is taken.
ROUNDS = 3
#: Seconds without any change, for the idle cost.
IDLE = 10.0
#: Seconds after which a change is said to be lost.
PATIENCE = 3.0


def plant(root: Path) -> dict[str, Path]:
    """Make both trees."""
    trees = {"folders": root / "folders", "files": root / "files"}
    for number in range(OWN):
        folder = trees["folders"] / f"src/{number % 40}/{number}"
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x")
    for number in range(FOREIGN):
        folder = trees["folders"] / f"node_modules/{number % 300}/{number}"
        folder.mkdir(parents=True)
        (folder / "a.js").write_text("x")
    plant_files(trees["files"])
    return trees


def plant_files(root: Path) -> None:
    """Make the tree with many files."""
    for number in range(FILES):
        folder = root / f"src/{number % 40}/{number % OWN}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text("x")


class News:
    """What was heard, to wait for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.heard: dict[str, float] = {}

    def tell(self, paths: list[str]) -> None:
        now = time.perf_counter()
        with self._changed:
            for path in paths:
                self.heard.setdefault(path, now)
            self._changed.notify_all()

    def when(self, path: str, until: float) -> float | None:
        with self._changed:
            self._changed.wait_for(lambda: path in self.heard, until - time.perf_counter())
            return self.heard.get(path)


class Ours:
    """lspkit's watcher."""

    def __init__(self, root: Path, news: News, make: Callable[[], Any]) -> None:
        started = time.perf_counter()
        self.watcher = Watcher(
            str(root), lambda events: news.tell([one.path for one in events]), notifier=make
        )
        self.returned = time.perf_counter() - started
        reading = self.watcher.reading()
        assert reading is None or reading.wait(600)
        # watchfiles places its watches after the reading, in the thread.
        wait_for(lambda: watches() > 0)
        self.ready = time.perf_counter() - started

    def close(self) -> None:
        self.watcher.close()


class Plain:
    """watchfiles by itself, with its default filter."""

    def __init__(self, root: Path, news: News) -> None:
        started = time.perf_counter()
        RustNotify([str(root)], False, False, 300, True, False).close()
        self.returned = self.ready = time.perf_counter() - started
        wait_for(lambda: watches() == 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(root, news))
        self._thread.start()
        wait_for(lambda: watches() > 0)
        # It is ready when the count no longer grows.
        seen = 0
        while (now := watches()) != seen:
            seen = now
            time.sleep(0.2)

    def _run(self, root: Path, news: News) -> None:
        for found in watchfiles.watch(root, stop_event=self._stop):
            news.tell([path for _, path in found])

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


def wait_for(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.001)


def watches() -> int:
    """How many watches this process has, by the kernel's own count."""
    count = 0
    for name in os.listdir("/proc/self/fdinfo"):
        try:
            count += Path(f"/proc/self/fdinfo/{name}").read_text().count("inotify wd:")
        except OSError:
            continue
    return count


def resident() -> int:
    """Bytes of memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def latencies(root: Path, news: News) -> dict[str, Any]:
    """Milliseconds from a write to the news of it."""
    found = []
    for number in range(CHANGES):
        path = root / f"src/{number % 40}/new_{number}.py"
        path.write_text("x")
        written = time.perf_counter()
        when = news.when(str(path), written + PATIENCE)
        found.append(PATIENCE if when is None else max(0.0, when - written))
    paths = [root / f"src/new_{number}/a/b/c.py" for number in range(CHANGES)]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("x")
    until = time.perf_counter() + PATIENCE
    in_new_folders = sum(news.when(str(path), until) is not None for path in paths)
    return {
        "latency_p50_ms": median(found) * 1000,
        "latency_p95_ms": percentile(found, 0.95) * 1000,
        "heard_in_new_folders": in_new_folders,
    }


def catching_up(root: Path, ours: Ours) -> dict[str, Any]:
    """Milliseconds of a call that has something to tell, microseconds of one that has nothing."""
    busy, idle = [], []
    for number in range(CHANGES):
        (root / f"src/{number % 40}/asked_{number}.py").write_text("x")
        started = time.perf_counter()
        ours.watcher.catch_up()
        busy.append(time.perf_counter() - started)
    for _ in range(2000):
        started = time.perf_counter()
        ours.watcher.catch_up()
        idle.append(time.perf_counter() - started)
    return {"catch_up_ms": median(busy) * 1000, "catch_up_idle_us": median(idle) * 1_000_000}


def measured(candidate: str, tree: str, root: Path) -> dict[str, Any]:
    """One run of one candidate, in this process."""
    news, before = News(), resident()
    make = {"inotify": InotifyNotifier, "pruned watchfiles": WatchfilesNotifier}.get(candidate)
    watcher = Plain(root, news) if make is None else Ours(root, news, make)
    result: dict[str, Any] = {
        "started_ms": watcher.returned * 1000,
        "ready_ms": watcher.ready * 1000,
        "watches": watches(),
    }
    if tree == "files":
        result["memory_kb_per_1000_files"] = (resident() - before) / FILES
        result |= latencies(root, news)
    else:
        time.sleep(1)  # what is made after the first reading is not idle cost
        usage = resource.getrusage(resource.RUSAGE_SELF)
        time.sleep(IDLE)
        later = resource.getrusage(resource.RUSAGE_SELF)
        used = later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime
        result["idle_cpu_ms"] = used * 1000
        result["idle_wakeups"] = later.ru_nvcsw - usage.ru_nvcsw
        result |= latencies(root, news)
        if isinstance(watcher, Ours):
            result |= catching_up(root, watcher)
    watcher.close()
    return result


def child(candidate: str, tree: str, root: Path) -> dict[str, Any]:
    """The same in a process of its own, and the tree as it was before."""
    command = [sys.executable, __file__, candidate, tree, str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    subprocess.run("rm -rf src/new_*; rm -f src/*/new_* src/*/asked_*", shell=True, cwd=root)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


CANDIDATES = ("inotify", "pruned watchfiles", "watchfiles")


def main() -> None:
    results: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        trees = plant(Path(scratch).resolve())
        runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for _ in range(ROUNDS):
            for tree, root in trees.items():
                for candidate in CANDIDATES:
                    runs.setdefault((tree, candidate), []).append(child(candidate, tree, root))
    for (tree, candidate), found in runs.items():
        results.setdefault(tree, {})[candidate] = {
            key: statistics.median(run[key] for run in found) for key in found[0]
        }
    for tree, of_tree in results.items():
        keys = list(of_tree["inotify"])
        rows = [[key, *(of_tree[name].get(key) for name in CANDIDATES)] for key in keys]
        print(table([tree, *CANDIDATES], rows), end="\n\n")
    write_section("watching", {"trees": results, "files": FILES, "own": OWN, "foreign": FOREIGN})


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measured(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
    else:
        main()
