"""A server that was started by the guardian.

The host makes the server's pipes, a control socket, and a memory file that says what to run, and
passes the far ends to the guardian. From then on it talks only to the server's keeper, over the
control socket; the messages are listed in guardian_main.py. Those after the first are only peeked
at. They stay unread, so `exit_fd` stays readable, and no thread can miss the end.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence

from lspkit.runtime.process.child import Child, LaunchError, close_all, readable

#: Seconds in which a server has to get a process id.
LAUNCH_TIMEOUT = 10.0
#: Says that the guardian has ended.
KILLED = "the process that starts servers was killed"
#: What to do about a failed exec, by error number.
ADVICE = {
    errno.ENOENT: "Install it, or correct the command; a script may also name an interpreter "
    "in its first line that does not exist.",
    errno.EACCES: "It is not executable, or lies in a folder that may not be entered.",
    errno.ENOEXEC: "It is not a program for this system: it may be built for another one, or be a "
    "script without an interpreter in its first line.",
    errno.E2BIG: "Its arguments and environment are larger than the system allows.",
}


class GuardedChild(Child):
    """A server with a keeper."""

    def __init__(self, send: Callable[[list[int]], None]) -> None:
        """`send` passes descriptors to the guardian."""
        super().__init__()
        self._send = send
        self._control: socket.socket | None = None
        self._far_control: socket.socket | None = None

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Have the server started in a session of its own, with this environment."""
        self._make_pipes()
        self._control, self._far_control = socket.socketpair()
        self.exit_fd = self._control.fileno()
        streams, what = self._passed[:], os.memfd_create("lspkit-request")
        self._passed.append(what)
        with os.fdopen(what, "wb", closefd=False) as file:
            settings = (f"{name}={value}" for name, value in env.items())
            fields = (cwd, str(len(argv)), *argv, *settings)
            file.write(b"\0".join(map(os.fsencode, fields)))
        self._send([self._far_control.fileno(), what, *streams])
        self._close_far_ends()
        self._control.settimeout(LAUNCH_TIMEOUT)
        line = self._control.recv(64, socket.MSG_PEEK).partition(b"\n")[0]
        # Removed, so that the next message is the server's end.
        self._control.recv(len(line) + 1)
        self._control.setblocking(False)
        if not line:
            raise ChildProcessError(errno.ECHILD, KILLED)
        word, number, *step = line.decode("ascii").split()
        if word == "error":
            raise refusal(int(number), step[0], argv[0], cwd)
        self.pid = int(number)

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        self._order(lambda control: control.send(b"T", socket.MSG_DONTWAIT))

    def kill(self) -> None:
        """Send SIGKILL to all descendants of the server and itself. Does not wait."""
        # The keeper sees it whoever else has a copy of the socket.
        self._order(lambda control: control.shutdown(socket.SHUT_WR))

    def _order(self, order: Callable[[socket.socket], object]) -> None:
        with self._lock:
            if self._control is not None and self.exit_fd >= 0:
                try:
                    order(self._control)
                except OSError:
                    pass  # the keeper has ended, and so has its tree

    def _said(self) -> list[bytes] | None:
        """The keeper's messages since the start, None if it has ended without any."""
        if self._control is None:
            return None
        try:
            said = self._control.recv(256, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return said.split(b"\n") if said else None

    def _read_status(self) -> int | None:
        said = self._said()
        if said is None:
            # The keeper was killed before it could report; the guardian kills its tree.
            return -signal.SIGKILL
        for line in said:
            if line.startswith(b"status "):
                return int(line.removeprefix(b"status "))
        return None

    def _end(self, deadline: float) -> bool:
        self._close_far_ends()
        if self._control is None:
            return True
        self.kill()
        readable(self._control.fileno(), deadline - time.monotonic(), events=0)
        if b"gone" in (self._said() or ()) or not self.pid:
            return True
        # The keeper was killed or is stuck, and perhaps the guardian as well.
        try:
            if os.getsid(self.pid) == self.pid:
                os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return False

    def _close_far_ends(self) -> None:
        close_all(self._passed)
        if self._far_control is not None:
            self._far_control.close()

    def _close_descriptors(self) -> None:
        super()._close_descriptors()
        self._close_far_ends()
        if self._control is not None:
            self._control.close()


def refusal(number: int, step: str, program: str, cwd: str) -> LaunchError:
    """The error for a keeper's `error NUMBER STEP`."""
    reason = os.strerror(number)
    if step == "folder":
        message = f"cannot start {program} in {cwd}: {reason}. The folder has to exist."
    else:
        message = f"cannot start {program}: {reason}. {ADVICE.get(number, '')}".rstrip()
    return LaunchError(number, message)
