"""Many clients and kills: python benchmarks/service_election.py [CLIENTS] [ROUNDS]

First so many processes connect and ask at the same moment: one service should answer all of them.
Then they do it again after the service was killed, and while it is killed. At last a service and a
client that writes are killed in every order for so many rounds: nothing may be left, and nothing
lost that was written.
"""

from __future__ import annotations

import collections
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it runs by its path, too

from lspkit.testing import adopt_orphans  # noqa: E402
from tests.runtime.process_trees import ends  # noqa: E402
from tests.service.kill_rounds import ORDERS, kill_round  # noqa: E402
from tests.service.site import Site, descendants, nothing_runs  # noqa: E402

CLIENTS = 200
ROUNDS = 50
READY_TIMEOUT = 120


def election(site: Site, name: str, count: int, kill_after: int = 0) -> None:
    """All clients connect, ask once and leave; the service is killed after so many answers."""
    words = [sys.executable, "-m", "tests.service.clients_program", str(site.project), str(count)]
    options = ["--restart", "--ready-timeout", str(READY_TIMEOUT)]
    with subprocess.Popen(
        [*words, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=site.environ
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        began = time.monotonic()
        process.stdin.write(b"\n")
        process.stdin.flush()
        told = []
        while len(told) < count and (line := process.stdout.readline()):
            told.append(json.loads(line))
            if len(told) == kill_after:
                kill_service(site)
        report(name, told, time.monotonic() - began)
    kill_service(site)
    print(f"  nothing left: {nothing_runs()}; language servers so far: {len(site.log.pids())}")


def kill_service(site: Site) -> None:
    """Kill the service, and wait for its end."""
    if pid := site.service_pid():
        os.kill(pid, signal.SIGKILL)
        ends(pid)


def report(name: str, told: list[dict[str, Any]], seconds: float) -> None:
    """Print the result of one round."""
    services = {one["service"] for one in told if "service" in one}
    answers = collections.Counter(one.get("answer") or one["error"] for one in told)
    print(f"{name}: services {len(services)}, answers {dict(answers)}, {seconds:.1f} s", flush=True)
    for text in {one["message"][:300] for one in told if "message" in one}:
        print(f"  {text}")


def main() -> None:
    """Run both parts."""
    given = [int(word) for word in sys.argv[1:]]
    count, rounds = given + [CLIENTS, ROUNDS][len(given) :]
    adopt_orphans()
    if count:
        with Site() as site:
            election(site, "at the same moment", count)
            election(site, "after the service was killed", count)
            election(site, "while the service is killed", count, count // 10)
    began = time.monotonic()
    with Site() as site:
        for order in itertools.islice(itertools.cycle(ORDERS), rounds):
            kill_round(site, order)
    print(f"{rounds} rounds of kills, {time.monotonic() - began:.0f} s, left: {descendants()}")


if __name__ == "__main__":
    main()
