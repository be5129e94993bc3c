"""Starting servers so that no process of them is left behind.

On Linux a server is started by the guardian, one process per host (guardian_client.py is the host's
side, guardian_main.py the program). The host makes the pipes and a control socket, passes the far
ends to the guardian, and sends the command over the control socket. So the guardian never waits for
a slow host, and any number of threads may launch at once. From then on the host talks only to the
server's keeper, over the control socket. The keeper's messages are peeked at and stay unread, so
`exit_fd` stays readable, and no thread can miss the end. Elsewhere, and where no interpreter can be
started, group_child.py is used.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import time
from collections.abc import Mapping, Sequence

from lspkit.late_imports import safe_imports
from lspkit.runtime.process import exit_hooks, guardian_client
from lspkit.runtime.process.child import (
    Child,
    LaunchError,
    Socket,
    close_all,
    drop_children,
    readable,
    socket_pair,
)
from lspkit.runtime.process.guardian_client import Guardian, guardian_pid, prestart, release, retain
from lspkit.runtime.process.orphan_processes import Signs, end_survivors

log = logging.getLogger("lspkit.runtime")

__all__ = [
    "Child",
    "LaunchError",
    "drop_after_fork",
    "guardian_pid",
    "launch",
    "prestart",
    "release",
    "retain",
]

#: Seconds in which a server has to get a process id.
LAUNCH_TIMEOUT = 10.0
#: Seconds after which a process that does not react may have been stopped (SIGSTOP).
STOPPED = 1.0
#: Seconds for ending processes that have outlived their keeper, even after the deadline.
SURVIVORS = 1.0
#: How often a launch is tried if the guardian has ended.
ATTEMPTS = 3
#: Bytes of the length that precedes a request; as in guardian_main.py.
LENGTH_BYTES = 8
#: What to do about a failed exec, by error number.
ADVICE = {
    errno.ENOENT: "Install it, or correct the command; a script may also name an interpreter "
    "in its first line that does not exist.",
    errno.EACCES: "It is not executable, or lies in a folder that may not be entered.",
    errno.ENOEXEC: "It is not a program for this system: it may be built for another one, or be a "
    "script without an interpreter in its first line.",
    errno.E2BIG: "Its arguments and environment are larger than the system allows.",
}


def launch(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], scratch: str = "") -> Child:
    """Start a server in a session of its own, with exactly this environment.

    `argv[0]` is the absolute path of the program. `scratch` is a folder that is made for the server
    and removed with it, even if this process is killed. Raises `LaunchError` if it cannot be
    started; nothing is left then, nor after an interrupt.
    """
    request = encode(argv, cwd, env, scratch)
    if not guardian_client.guardian_can_run():
        with safe_imports():
            # Needs psutil, which is slow to import.
            from lspkit.runtime.process import group_child

        return group_child.launch(argv, cwd=cwd, env=env, scratch=scratch)
    for _ in range(ATTEMPTS):
        child = GuardedChild(scratch)
        try:
            reply = child.open(request)
            if reply is None:
                child.close()
                continue
            if reply.startswith("pid "):
                child.pid = int(reply.removeprefix("pid "))
                return child
            raise refusal(reply, argv[0], cwd)
        except OSError as error:
            # Of this process: no descriptors, memory, processes or time left.
            child.close()
            number = error.errno or errno.ETIMEDOUT
            message = f"cannot start {argv[0]}: {os.strerror(number)}, here and not in the server."
            raise LaunchError(number, message) from error
        except BaseException:
            child.close()
            raise
    raise LaunchError(
        errno.ECHILD,
        f"cannot start {argv[0]}: the process that starts servers ended {ATTEMPTS} times. "
        f"See whether {guardian_client.PROGRAM} runs.",
    )


def drop_after_fork() -> None:
    """In a forked child: drop the parent's servers and its guardian.

    Takes no lock and sends no signal; afterwards this process can launch servers of its own.
    """
    drop_children()
    guardian_client.drop_after_fork()


exit_hooks.call_after_fork(drop_after_fork)


def encode(argv: Sequence[str], cwd: str, env: Mapping[str, str], scratch: str = "") -> bytes:
    """The request for the keeper: length, folders, number of arguments, arguments, variables.

    Fields end with a zero byte, which none of them can contain.
    """
    if not argv or not os.path.isabs(argv[0]):
        shown = argv[0] if argv else ""
        raise LaunchError(errno.ENOENT, f"cannot start {shown!r}: give the program's full path.")
    for name in env:
        if "=" in name or not name:
            message = f"cannot start {argv[0]}: the environment has a variable named {name!r}."
            raise LaunchError(errno.EINVAL, message)
    settings = [f"{name}={value}" for name, value in env.items()]
    fields = [os.fsencode(field) for field in (cwd, scratch, str(len(argv)), *argv, *settings)]
    if any(b"\0" in field for field in fields):
        message = f"cannot start {argv[0]}: an argument or a variable holds a zero byte."
        raise LaunchError(errno.EINVAL, message)
    payload = b"\0".join(fields)
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


def refusal(reply: str, program: str, cwd: str) -> LaunchError:
    """The error for a keeper's `error NUMBER STEP`."""
    _, number, step = reply.split()
    code = int(number)
    reason = os.strerror(code)
    if step == "folder":
        message = f"cannot start {program} in {cwd}: {reason}. The folder has to exist."
    elif step == "scratch":
        message = f"cannot start {program}: {reason}. It gets no temporary folder."
    else:
        message = f"cannot start {program}: {reason}. {ADVICE.get(code, '')}".rstrip()
    return LaunchError(code, message)


