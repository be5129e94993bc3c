"""Whether a timeout is kept with very many files on a busy machine: python benchmarks/deadlines.py

`check_all(timeout=5)` and `lspkit check --timeout 5`, both from a cold start, on a project that
takes far longer, while other programs use the processor: three for each core. What counts is the
slowest run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.many_files import runner  # noqa: E402
from benchmarks.sections import QUICK, table, write_section  # noqa: E402

SERVER = "pyright"
FILES = 300 if QUICK else 2000
ROUNDS = 1 if QUICK else 3
#: Seconds that are given, and seconds that a run may take beyond them.
TIMEOUT, OVER = 5.0, 0.5
#: Programs that do nothing but compute.
LOOPS = 3 * (os.cpu_count() or 1)
#: A file; its function is used by the next one.
SOURCE = """from module_{before} import function_{before}


def function_{number}(x: int) -> int:
    return function_{before}(x) + {number}


wrong: str = function_{number}({number})
"""


def write_project(folder: Path) -> list[Path]:
    """Its files, each with an error."""
    paths = [folder / f"module_{number}.py" for number in range(FILES)]
    for number, path in enumerate(paths):
        path.write_text(SOURCE.format(number=number, before=max(0, number - 1)))
    return paths


@contextmanager
def busy() -> Iterator[None]:
    """Other programs use the processor meanwhile."""
    argv = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(argv) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
        for one in loops:
            one.wait()


class Measured:
    """One project, checked in several ways."""

    def __init__(self, scratch: Path) -> None:
        self._folder, self._scratch = scratch / "project", scratch
        self._folder.mkdir()
        self._paths = write_project(self._folder)
        self._config = runner(SERVER, self._folder).config()
        self.ways = {
            "check_all": self.check_all,
            "lspkit check": self.command,
            "lspkit check --no-service": lambda: self.command("--no-service"),
        }

    def check_all(self) -> float:
        """Seconds in this process."""
        with lspkit.Workspace(self._folder, config=self._config, trusted=True) as ws:
            began = time.perf_counter()
            reports = ws.check_all(self._paths, timeout=TIMEOUT)
            took = time.perf_counter() - began
        if len(reports) != FILES:
            raise RuntimeError(f"{len(reports)} reports for {FILES} files")
        return took

    def command(self, *words: str) -> float:
        """Seconds of the command, from the start of its process to the end."""
        config = self._scratch / "config.json"
        config.write_text(json.dumps(self._config))
        own = {"LSPKIT_CONFIG": str(config), "LSPKIT_TRUST": "always", "PYTHONPATH": str(ROOT)}
        environ = {**os.environ, **own, "XDG_RUNTIME_DIR": str(self._scratch)}
        environ.pop("LSPKIT_NO_SERVICE", None)
        argv = [sys.executable, "-m", "lspkit"]
        began = time.perf_counter()
        done = subprocess.run(
            [*argv, "check", "--timeout", f"{TIMEOUT:g}", *words, "."],
            cwd=self._folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - began
        if "--no-service" not in words:
            subprocess.run(
                [*argv, "stop"], cwd=self._folder, env=environ, capture_output=True, check=False
            )
        if "Traceback" in done.stderr or done.returncode not in (1, 3):
            raise RuntimeError(f"status {done.returncode}: {done.stderr[-500:]}")
        return took


def main() -> None:
    """Measure, print, and keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="lk", ignore_cleanup_errors=True) as scratch, busy():
        one = Measured(Path(scratch).resolve())
        seconds: dict[str, list[float]] = {way: [] for way in one.ways}
        for _ in range(ROUNDS):
            for way, job in one.ways.items():
                seconds[way].append(job())
    results = {
        way: {"seconds": values, "most": max(values), "over": max(values) - TIMEOUT}
        for way, values in seconds.items()
    }
    rows = [[way, *kept["seconds"], kept["over"]] for way, kept in results.items()]
    runs = [f"run {number + 1}" for number in range(ROUNDS)]
    print(table(["way", *runs, "seconds over"], rows))
    shown = {"server": SERVER, "files": FILES, "loops": LOOPS, "timeout": TIMEOUT, "bar": OVER}
    write_section("deadlines", {**shown, "results": results})


if __name__ == "__main__":
    main()
