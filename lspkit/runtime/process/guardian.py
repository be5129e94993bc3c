"""Starting the servers of one pool so that no process of them is left behind.

On Linux the pool's servers are started by one small process, the guardian. It starts with the first
server, ends with the pool, and is replaced if it was killed; its program is guardian_main.py, and
what the host and a server's keeper say to each other is in guarded_child.py. So any number of
threads may start servers at once, and all that descends from a server ends even if the host is
killed. Elsewhere, and where no interpreter can be started, group_child.py is used.

A pool has one folder for temporary files, in which each server has one of its own. The guardian's
processes make them and the guardian removes them, as the host may be killed at any moment.

KeyboardInterrupt is raised between calls of Python code. So a process or a descriptor passes from
the system into a list, and from a list back to the system, within one call of C code.
"""

from __future__ import annotations

import _socket
import array
import errno
import functools
import itertools
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence

from lspkit.late_imports import safe_imports
from lspkit.runtime.process.child import Child, LaunchError, close_all, readable
from lspkit.runtime.process.guarded_child import GuardedChild, encode, refusal

#: The program that runs as the guardian, as a plain file.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guardian_main.py")
#: Seconds in which the guardian has to accept a request.
REQUEST_TIMEOUT = 10.0
#: Seconds after which a guardian that does not end is killed.
STOP_TIMEOUT = 1.0
#: How often a launch is tried if the guardian was killed.
ATTEMPTS = 3


class Guardian:
    """Starts the servers of one pool. Any thread may call any method."""

    def __init__(self) -> None:
        self._name = f"lspkit-{os.urandom(8).hex()}"
        #: Whether there may be a folder of that name.
        self._used = False
        self._numbers = itertools.count(1)
        #: Every child that may hold descriptors, for a fork. Adding is atomic.
        self._children = weakref.WeakSet[Child]()
        #: Guards the fields below. Held while the process is started, and while it ends.
        self._lock = threading.Lock()
        self._closed = False
        self._pids: list[int] = []
        self._pidfds: list[int] = []
        self._channel: _socket.socket | None = None
        self._far_end: _socket.socket | None = None

    @property
    def pid(self) -> int:
        """Its process id, 0 if it does not run."""
        return next(iter(self._pids), 0)

    @property
    def _folder(self) -> str:
        return os.path.join(tempfile.gettempdir(), self._name)

    def new_folder(self) -> str:
        """The name for a server's temporary folder, which `launch` makes."""
        return os.path.join(self._folder, str(next(self._numbers)))

    def launch(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], scratch: str = ""
    ) -> Child:
        """Start a server in a session of its own, with exactly this environment.

        `argv[0]` is the absolute path of the program, `scratch` a name from `new_folder`. Raises
        `LaunchError` if it cannot be started; nothing is left then, nor after an interrupt.
        """
        request = encode(argv, cwd, env, scratch)
        self._used = True
        if not guardian_can_run():
            with safe_imports():
                # Needs psutil, which is slow to import.
                from lspkit.runtime.process.group_child import GroupChild

            group = GroupChild()
            self._children.add(group)
            group.open(argv, cwd, env, scratch)
            return group
        for _ in range(ATTEMPTS):
            child = GuardedChild()
            self._children.add(child)
            try:
                reply = child.open(request, self._send)
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
                reason = os.strerror(number)
                message = f"cannot start {argv[0]}: {reason}, here and not in the server."
                raise LaunchError(number, message) from error
            except BaseException:
                child.close()
                raise
        raise LaunchError(
            errno.ECHILD,
            f"cannot start {argv[0]}: the process that starts servers ended {ATTEMPTS} times. "
            f"See whether {PROGRAM} runs.",
        )

    def close(self) -> None:
        """Start nothing any more, end the process, and remove the folder. May be called again."""
        with self._lock:
            self._closed = True
            self._end()
        # It is still there if the guardian was killed, or cannot run here.
        if self._used and os.path.lexists(self._folder):
            shutil.rmtree(self._folder, ignore_errors=True)

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        self._lock = threading.Lock()
        self._closed = True
        self._forget()
        for child in list(self._children):
            child.drop_after_fork()

    def _send(self, descriptors: list[int]) -> bool:
        """Pass the descriptors of one server; False when the process has ended."""
        with self._lock:
            if self._closed:
                raise LaunchError(errno.ESHUTDOWN, "cannot start a server: closing.")
            channel = self._channel
            if channel is None or not self._pidfds or readable(self._pidfds[0], timeout=0):
                self._end()
                channel = self._start()
            rights = array.array("i", descriptors)
            try:
                channel.sendmsg([b"L"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except (BrokenPipeError, ConnectionResetError):
                self._end()  # it has ended, or is about to
                return False
            return True

    def _start(self) -> _socket.socket:
        """Start the process, without waiting for it: requests may be sent at once."""
        self._channel, self._far_end = _socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(REQUEST_TIMEOUT)
        argv = [sys.executable, "-I", "-S", PROGRAM, str(os.getpid()), self._folder]
        spawn = functools.partial(
            os.posix_spawn,
            sys.executable,
            argv,
            os.environ.copy(),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, self._far_end.fileno(), 0),
                # Not the host's own: a program that reads those would wait for the guardian to end.
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
            ],
            # A session of its own: an interrupt from the terminal must not reach it.
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals(),
        )
        self._pids.extend(itertools.starmap(spawn, [()]))
        self._pidfds.extend(map(os.pidfd_open, self._pids))
        self._far_end.close()
        return self._channel

    def _end(self) -> None:
        """End and reap the process, if there is one. The lock is held."""
        try:
            if self._channel is not None:
                # Closes all copies of the socket, also those in a forked child of the host.
                self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended
        try:
            for pidfd in self._pidfds:
                readable(pidfd, STOP_TIMEOUT)
        finally:
            self._reap()
            self._forget()

    def _reap(self) -> None:
        """Kill the process if it still runs, and read its status."""
        try:
            # By descriptor, since the number may be reused if the embedding program has reaped this
            # child with a wait for any child.
            for pidfd in self._pidfds:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
            # Its start was cut short, by an interrupt or for lack of a descriptor.
            for pid in self._pids[len(self._pidfds) :]:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def _forget(self) -> None:
        """Close the descriptors without touching the process, which may be the parent's."""
        for end in (self._channel, self._far_end):
            if end is not None:
                end.close()
        self._pids.clear()
        close_all(self._pidfds)


@functools.cache
def guardian_can_run() -> bool:
    """Whether this system has what the guardian needs, and an interpreter to run it."""
    program = os.path.basename(sys.executable or "")
    # An application that embeds or bundles Python would start itself again.
    if getattr(sys, "frozen", False) or not program.startswith(("python", "pypy")):
        return False
    if sys.platform != "linux" or not os.path.exists("/proc/thread-self/children"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False  # a kernel older than the call, or a sandbox that forbids it
    return os.path.isfile(PROGRAM)