class GuardedChild(Child):
    """A server with a keeper of the guardian."""

    def __init__(self, scratch: str = "") -> None:
        super().__init__()
        self._scratch = scratch
        #: How to recognise its processes without a keeper.
        self._signs: Signs | None = None
        #: The guardian of its keeper, until it is closed.
        self.guardian: Guardian | None = None
        self._control: Socket | None = None
        self._far_control: Socket | None = None

    def open(self, request: bytes) -> str | None:
        """Have the server started; returns the keeper's answer, None if the guardian has ended."""
        deadline = time.monotonic() + LAUNCH_TIMEOUT
        guardian = guardian_client.acquire(self)
        self._make_pipes()
        self._signs = Signs(self._scratch, self._owned, self._passed)
        self._control, self._far_control = socket_pair(socket.SOCK_STREAM)
        self.exit_fd = self._control.fileno()
        guardian.let_go_on()
        if not guardian.send([self._far_control.fileno(), *self._passed]):
            return None
        self._close_far_ends()
        try:
            self._control.settimeout(LAUNCH_TIMEOUT)
            self._control.sendall(request)
            while not readable(self.exit_fd, min(STOPPED, deadline - time.monotonic())):
                if time.monotonic() >= deadline:
                    raise TimeoutError
                guardian.let_go_on()
            self._control.setblocking(False)
            line = self._control.recv(64, socket.MSG_PEEK).partition(b"\n")[0]
            # Removed, so that the next message is the server's end.
            self._control.recv(len(line) + 1)
        except (BrokenPipeError, ConnectionResetError):
            return None
        return line.decode("ascii") or None

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        self._order(b"T")

    def kill(self) -> None:
        """Send SIGKILL to all descendants of the server and itself. Does not wait."""
        self._order(b"K")

    def _order(self, order: bytes) -> None:
        guardian = self.guardian
        if guardian is not None:
            guardian.let_go_on()
        with self._lock:
            if self._control is not None and self.exit_fd >= 0:
                try:
                    self._control.send(order, socket.MSG_DONTWAIT)
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
        with self._lock:
            self._close_far_ends()
            if self._control is None or self._control.fileno() < 0:
                return True
            control = self._control.fileno()
            try:
                # The keeper takes it as the order to kill, in any state, whoever else has a copy of
                # the socket.
                self._control.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        if self.guardian is not None:
            self.guardian.let_go_on()
        readable(control, deadline - time.monotonic(), events=0)
        if b"gone" in (self._said() or ()) or not self.pid:
            return True
        return self._end_without_keeper(deadline)

    def _end_without_keeper(self, deadline: float) -> bool:
        """The last resort: the keeper was killed or is stuck, and perhaps the guardian as well."""
        self._kill_group()
        if self._signs is None:
            return False
        ended, none_left = end_survivors(self._signs, max(deadline, time.monotonic() + SURVIVORS))
        if ended or not none_left:
            log.warning(
                "the process that keeps the descendants of server %d was killed or does not react; "
                "ended without it: %s%s",
                self.pid,
                ", ".join(map(str, ended)) or "none",
                "" if none_left else ". Some may be left",
            )
        return none_left

    def _kill_group(self) -> None:
        """Kill the server and the rest of its group."""
        try:
            if os.getsid(self.pid) == self.pid:
                os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def _let_go(self) -> None:
        guardian_client.give_back(self)

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        super().drop_after_fork()
        guardian, self.guardian = self.guardian, None
        if guardian is not None:
            guardian.forget()

    def _close_far_ends(self) -> None:
        close_all(self._passed)
        if self._far_control is not None:
            self._far_control.close()

    def _close_descriptors(self) -> None:
        super()._close_descriptors()
        if self._far_control is not None:
            self._far_control.close()
        if self._control is not None:
            self._control.close()
