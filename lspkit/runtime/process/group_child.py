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
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from lspkit.runtime.process.child import Child, LaunchError, close_all, pidfd_works, readable

#: The variable that every descendant of a server has, unless it takes care to lose it.
MARKER = "LSPKIT_SERVER_MARKER"
#: Seconds between two looks for descendants that were born while the others were killed.
PAUSE = 0.05
#: Seconds to wait for the status of a process that is about to end.
EARLY = 0.02
#: Signals that a process can ignore.
NUMBERS = frozenset(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}


def launch(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], scratch: str = "") -> Child:
    """Start a server in a session of its own, with this environment and the marker."""
    child = GroupChild(f"{os.getpid()}-{secrets.token_hex(8)}")
    try:
        if scratch:
            os.mkdir(scratch, 0o700)
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
        # Whether `exit_fd` may be readable before there is a status.
        self._tells_early = False
        # Set once the group has no member, for good.
        self._group_ended = False
        # The thread that starts the process at this moment.
        self._starter = 0

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the process and begin to watch it."""
        self._make_pipes()
        stdin, stdout, stderr = self._passed
        if not (pidfd_works() or sys.platform == "darwin"):
            self._owned.extend(os.pipe())
            self._passed.append(self._owned.pop())
        self._starter = threading.get_ident()
        self._process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, MARKER: self._marker},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=self._passed[3:],
            start_new_session=True,
            # Only where it is needed: what is registered to run after a fork runs then.
            preexec_fn=reset_signals if signals_are_changed() else None,
        )
        self._starter = 0
        self.pid = self._process.pid
        self.exit_fd = self._watch_exit(lifeline=len(self._passed) > 3)
        close_all(self._passed)

    def _watch_exit(self, lifeline: bool) -> int:
        """A descriptor that is readable once the process has ended, the best there is."""
        self._tells_early = True
        if lifeline:
            # The end of a pipe that the server holds, and with it whoever it starts.
            return self._owned[-1]
        if sys.platform == "darwin":
            self._kqueue = select.kqueue()
            exits = (select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            self._kqueue.control([select.kevent(self.pid, *exits)], 0)
            return int(self._kqueue.fileno())
        self._tells_early = False
        self._owned.extend(map(os.pidfd_open, (self.pid,)))
        return self._owned[-1]

    def status(self) -> int | None:
        """The exit status, None while the server runs; negative is the signal that ended it."""
        status = super().status()
        if status is not None or not self._is_about_to_end() or self._process is None:
            return status
        # It has not ended yet. Or it closed a pipe that it does not know, and whoever polls the
        # descriptor must not spin. Without the lock: this waits.
        try:
            self._process.wait(EARLY)
        except subprocess.TimeoutExpired:
            return None
        return super().status()

    def _is_about_to_end(self) -> bool:
        with self._lock:
            return self._tells_early and self.exit_fd >= 0 and readable(self.exit_fd, 0)

    def _read_status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to everything of the server that can be found. Does not wait."""
        self._kill_found()

    def _kill_found(self) -> list[psutil.Process]:
        """Kill whoever can be found besides the server, then the server; who was found."""
        found = relatives(self.pid, self._marker) if self.pid else []
        for process in found:
            try:
                process.kill()
            except psutil.Error:
                pass  # ended meanwhile, or runs as another user
        self._signal_group(signal.SIGKILL)
        return found

    def _signal_group(self, number: int) -> None:
        if not self.pid or self._group_ended:
            return
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            self._group_ended = True  # from now on the number may be another's
        except PermissionError:
            pass  # how macOS speaks of a group of zombies

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
        """In a forked child of the host: close the copies. Takes no lock and signals nobody."""
        if self._starter == threading.get_ident():
            return  # this child is about to become the server, and these are its streams
        super().drop_after_fork()
        self._group_ended = True
        if self._process is not None:
            self._process.returncode = 0  # else it would be waited for here, where it is no child

    def _close_descriptors(self) -> None:
        super()._close_descriptors()
        if self._kqueue is not None:
            self._kqueue.close()


def signals_are_changed() -> bool:
    """Whether a child would ignore or block a signal, as under nohup. `Popen` sees to a few."""
    seen_to = {signal.SIGPIPE, getattr(signal, "SIGXFSZ", None)}
    ignored = (signal.getsignal(number) is signal.SIG_IGN for number in NUMBERS - seen_to)
    return any(ignored) or bool(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def reset_signals() -> None:
    """In the new process, before its program: no signal is ignored, none is blocked."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def relatives(server: int, marker: str) -> list[psutil.Process]:
    """Who descends from the server, is of its group or carries its marker, and is not a zombie.

    Zombies are left out because nobody may ever reap them: the first process of a container often
    does not.
    """
    found: dict[int, psutil.Process] = {}
    try:
        for process in psutil.Process(server).children(recursive=True):
            found[process.pid] = process
    except psutil.Error:
        pass  # the server has ended
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == server or process.environ().get(MARKER) == marker:
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
