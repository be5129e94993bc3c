"""Many threads on one server against one thread: python benchmarks/threads.py

The canned server answers definitions. Blocks of one thread and of 32 threads make the same number
of calls in all, by turns; what counts is calls a second.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.canned import write_folder  # noqa: E402
from benchmarks.sections import CHECKOUT, QUICK, spread, table, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402

THREADS = 32
#: Calls of a block in all, and blocks of each kind.
CALLS, ROUNDS = 960, 4 if QUICK else 15


def block(ws: lspkit.Workspace, threads: int) -> float:
    """Calls a second."""
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(CALLS // threads):
                ws.definition("main.py", 3, 5)
        except BaseException as error:  # noqa: BLE001 (raised below, in the main thread)
            failed.append(error)

    workers = [threading.Thread(target=ask) for _ in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise failed[0]
    return CALLS / (time.perf_counter() - began)


def main() -> None:
    """Measure, print, and keep the numbers."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "project"
        write_folder(folder)
        command = [sys.executable, str(CHECKOUT / "benchmarks" / "canned.py"), str(folder)]
        servers: dict[str, object] = {one.id: {"disabled": True} for one in BUILT_IN}
        servers["canned"] = {
            "command": command,
            "extensions": [".py"],
            "proof": "pull",
            "disabled": False,
        }
        rates: dict[int, list[float]] = {1: [], THREADS: []}
        with lspkit.Workspace(folder, config={"lsp": servers}, trusted=True) as ws:
            block(ws, 1)  # Warm; thrown away.
            for number in range(ROUNDS):
                for threads in (1, THREADS) if number % 2 else (THREADS, 1):
                    rates[threads].append(block(ws, threads))
    results = {str(threads): spread(values) for threads, values in rates.items()}
    rows = [[threads, one["p50"], one["q1"], one["q3"]] for threads, one in results.items()]
    print(table(["threads", "calls a second p50", "q1", "q3"], rows))
    ratio = results[str(THREADS)]["p50"] / results["1"]["p50"]
    write_section("threads", {"calls": CALLS, "results": results, "ratio": ratio})


if __name__ == "__main__":
    main()
