"""Warm requests on real servers: python benchmarks/real_requests.py [SERVER…]

lspkit, the raw loop and the peers ask copies of the same server about the same project, in turns
(`contestants.py`). The file is open and the project is loaded; what is compared is a request.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]  # so that it runs by its path, too

from canned import write_folder  # noqa: E402
from contestants import OPERATIONS, Contestant, interleave, start, summary  # noqa: E402
from sections import QUICK, table, write_section  # noqa: E402

from lspkit.testing.leaks import kill_leaked_processes, take_snapshot  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import environment  # noqa: E402

SERVERS = ("ty",) if QUICK else ("ty", "pyright")
#: Blocks per contestant and operation, calls in a block, and seconds after which no more begins.
ROUNDS, CALLS, LIMIT = (3, 20, 10.0) if QUICK else (15, 40, 60.0)
#: Files that use the function which is asked about.
USERS = 20


def write_project(folder: Path) -> None:
    """The folder of the canned server, with files that use the first function of `main.py`."""
    write_folder(folder)
    for number in range(USERS):
        text = f"from main import function_0\n\nfunction_0({number})\n"
        (folder / f"user_{number}.py").write_text(text, encoding="utf-8")


def measured(server: str, folder: Path) -> dict[str, Any]:
    """What is kept of one server."""
    write_project(folder)
    command = real_servers.command(server)
    environ = {**environment(folder, server), "LSPKIT_BENCH_SERVER": server}
    before = take_snapshot()
    running, missing = start(lambda name: Contestant(name, folder, command, environ))
    try:
        times, rounds = interleave(running, missing, ROUNDS, CALLS, LIMIT)
    finally:
        for contestant in running.values():
            contestant.close()
        kill_leaked_processes(before)  # some peers leave their server behind
    return {
        "results": summary(times),
        "rounds": rounds,
        "answers": {name: one.facts["results"] for name, one in running.items()},
        "missing": missing,
    }


def main() -> None:
    kept: dict[str, Any] = {}
    for server in sys.argv[1:] or SERVERS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            kept[server] = measured(server, Path(scratch).resolve() / "project")
        results = kept[server]["results"]
        rows = [
            [operation, name, one["p50_ms"], one["p95_ms"], one["times_floor"]]
            for operation in OPERATIONS
            for name in results
            for one in [results[name][operation]]
        ]
        print(table([server, "client", "p50 ms", "p95 ms", "x floor"], rows), flush=True)
        for name, reason in kept[server]["missing"].items():
            print(f"not measured: {name}: {reason}")
    if not sys.argv[1:]:
        write_section("real_requests", {"calls_per_block": CALLS, "servers": kept})


if __name__ == "__main__":
    main()
