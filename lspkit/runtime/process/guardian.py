"""Starting the servers of one pool so that no process of them is left behind.

On Linux the pool's servers are started by one small process, the guardian. It starts with the first
server, ends with the pool, and is replaced if it was killed; its program is guardian_main.py. So
any number of threads may start servers at once, and all that descends from a server ends even if
the host is killed.

On systems without pidfd and child subreapers, and for hosts that cannot start an interpreter, a
server is a `GroupChild`. It leads a session of its own, and a thread waits for its end. Its
descendants are found by their process group, and by a variable in the environment that only this
server has. A descendant that leaves the group and clears its environment is missed, and nothing is
ended if the host is killed.

For each server the host makes the pipes, a control socket, and a memory file that says what to run,
and passes the far ends to the guardian. From then on it talks only to the server's keeper, over the
control socket; the messages are listed in guardian_main.py. Those after the first are only peeked
at. They stay unread, so `exit_fd` stays readable, and no thread can miss the end.

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
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence

from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.runtime.process.child import Child, LaunchError, close_all, readable

#: The program that runs as the guardian, as a plain file.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guardian_main.py")
#: Seconds in which the guardian has to accept a request.
REQUEST_TIMEOUT = 10.0
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
#: The variable that every descendant of a server has, unless it removes it.
MARKER = "LSPKIT_SERVER_MARKER"
#: Seconds between two searches for descendants that were started during the kill.
PAUSE = 0.05


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

    def _messages(self) -> list[bytes] | None:
        """The keeper's messages since the start, None if it has ended without any."""
        if self._control is None:
            return None
        try:
            data = self._control.recv(256, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return data.split(b"\n") if data else None

    def _read_status(self) -> int | None:
        messages = self._messages()
        if messages is None:
            # The keeper was killed before it could report; the guardian kills its tree.
            return -signal.SIGKILL
        for line in messages:
            if line.startswith(b"status "):
                return int(line.removeprefix(b"status "))
        return None

    def _end(self, deadline: float) -> bool:
        self._close_far_ends()
        if self._control is None:
            return True
        self.kill()
        readable(self._control.fileno(), deadline - time.monotonic(), events=0)
        if b"gone" in (self._messages() or ()) or not self.pid:
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

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the server in a session of its own, with this environment and the marker."""
        self._make_pipes()
        stdin, stdout, stderr = self._passed
        self._owned.extend(os.pipe())
        self.exit_fd, self._exit_write = self._owned[-2:]
        process = self._process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, MARKER: self._marker},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
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
        self._kill_all()

    def _kill_all(self) -> bool:
        """Kill the processes that can be found, then the server; whether there were any."""
        family = _relatives(self.pid, self._marker) if self.pid else []
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended, or runs as another user
        self._signal_group(signal.SIGKILL)
        return bool(family)

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
        while self._kill_all() or (self.pid and self.status() is None):
            left = min(PAUSE, deadline - time.monotonic())
            if left <= 0:
                return False
            time.sleep(left)
        return True

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        super().drop_after_fork()
        self._group_ended = True
        if self._process is not None:
            self._process.returncode = 0  # so that it is not waited for here, where it is no child

    def _close_descriptors(self) -> None:
        self._exit_write = -1
        super()._close_descriptors()


def _relatives(server: int, marker: str) -> list[int]:
    """Running processes that are in the server's group or have its marker, without itself.

    Zombies are left out because they may never be reaped: the first process of a container often
    does not do that.
    """
    import psutil  # here: it takes 10 ms to import, and is needed only without a guardian

    family: list[int] = []
    for process in psutil.process_iter():
        try:
            is_own = os.getpgid(process.pid) == server or process.environ().get(MARKER) == marker
            if is_own and process.pid != server and process.status() != psutil.STATUS_ZOMBIE:
                family.append(process.pid)
        except (psutil.Error, OSError):
            continue  # ended, or of another user
    return family


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
        return GuardedChild(self._send) if guardian_can_run() else GroupChild()

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
