"""Rounds in which a service and its clients are killed, in every order.

The client writes a file again and again. After each round nothing of it may be left, and the file
must hold what the last `write` that returned has written, or a later one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

from tests.runtime.process_trees import PATIENCE, ends, read_lines
from tests.scripted import comes_true
from tests.service.site import Site, descendants, is_service, started

#: Who is killed, one after the other; the service that is not killed ends by its idle time.
ORDERS = (("client", "service"), ("service", "client"), ("client",), ("service", "service"))


def written(site: Site, name: str) -> int:
    """The number in the file."""
    found = re.fullmatch(r"def n(\d+)\n", (site.project / name).read_text(encoding="utf-8"))
    assert found is not None, "the file is torn"
    return int(found[1])


def kill_round(site: Site, order: tuple[str, ...]) -> None:
    """One round: start, kill, and look at what is left."""
    with started(site, "--idle", "1") as service:
        words = [sys.executable, "-m", "tests.service.writer_program", str(site.project), "w.scr"]
        with subprocess.Popen(words, env=site.environ, stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            lines = read_lines(client.stdout.fileno(), 3)
            for who in order:
                pid = client.pid if who == "client" else site.service_pid()
                if pid:
                    os.kill(pid, signal.SIGKILL)
                    assert ends(pid)
            client.kill()
            client.wait(PATIENCE)
            lines += client.stdout.read().decode().splitlines()
        last = max(int(line.split()[1]) for line in lines if line.startswith("written"))
        assert written(site, "w.scr") >= last
        service.wait(PATIENCE)
    assert comes_true(_nothing_is_left), descendants()


def _nothing_is_left() -> bool:
    """Whether nothing runs. A service that a client has started has an idle time of 15 minutes."""
    left = descendants()
    for process in filter(is_service, left):
        process.terminate()
    return not left
