"""How programs tell a test what they do, and how the test hears of their states."""

from __future__ import annotations

import logging
import os
import queue
import time
from pathlib import Path

from lspkit.runtime.process.backoff import Restart
from lspkit.runtime.process.child import readable
from tests.runtime import process_trees as trees
from tests.runtime.process_trees import PATIENCE

#: Ends as soon as it is told to.
GENTLE = "import os, signal\nsay('pid %d' % os.getpid())\nsignal.pause()"
#: Hears no SIGTERM, and has a descendant that got away.
DEAF = "os.dup2(ear, 1)\n" + trees.STUBBORN
#: How a program says a line to the test.
SAY = """
import os
ear = os.open(os.environ["EAR"], os.O_WRONLY)
def say(line):
    os.write(ear, line.encode() + b"\\n")
"""

SOON, LATER, NEVER = (
    Restart(base=0.01, most=0.01),
    Restart(base=3600, most=3600),
    Restart(never=True),
)


class Ear:
    """A pipe with a name, by which programs tell the test what they do."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.env = {"EAR": str(path)}
        # For writing, too: so it has no end while one program comes after the other.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._heard = b""

    def line(self) -> str:
        """The next line that a program says."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._heard:
            assert readable(self._descriptor, deadline - time.monotonic()), "nothing was said"
            self._heard += os.read(self._descriptor, 65536)
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def number(self) -> int:
        """The process id in a line such as `pid 12`."""
        return int(self.line().split()[1])

    def close(self) -> None:
        os.close(self._descriptor)


class States(logging.Handler):
    """The states that sidecars enter, as they are logged."""

    def __init__(self) -> None:
        super().__init__()
        self._entered: queue.Queue[str] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("sidecar") and isinstance(record.args, tuple):
            self._entered.put(str(record.args[2]))

    def wait_for(self, state: str) -> None:
        while self._entered.get(timeout=PATIENCE) != state:
            pass


def middle() -> float:
    """Dice that change nothing."""
    return 0.0
