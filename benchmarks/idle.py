"""What a workspace costs while nobody asks: python benchmarks/idle.py [SECONDS]

Three servers run, their root is watched, and nothing happens for some seconds. Counted are the
processor seconds of this process, which holds all of lspkit's threads, of the processes that guard
the servers, and, for comparison, of the servers themselves.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

import lspkit  # noqa: E402
from benchmarks.overlap_projects import COURSES  # noqa: E402
from benchmarks.sections import QUICK, table, write_section  # noqa: E402
from lspkit.servers.built_in import BUILT_IN  # noqa: E402
from tests import real_servers  # noqa: E402
from tests.real.running import TIMING, environment  # noqa: E402

SERVERS = ("ty", "typescript", "clangd")
SECONDS = 5.0 if QUICK else 10.0
#: Before that: servers go on with their own work for a while after the first verdict.
SETTLING = 5.0


def spent() -> dict[str, float]:
    """Processor seconds so far, by who spent them."""
    own = psutil.Process()
    found = {"lspkit": _seconds(own), "its guardian": 0.0, "the servers": 0.0}
    for child in own.children(recursive=True):
        try:
            words = " ".join(child.cmdline())
            who = "its guardian" if "guardian" in words else "the servers"
            found[who] += _seconds(child)
        except psutil.NoSuchProcess:
            continue
    return found


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main() -> None:
    """Measure, print, and keep the numbers."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "project"
        said = {}
        for server in SERVERS:
            COURSES[server].write(folder, real_servers.NODE_MODULES)
            variables = environment(folder, server)
            command = real_servers.command(server)
            said[server] = {"command": command, "env": variables, "disabled": False}
        others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in SERVERS}
        config = {"lsp": {**others, **said}, "timing": TIMING}
        with lspkit.Workspace(folder, config=config, trusted=True) as ws:
            for server in SERVERS:
                template = COURSES[server].alone
                ws.write(template.name, template.make(1, broken=False).content)
            time.sleep(SETTLING)
            before, began = spent(), time.monotonic()
            time.sleep(seconds)
            after, took = spent(), time.monotonic() - began
    used = {who: after[who] - before[who] for who in before}
    rows = [[who, value, 100 * value / took] for who, value in used.items()]
    print(table([f"idle for {took:.0f} s", "processor seconds", "% of one core"], rows))
    write_section("idle", {"seconds": took, "processor_seconds": used, "servers": list(SERVERS)})


if __name__ == "__main__":
    main()
