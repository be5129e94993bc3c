"""A tree of 50,000 files with the watcher on: python benchmarks/large_tree.py

How long the watcher takes to start, what it keeps in memory, and how soon one change is known.
Each run has a process of its own. Other ways to watch are compared in docs/decisions.md.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))  # so that it runs by its path, too

from sections import QUICK, median, percentile, table, write_section  # noqa: E402

from lspkit.runtime.watch.watcher import Watcher  # noqa: E402

FILES = 50_000
FOLDERS = 2_000
#: Changes of which the latency is taken.
CHANGES = 50
ROUNDS = 1 if QUICK else 3
#: Seconds after which a change is said to be lost.
PATIENCE = 3.0


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


def plant_files(root: Path) -> None:
    """Make the tree."""
    for number in range(FILES):
        folder = root / f"src/{number % 40}/{number % FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text("x")


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
    seconds = []
    for number in range(CHANGES):
        path = root / f"src/{number % 40}/new_{number}.py"
        path.write_text("x")
        written = time.perf_counter()
        heard = news.when(str(path), written + PATIENCE)
        seconds.append(PATIENCE if heard is None else max(0.0, heard - written))
    paths = [root / f"src/new_{number}/a/b/c.py" for number in range(CHANGES)]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("x")
    until = time.perf_counter() + PATIENCE
    return {
        "latency_p50_ms": median(seconds) * 1000,
        "latency_p95_ms": percentile(seconds, 0.95) * 1000,
        "heard_in_new_folders": sum(news.when(str(path), until) is not None for path in paths),
    }


def measured(root: Path) -> dict[str, Any]:
    """One run, in this process."""
    news, before = News(), resident()
    started = time.perf_counter()
    watcher = Watcher(str(root), lambda events: news.tell([event.path for event in events]))
    returned = time.perf_counter() - started
    reading = watcher.reading()
    assert reading is None or reading.wait(600)
    result: dict[str, Any] = {
        "started_ms": returned * 1000,
        "ready_ms": (time.perf_counter() - started) * 1000,
        "watches": watches(),
        "memory_kb_per_1000_files": (resident() - before) / FILES,
    }
    result |= latencies(root, news)
    watcher.close()
    return result


def run(root: Path) -> dict[str, Any]:
    """One run in a process of its own; afterwards the tree is as it was before."""
    command = [sys.executable, __file__, str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    subprocess.run("rm -rf src/new_*; rm -f src/*/new_*", shell=True, cwd=root)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure, print, and keep the numbers."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "files"
        plant_files(root)
        runs = [run(root) for _ in range(ROUNDS)]
    results = {key: median([run[key] for run in runs]) for key in runs[0]}
    print(table(["50,000 files", ""], list(results.items())))
    write_section("large_tree", {"files": FILES, "rounds": ROUNDS, "results": results})


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measured(Path(sys.argv[1]))))
    else:
        main()
