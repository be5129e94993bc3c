"""Runs a command and sees to it that nothing of it is left running.

The first argument is the program. On Linux this process adopts all that descends from it, also
what moved into a session of its own; whatever is still there once the command has ended is named,
killed, and makes the run fail. Elsewhere the command is only run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36

#: How long a process that is already on its way out may take.
GRACE_SECONDS = 3.0


def adopt_orphans() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    answer: int = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return answer == 0


def reap() -> None:
    """Collects children that have ended, so that they do not count as left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def descendants() -> dict[int, str]:
    """All living processes below this one, with their command lines."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name in brackets may hold anything, so read from the last bracket on.
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state not in "ZX":
            parents[int(folder.name)] = int(parent)
    below = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= grown
    return {pid: command_line(pid) for pid in below - {os.getpid()}}


def command_line(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "(gone)"
    return b" ".join(words).decode(errors="replace").strip() or "(no command line)"


def left_after_grace() -> dict[int, str]:
    end = time.monotonic() + GRACE_SECONDS
    while True:
        reap()
        left = descendants()
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)


def main(argv: list[str]) -> int:
    adopted = adopt_orphans()
    # An interrupt is for the command, which ends by it; then there is still the rest to clear.
    # Not SIG_IGN, which the command would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    process = subprocess.Popen(argv)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    status = process.wait()
    left = left_after_grace() if adopted else {}
    for pid, line in left.items():
        print(f"left running: {pid} {line[:200]}", file=sys.stderr)
    while adopted and (rest := descendants()):
        for pid in rest:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        reap()
    if status < 0:
        status = 128 - status
    return status or (1 if left else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
