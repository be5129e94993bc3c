"""Runs the benchmarks and writes `report.md` with plots: python -m benchmarks [--quick] [NAME…]

Each benchmark is a program of its own and writes its section of `report.json`; this one runs them
one after the other and turns the sections into a page. One that fails is named on the page with
the reason, and the others still run. Names choose among `BENCHMARKS`.

`--quick` makes fewer runs and installs nothing; its report goes to `build/bench`, since the one in
`benchmarks/` is that of a whole run.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

#: In the order in which they run: seconds after which one is stopped, in a whole run and in a quick
#: one; most need far less. None: only when it is named, since it takes very long or answers another
#: question.
BENCHMARKS: dict[str, tuple[float, float | None] | None] = {
    "client_cost": (900, 100),
    "real_requests": (600, 100),
    "cold_start": (240, 100),
    "edit_time": (360, 100),
    "clean_edit": (180, 100),
    "many_files": (480, 100),
    "deadlines": (180, 60),
    "sansio": (240, 100),
    "threads": (180, 100),
    "large_tree": (180, 100),
    "service": (240, 100),
    "long_session": (400, 100),
    "summary_size": (180, 100),
    "schema_tokens": (180, 100),
    "idle": (180, 100),
    "growth": (480, None),
    "opencode": (600, None),
    "overlap": None,
}
#: Seconds that a program which is stopped gets to end what it started.
GRACE = 15.0


def main(argv: Sequence[str]) -> int:
    """Run, then write the page; the status says whether all have run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="in less than five minutes")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="where the report goes")
    parser.add_argument("--page-only", action="store_true", help="only write the page again")
    options = parser.parse_args(argv)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}")
    usual = ROOT / "build" / "bench" if options.quick else ROOT / "benchmarks"
    folder = (options.into or usual).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["LSPKIT_BENCH_REPORT"] = str(folder / "report.json")
    os.environ["LSPKIT_BENCH_QUICK"] = "1" if options.quick else "0"
    # After this the module below knows where the report is.
    from benchmarks.report import finish

    names = [] if options.page_only else options.names or _usual(options.quick)
    runs = {name: run(name, options.quick) for name in names}
    finish(folder, runs)
    print(f"wrote {os.path.relpath(folder / 'report.md')}")
    return 1 if any("failed" in one for one in runs.values()) else 0


def _usual(quick: bool) -> list[str]:
    """Those that run without being named, if they are there."""
    there = [name for name in BENCHMARKS if (ROOT / "benchmarks" / f"{name}.py").exists()]
    return [
        name
        for name in there
        if (limits := BENCHMARKS[name]) is not None and (not quick or limits[1] is not None)
    ]


def run(name: str, quick: bool) -> dict[str, Any]:
    """One benchmark: how long it took, and why it failed if it did."""
    from benchmarks.report import last_error
    from benchmarks.sections import change_report

    print(f"== {name}", flush=True)
    change_report({name: None})  # figures of an older run must not stand for this one
    limit = (BENCHMARKS[name] or (3600.0, 3600.0))[1 if quick else 0]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        status = _finished(name, errors, limit or 600.0)
        errors.seek(0)
        said = errors.read()
    kept: dict[str, Any] = {"seconds": round(time.monotonic() - began, 1)}
    if status is None:
        kept["failed"] = f"stopped after {limit:g} s"
    elif status != 0 and name in change_report({}):
        kept["status"] = status  # it has figures, and one of its own limits is not kept
    elif status != 0:
        kept["failed"] = last_error(said) or f"status {status}"
    if "failed" in kept:
        print(said[-2000:], file=sys.stderr)
        print(f"failed: {kept['failed']}", flush=True)
    return kept


def _finished(name: str, errors: Any, limit: float) -> int | None:
    """Its status; None if it was stopped."""
    program = str(ROOT / "benchmarks" / f"{name}.py")
    process = subprocess.Popen(
        [sys.executable, program], cwd=ROOT, stderr=errors, start_new_session=True
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # so that it ends its servers itself
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
