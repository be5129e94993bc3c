"""Starting servers where there is no guardian: process groups and a marker in the environment.

For systems without pidfd and child subreapers, and for hosts that cannot start an interpreter. A
server leads a session of its own; what it starts is found by its process group, by descent as long
as the parents live, and by a variable in the environment that is this server's alone. So it misses
a descendant that leaves the group, loses its parent and scrubs its environment, and it does nothing
once the host has been killed.
"""

from __future__ import annotations

import errno
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psutil  # type: ignore[import-untyped]

from lspkit.runtime.child import Child, LaunchError, close_all, pidfd_works, readable

#: The variable that every descendant of a server has, unless it takes care to lose it.
MARKER = "LSPKIT_SERVER_MARKER"
#: Seconds between two looks for descendants that were born while the others were killed.
PAUSE = 0.05


def launch(argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Child:
    """Start a server in a session of its own, with this environment and the marker."""
    child = GroupChild(f"{os.getpid()}-{secrets.token_hex(8)}")
    try:
        child.open(argv, cwd, env)
    except OSError as error:
        child.close()
        number = error.errno or errno.EINVAL
        message = f"cannot start {argv[0]} in {cwd}: {os.strerror(number)}. Check both paths."
        raise LaunchError(number, message) from None
    except BaseException:
        child.close()
        raise
    return child


class GroupChild(Child):
    """A server that is a direct child of the host."""

    def __init__(self, marker: str) -> None:
        super().__init__()
        self._marker = marker
        self._process: subprocess.Popen[bytes] | None = None
        self._kqueue: Any = None  # macOS only
        # Set once the group has no member, for good.
        self._group_ended = False

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the process and begin to watch it."""
        self._make_pipes()
        lifeline: list[int] = []
        try:
            if not (pidfd_works() or sys.platform == "darwin"):
                lifeline.extend(os.pipe())
            stdin, stdout, stderr = self._passed
            self._process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env={**env, MARKER: self._marker},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=lifeline[1:],
                start_new_session=True,
            )
            self.pid = self._process.pid
            self.exit_fd = self._watch_exit(lifeline)
        finally:
            close_all(lifeline)
            close_all(self._passed)

    def _watch_exit(self, lifeline: list[int]) -> int:
        """A descriptor that is readable once the process has ended, the best there is."""
        if lifeline:
            # Held by the server and by what it starts, so it may tell late.
            self._owned.append(lifeline.pop(0))
        elif sys.platform == "darwin":
            self._kqueue = select.kqueue()
            exits = (select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            self._kqueue.control([select.kevent(self.pid, *exits)], 0)
            return int(self._kqueue.fileno())
        else:
            self._owned.extend(map(os.pidfd_open, (self.pid,)))
        return self._owned[-1]

    def _read_status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to everything of the server that can be found. Does not wait."""
        if self.pid:
            kill_each(escapees(self.pid, self._marker))
            self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> bool:
        """Send a signal to the group; whether the group still has a member."""
        if not self.pid or self._group_ended:
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            # From now on the number may be another's.
            self._group_ended = True
        except PermissionError:
            return self.status() is None  # how macOS speaks of a group of zombies
        return not self._group_ended

    def _end(self, deadline: float) -> bool:
        if not self.pid:
            return True
        while True:
            found = escapees(self.pid, self._marker)
            kill_each(found)
            members = self._signal_group(signal.SIGKILL)
            ended = self.status() is not None
            if ended and not members and not found:
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            await_ends(found, self.exit_fd, min(left, PAUSE))

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock and signals nobody."""
        super().drop_after_fork()
        self._group_ended = True
        if self._process is not None:
            self._process.returncode = 0  # else it would be waited for here, where it is no child

    def _close_descriptors(self) -> None:
        super()._close_descriptors()
        if self._kqueue is not None:
            self._kqueue.close()


def escapees(server: int, marker: str) -> list[psutil.Process]:
    """The processes that descend from the server or carry its marker, zombies left out."""
    found: dict[int, psutil.Process] = {}
    try:
        descendants = psutil.Process(server).children(recursive=True)
    except psutil.Error:
        descendants = []
    for process in descendants:
        found[process.pid] = process
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER) == marker:
                found[process.pid] = process
        except (psutil.Error, OSError):
            continue  # ended, or another user's
    found.pop(server, None)
    return [process for process in found.values() if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Whether the process can still do something."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def kill_each(processes: Sequence[psutil.Process]) -> None:
    """SIGKILL to each, unless its number has become another's."""
    for process in processes:
        try:
            process.kill()
        except psutil.Error:
            pass  # ended meanwhile, or runs as another user


def await_ends(processes: Sequence[psutil.Process], exit_fd: int, timeout: float) -> None:
    """Wait until the processes have ended, or the server if there are none."""
    if not processes:
        readable(exit_fd, timeout)
        return
    psutil.wait_procs(processes, timeout=timeout)
