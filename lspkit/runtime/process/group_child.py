"""A server that was started without a guardian: process groups and a marker in the environment.

For systems without pidfd and child subreapers, and for hosts that cannot start an interpreter. A
server leads a session of its own, and a thread waits for its end. Its descendants are found by
their process group, by descent while the parents live, and by a variable in the environment that
only this server has. A descendant that leaves the group, loses its parent and clears its
environment is missed, and nothing is ended if the host is killed.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

import psutil

from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.runtime.process.child import Child, close_all, readable

#: The variable that every descendant of a server has, unless it removes it.
MARKER = "LSPKIT_SERVER_MARKER"
#: Seconds between two searches for descendants that were started during the kill.
PAUSE = 0.05
#: Signals that a process can ignore.
NUMBERS = frozenset(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}


class GroupChild(Child):
    """A server that is a direct child of the host."""

    def __init__(self) -> None:
        super().__init__()
        self._marker = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._process: subprocess.Popen[bytes] | None = None
        #: The far end of `exit_fd`.
        self._exit_write = -1
        #: Set when the group has no member any more.
        self._group_ended = False
        #: The thread that is starting the process.
        self._starter = 0

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the server in a session of its own, with this environment and the marker."""
        self._make_pipes()
        stdin, stdout, stderr = self._passed
        self._owned.extend(os.pipe())
        self.exit_fd, self._exit_write = self._owned[-2:]
        self._starter = threading.get_ident()
        process = self._process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, MARKER: self._marker},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            # Only if needed, because it runs the hooks that are registered for a fork.
            preexec_fn=reset_signals if signals_are_changed() else None,
        )
        self._starter = 0
        self.pid = process.pid
        close_all(self._passed)
        OwnThread(lambda: self._watch(process), "exit").start()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of the process, and make `exit_fd` readable. In a thread."""
        process.wait()
        with self._lock:
            if self._exit_write >= 0:
                os.write(self._exit_write, b".")

    def _read_status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to all processes of the server that can be found. Does not wait."""
        self._kill_found()

    def _kill_found(self) -> list[psutil.Process]:
        """Kill the processes that can be found, then the server; returns those that were found."""
        found = relatives(self.pid, self._marker) if self.pid else []
        for process in found:
            try:
                process.kill()
            except psutil.Error:
                pass  # it has ended, or runs as another user
        self._signal_group(signal.SIGKILL)
        return found

    def _signal_group(self, number: int) -> None:
        if not self.pid or self._group_ended:
            return
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            self._group_ended = True  # from now on the number may be reused
        except PermissionError:
            pass  # the error of macOS for a group of zombies

    def _end(self, deadline: float) -> bool:
        while True:
            found = self._kill_found()
            if not found and (not self.pid or self.status() is not None):
                return True
            left = min(PAUSE, deadline - time.monotonic())
            if left <= 0:
                return False
            if found:
                psutil.wait_procs(found, timeout=left)
            else:
                readable(self.exit_fd, left)

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        if self._starter == threading.get_ident():
            return  # this child becomes the server, and these are its streams
        super().drop_after_fork()
        self._group_ended = True
        if self._process is not None:
            self._process.returncode = 0  # so that it is not waited for here, where it is no child

    def _close_descriptors(self) -> None:
        self._exit_write = -1
        super()._close_descriptors()


def signals_are_changed() -> bool:
    """Whether a child would ignore or block a signal, as under nohup. `Popen` resets a few."""
    seen_to = {signal.SIGPIPE, getattr(signal, "SIGXFSZ", None)}
    ignored = (signal.getsignal(number) is signal.SIG_IGN for number in NUMBERS - seen_to)
    return any(ignored) or bool(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def reset_signals() -> None:
    """In the new process, before its program: reset ignored and blocked signals."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def relatives(server: int, marker: str) -> list[psutil.Process]:
    """Processes that descend from the server, are in its group or have its marker, and run.

    Zombies are left out because they may never be reaped: the first process of a container often
    does not do that.
    """
    found: dict[int, psutil.Process] = {}
    try:
        for process in psutil.Process(server).children(recursive=True):
            found[process.pid] = process
    except psutil.Error:
        pass  # it has ended
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == server or process.environ().get(MARKER) == marker:
                found[process.pid] = process
        except (psutil.Error, OSError):
            continue  # ended, or of another user
    found.pop(server, None)
    return [process for process in found.values() if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Whether the process is no zombie and has not ended."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
