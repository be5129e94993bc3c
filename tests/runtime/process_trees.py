"""Servers with difficult families, and the questions that the tests ask about processes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

from lspkit.runtime.process.child import Child, readable

#: How this interpreter runs a script fast.
PYTHON = [sys.executable, "-I", "-S", "-c"]
#: Seconds that anything may take on a busy machine.
PATIENCE = 20.0

# The one that gets away: own session, no parent, empty environment, deaf to SIGTERM. It holds
# the server's standard output open.
ESCAPEE = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"escapee %d\\n" % os.getpid())
while True:
    signal.pause()
"""

START_ESCAPEE = f"""
import os, signal, sys
def escape(environment):
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", {ESCAPEE!r}], environment)
"""

#: Ignores SIGTERM and the end of its input, and has an escapee.
STUBBORN = f"""
{START_ESCAPEE}
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"server %d\\n" % os.getpid())
escape({{}})
while os.read(0, 100):
    pass
while True:
    signal.pause()
"""

#: The same, but the escapee keeps its environment.
MARKED = STUBBORN.replace("escape({})", "escape(dict(os.environ))")

#: Has an escapee, and ends with status 7 when it is told to, saying when.
CRASHING = f"""
{START_ESCAPEE}
import time
os.write(1, b"server %d\\n" % os.getpid())
escape({{}})
os.read(0, 1)
os.write(1, b"end %f\\n" % time.monotonic())
os._exit(7)
"""

#: Answers with what it was sent, until its input ends.
ECHO = """
import os
while data := os.read(0, 65536):
    os.write(1, data)
"""


def python(script: str, *arguments: str) -> list[str]:
    """The argv of a server that is a Python script."""
    return [*PYTHON, script, *arguments]


def read_lines(descriptor: int, count: int) -> list[str]:
    """That many lines from a pipe."""
    data = b""
    deadline = time.monotonic() + PATIENCE
    while data.count(b"\n") < count:
        assert readable(descriptor, deadline - time.monotonic()), f"only {data!r} came"
        chunk = os.read(descriptor, 65536)
        assert chunk, f"only {data!r} came before the end"
        data += chunk
    return data.decode().splitlines()


def family(child: Child) -> dict[str, int]:
    """What a server of this module says about itself: the process ids of `server` and `escapee`."""
    return numbers(read_lines(child.stdout, 2))


def numbers(lines: list[str]) -> dict[str, int]:
    """`name 12` as an entry of a dict."""
    return {line.split()[0]: int(line.split()[1]) for line in lines}


def ends(pid: int, timeout: float = PATIENCE) -> bool:
    """Whether the process ends in time; a zombie has ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return readable(watched, timeout)
    finally:
        os.close(watched)


def running(pid: int) -> bool:
    """Whether the process lives now."""
    return not ends(pid, timeout=0)


def parent(pid: int) -> int:
    """The process id of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def open_descriptors() -> set[str]:
    """What this process has open, by number."""
    return set(os.listdir("/proc/self/fd"))


class Host:
    """A program of its own that has a guardian, so that it can be killed or interrupted."""

    def __init__(self, script: str) -> None:
        root = str(Path(__file__).parents[2])
        prelude = (
            f"import os, signal, sys\nsys.path.insert(0, {root!r})\n"
            "from lspkit.runtime.process.guardian import Guardian\n"
            "from tests.runtime import process_trees as trees\n"
            "guardian = Guardian()\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )

    def lines(self, count: int) -> list[str]:
        """The next lines that it prints."""
        assert self.process.stdout is not None
        return read_lines(self.process.stdout.fileno(), count)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


def hung_up(descriptor: int) -> bool:
    """Whether a pipe's other end has no holder left."""
    watch = select.poll()
    watch.register(descriptor, 0)
    return bool(watch.poll(PATIENCE * 1000))


def switches(pid: int) -> list[str]:
    """How often the process has been on a processor: changes whenever it does anything."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return [line for line in status if "ctxt_switches" in line]


def now() -> float:
    """The clock that servers of this module tell their times by."""
    return time.monotonic()
