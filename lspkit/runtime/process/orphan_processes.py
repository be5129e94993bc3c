"""Processes of a server that have outlived its keeper and its guardian.

Only needed if both were killed, and perhaps the server: then processes outside the server's group
have no owner. They are recognised by the server's temporary folder in their environment, or by an
end of the server's pipes that they hold. A process with neither cannot be found. A forked copy of
the host holds the host's ends, and is left alone.
"""

from __future__ import annotations

import os
import signal
import time

from lspkit.runtime.process.child import readable

#: How many searches there are, since a found process may just have started another one.
ROUNDS = 10


class Signs:
    """How to recognise the processes of one server. Linux only."""

    def __init__(self, scratch: str, ours: list[int], theirs: list[int]) -> None:
        """`ours` and `theirs` are the two ends of the server's pipes, as this process has them."""
        self._variable = b"TMPDIR=" + os.fsencode(scratch) if scratch else b""
        nothing = {("", 0)}
        self._ours = {_end("self", str(number)) for number in ours} - nothing
        self._theirs = {_end("self", str(number)) for number in theirs} - nothing

    def fit(self, pid: int) -> bool:
        """Whether a process is one of the server's."""
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if self._variable and self._variable in environment.read().split(b"\0"):
                    return True
            ends = {_end(str(pid), number) for number in os.listdir(f"/proc/{pid}/fd")}
        except OSError:
            return False  # it has ended, or is of another user
        return bool(ends & self._theirs) and not ends & self._ours


def end_survivors(signs: Signs, deadline: float) -> tuple[list[int], bool]:
    """Kill the server's processes; returns their ids, and whether none is left."""
    ended: list[int] = []
    for _ in range(ROUNDS):
        found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        found = [pid for pid in found if pid != os.getpid() and signs.fit(pid)]
        if not found:
            return ended, True
        for pid in found:
            if _end_one(pid, signs, deadline) and pid not in ended:
                ended.append(pid)
        if time.monotonic() >= deadline:
            break
    return ended, False


def _end_one(pid: int, signs: Signs, deadline: float) -> bool:
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not signs.fit(pid):  # the number may have been reused meanwhile
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
        return readable(process, deadline - time.monotonic())
    except OSError:
        return False
    finally:
        os.close(process)


def _end(pid: str, number: str) -> tuple[str, int]:
    """The pipe of a descriptor, and its access mode."""
    try:
        name = os.readlink(f"/proc/{pid}/fd/{number}")
        if not name.startswith("pipe:"):
            return "", 0
        with open(f"/proc/{pid}/fdinfo/{number}", "rb") as facts:
            flags = next(line for line in facts if line.startswith(b"flags:"))
        return name, int(flags.split()[1], 8) & os.O_ACCMODE
    except (OSError, StopIteration):
        return "", 0
