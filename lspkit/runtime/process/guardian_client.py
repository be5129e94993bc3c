"""The host's side of the guardian process: starting it, sharing it, stopping and reaping it.

There is one guardian per host. It starts with the first server, or earlier by `prestart`, and stops
when it is not used: each `Child` uses it, and so does `retain` until `release`. A guardian that was
killed, or that was started by another user or before a fork, is replaced when the next one is
needed. The program is guardian_main.py; messages about a single server are in launch.py.
"""

from __future__ import annotations

import array
import functools
import itertools
import os
import signal
import socket
import sys
import threading
from typing import Protocol

from lspkit.runtime.process.child import close_all, pidfd_works, readable, socket_pair

#: The program that runs as the guardian, as a plain file.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guardian_main.py")
#: Seconds in which the guardian has to accept a request.
REQUEST_TIMEOUT = 10.0
#: Seconds after which an idle guardian that does not end is killed.
STOP_TIMEOUT = 1.0


class Guardian:
    """One guardian process, owned by the host that started it."""

    def __init__(self) -> None:
        #: How many of its children are not closed yet. Guarded by this module's lock.
        self.users = 0
        #: The process and user that started it; servers run with the rights of that user.
        self.identity = identity()
        #: Held by the thread that stops it.
        self.stopping = threading.Lock()
        self._pids: list[int] = []
        self._pidfds: list[int] = []
        self._channel, self._far_end = socket_pair(socket.SOCK_SEQPACKET)
        self._channel.settimeout(REQUEST_TIMEOUT)

    def start(self) -> None:
        """Start the process, without waiting for it: requests may be sent at once."""
        argv = [sys.executable, "-I", "-S", PROGRAM, str(os.getpid())]
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
        # From the new process to the list in one call of C code, so that no interrupt loses it.
        self._pids.extend(itertools.starmap(spawn, [()]))
        self._pidfds.extend(map(os.pidfd_open, self._pids))
        self._far_end.close()

    @property
    def pid(self) -> int:
        """Its process id, 0 once it is stopped."""
        return self._pids[0] if self._pids else 0

    def usable(self) -> bool:
        """Whether it runs, and belongs to this process and user."""
        return (
            self.identity == identity()
            and bool(self._pidfds)
            and not readable(self._pidfds[0], timeout=0)
        )

    def let_go_on(self) -> None:
        """Continue it and its keepers, if they were stopped (SIGSTOP)."""
        try:
            for pidfd in self._pidfds:
                signal.pidfd_send_signal(pidfd, signal.SIGCONT)
        except OSError:
            pass  # it has ended

    def send(self, descriptors: list[int]) -> bool:
        """Pass the descriptors of one server; False when the guardian has ended."""
        try:
            rights = array.array("i", descriptors)
            self._channel.sendmsg([b"L"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def stop(self) -> None:
        """End and reap it, if it has no users. May be called again."""
        with self.stopping:
            try:
                # Closes all copies of the socket, also those in a forked child of the host.
                self._channel.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended
            self.let_go_on()
            try:
                for pidfd in self._pidfds:
                    readable(pidfd, STOP_TIMEOUT)
            finally:
                self._reap()
                self.forget()

    def _reap(self) -> None:
        """Kill it if it still runs, and read its status."""
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

    def forget(self) -> None:
        """Close the descriptors without touching the process, which may be the parent's."""
        self._channel.close()
        self._far_end.close()
        self._pids.clear()
        close_all(self._pidfds)


class User(Protocol):
    """An object that uses a guardian."""

    guardian: Guardian | None


# Guards the names below and `Guardian.users`. Held while a guardian is started, which takes a
# millisecond and which all callers have to wait for; never while one is stopped.
_lock = threading.Lock()
_current: Guardian | None = None
_retained = 0
#: Unused guardians that are not stopped yet. The thread that stops one may be interrupted.
_idle_ones: list[Guardian] = []


def acquire(user: User) -> Guardian:
    """Make `user` use the guardian, which is started if there is none."""
    with _lock:
        guardian = _running(user)
    _stop_idle_ones(wait=False)
    return guardian


def give_back(user: User) -> None:
    """The opposite of `acquire`; the last user stops the guardian. May be called again."""
    with _lock:
        guardian, user.guardian = user.guardian, None
        if guardian is None:
            return
        guardian.users -= 1
        _let_go(guardian)
    _stop_idle_ones()


def retain() -> None:
    """Keep the guardian running without a server. Pair it with `release`."""
    global _retained
    with _lock:
        _retained += 1


def release() -> None:
    """The opposite of `retain`: the last call stops the guardian if it has no server."""
    global _retained
    with _lock:
        _retained = max(0, _retained - 1)  # a fork may have reset it
        if _current is not None:
            _let_go(_current)
    _stop_idle_ones()


def prestart() -> None:
    """Start the guardian without waiting. Call it between `retain` and `release`."""
    if not guardian_can_run():
        return
    with _lock:
        _running(None)
    _stop_idle_ones(wait=False)


def guardian_pid() -> int:
    """Process id of the running guardian, 0 for none."""
    with _lock:
        return 0 if _current is None else _current.pid


def drop_after_fork() -> None:
    """In a forked child: forget the parent's guardian. Takes no lock."""
    global _lock, _current, _retained
    _lock = threading.Lock()
    guardian, _current, _retained = _current, None, 0
    for one in (guardian, *_idle_ones):
        if one is not None:
            one.forget()
    _idle_ones.clear()


@functools.cache
def guardian_can_run() -> bool:
    """Whether this system has what the guardian needs, and an interpreter to run it."""
    program = os.path.basename(sys.executable or "")
    if sys.platform != "linux" or not pidfd_works():
        return False
    # An application that embeds or bundles Python would start itself again.
    if getattr(sys, "frozen", False) or not program.startswith(("python", "pypy")):
        return False
    return os.path.isfile(PROGRAM)


def identity() -> tuple[object, ...]:
    """This process, its user and groups."""
    return os.getpid(), os.getresuid(), os.getresgid(), os.getgroups()


def _running(user: User | None) -> Guardian:
    """The guardian for a user; a replaced one may become idle. The lock is held."""
    global _current
    guardian = _current
    if guardian is None or not guardian.usable():
        # A former one that still has users is stopped by the last of them.
        if guardian is not None and guardian.users == 0:
            _idle_ones.append(guardian)
        # Stored before it starts, so that an interrupt cannot lose the process.
        guardian = _current = Guardian()
        try:
            guardian.start()
        except BaseException:
            _current = None
            guardian.stop()
            raise
    if user is not None:
        # No call since the guardian was found: an interrupt cannot separate it from its user.
        guardian.users, user.guardian = guardian.users + 1, guardian
    return guardian


def _let_go(guardian: Guardian) -> None:
    """Retire the guardian if it is not used. The lock is held."""
    global _current
    if guardian.users or (guardian is _current and _retained > 0):
        return
    _idle_ones.append(guardian)
    if guardian is _current:
        _current = None


def _stop_idle_ones(*, wait: bool = True) -> None:
    """Stop unused guardians; with `wait`, also wait for another thread that stops one."""
    for guardian in list(_idle_ones):
        if guardian.stopping.locked() and not wait:
            continue
        guardian.stop()
        with _lock:
            if guardian in _idle_ones:
                _idle_ones.remove(guardian)
