"""Starting the servers of one pool so that no process of them is left behind.

On Linux the pool's servers are started by one small process, the guardian. It starts with the first
server, ends with the pool, and is replaced if it was killed; its program is guardian_main.py, and
what the host and a server's keeper say to each other is in guarded_child.py. So any number of
threads may start servers at once, and all that descends from a server ends even if the host is
killed. Elsewhere, and where no interpreter can be started, group_child.py is used.

A pool has one folder for temporary files, in which each server has one of its own. It is made after
the guardian was started, which removes it if the host is killed; otherwise the host does.

The guardian and the servers are started in threads of lspkit. They may be ended in the main thread,
where KeyboardInterrupt can come between any two lines.
"""

from __future__ import annotations

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

from lspkit.runtime.process.child import Child, LaunchError, close_all, readable
from lspkit.runtime.process.guarded_child import KILLED, GuardedChild

#: The program that runs as the guardian, as a plain file.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guardian_main.py")
#: Seconds in which the guardian has to accept a request.
REQUEST_TIMEOUT = 10.0


class Guardian:
    """Starts the servers of one pool. Any thread may call any method."""

    def __init__(self) -> None:
        #: Every child that may hold descriptors, for a fork. Adding is atomic.
        self._children = weakref.WeakSet[Child]()
        #: Guards the rest. Held while the process starts and ends, and folders come and go.
        self._lock = threading.Lock()
        self._closed = False
        #: The folder for temporary files, once it is needed.
        self._folder = ""
        self._numbers = itertools.count(1)
        #: The process id of the guardian, 0 if it does not run.
        self.pid = 0
        self._pidfds: list[int] = []
        self._channel: socket.socket | None = None
        self._far_end: socket.socket | None = None

    def new_folder(self) -> str:
        """Make a folder for the temporary files of a server."""
        with self._lock:
            outer = self._outer_folder()
            if guardian_can_run():
                self._running()
            folder = os.path.join(outer, str(next(self._numbers)))
            _make_folder(outer)
            _make_folder(folder)
        return folder

    def launch(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> Child:
        """Start a server in a session of its own, with exactly this environment.

        `argv[0]` is the absolute path of the program. Not for the main thread. Raises `LaunchError`
        if it cannot be started; nothing is left then.
        """
        _check(argv, cwd, env)
        child = self._new_child()
        self._children.add(child)
        try:
            child.open(argv, cwd, env)
        except (OSError, RuntimeError) as error:
            # Of this process: no descriptors, memory, processes, threads or time left.
            child.close()
            number = getattr(error, "errno", None) or errno.EAGAIN
            raise LaunchError(number, f"cannot start {argv[0]} in {cwd}: {error}") from error
        except BaseException:
            child.close()
            raise
        return child

    def close(self) -> None:
        """Remove the folder and end the process: no server runs any more. May be called again."""
        with self._lock:
            self._closed = True
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._end()

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        self._lock = threading.Lock()
        self._closed = True
        self._forget()
        for child in list(self._children):
            child.drop_after_fork()

    def _new_child(self) -> Child:
        if guardian_can_run():
            return GuardedChild(self._send)
        # Needs psutil, which is slow to import.
        from lspkit.runtime.process.group_child import GroupChild

        return GroupChild()

    def _outer_folder(self) -> str:
        if not self._folder:
            name = f"lspkit-{os.urandom(8).hex()}"
            self._folder = os.path.join(tempfile.gettempdir(), name)
        return self._folder

    def _send(self, descriptors: list[int]) -> None:
        """Pass the descriptors of one server to the process."""
        rights = array.array("i", descriptors)
        with self._lock:
            channel = self._running()
            try:
                channel.sendmsg([b"L"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except (BrokenPipeError, ConnectionResetError):
                self._end()  # it has ended, or is about to
                raise ChildProcessError(errno.ECHILD, KILLED) from None

    def _running(self) -> socket.socket:
        """The socket to the process, which is started if it does not run. The lock is held."""
        if self._closed:
            raise LaunchError(errno.ESHUTDOWN, "cannot start a server: closing")
        channel = self._channel
        if channel is None or not self._pidfds or readable(self._pidfds[0], timeout=0):
            self._end()
            channel = self._start()
        return channel

    def _start(self) -> socket.socket:
        """Start the process, without waiting for it: requests may be sent at once."""
        self._channel, self._far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(REQUEST_TIMEOUT)
        argv = [sys.executable, "-I", "-S", PROGRAM, str(os.getpid()), self._outer_folder()]
        self.pid = os.posix_spawn(
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
        self._far_end.close()
        self._pidfds.append(os.pidfd_open(self.pid))
        return self._channel

    def _end(self) -> None:
        """Kill the process if it still runs, and read its status. The lock is held."""
        try:
            # By descriptor, since the number may be reused if the embedding program has reaped this
            # child with a wait for any child.
            for pidfd in self._pidfds:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
            if self.pid and not self._pidfds:  # for lack of a descriptor
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self._forget()

    def _forget(self) -> None:
        """Close the descriptors without touching the process, which may be the parent's."""
        for end in (self._channel, self._far_end):
            if end is not None:
                end.close()
        self.pid = 0
        close_all(self._pidfds)


def _check(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    """Raise `LaunchError` for what no system can start."""
    if not argv or not os.path.isabs(argv[0]):
        shown = argv[0] if argv else ""
        raise LaunchError(errno.ENOENT, f"cannot start {shown!r}: give the program's full path.")
    for name in env:
        if "=" in name or not name:
            message = f"cannot start {argv[0]}: the environment has a variable named {name!r}."
            raise LaunchError(errno.EINVAL, message)
    if any("\0" in text for text in (cwd, *argv, *env, *env.values())):
        message = f"cannot start {argv[0]}: its folder, an argument or a variable has a zero byte."
        raise LaunchError(errno.EINVAL, message)


def _make_folder(path: str) -> None:
    """Make a folder that only this user may enter, unless there is one."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.path.islink(path) or os.stat(path).st_uid != os.geteuid():
            raise


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
