"""The host's side of the guardian process: starting it, sharing it, stopping and reaping it.

There is one guardian for each host. It starts with the first server, or earlier by `prestart`, and
stops when nobody uses it: each `Child` is a user, and so is everyone between `retain` and
`release`. A guardian that was killed, or that was started by another user or before a fork, is
replaced by the next one who needs it. The program itself is guardian_main.py; what is said to it
about a single server is in launch.py.
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
#: Seconds in which the guardian has to take a request.
REQUEST_TIMEOUT = 10.0
#: Seconds in which an idle guardian has to end before it is killed.
STOP_TIMEOUT = 1.0


class Guardian:
    """One guardian process, owned by the host that started it."""

    def __init__(self) -> None:
        #: How many children came from it and are not yet closed. Guarded by this module's lock.
        self.users = 0
        #: Who started it; servers would run with the rights of that user.
        self.identity = identity()
        #: Held by whoever stops it.
        self.stopping = threading.Lock()
        self._pids: list[int] = []
        self._pidfds: list[int] = []
        self._channel, self._far_end = socket_pair(socket.SOCK_SEQPACKET)
        self._channel.settimeout(REQUEST_TIMEOUT)

    def start(self) -> None:
        """Start the process. Does not wait for it: requests may be sent at once."""
        argv = [sys.executable, "-I", "-S", PROGRAM, str(os.getpid())]
        spawn = functools.partial(
            os.posix_spawn,
            sys.executable,
            argv,
            os.environ.copy(),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, self._far_end.fileno(), 0),
                # Not the host's own: whoever reads those would wait for the guardian to end.
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
            ],
            # A session of its own: a terminal's interrupt must not reach it.
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals(),
        )
        # One call of C code from the new process to the list, so that no interrupt can lose it.
        self._pids.extend(itertools.starmap(spawn, [()]))
        self._pidfds.extend(map(os.pidfd_open, self._pids))
        self._far_end.close()

    @property
    def pid(self) -> int:
        """Its process id, 0 once it is stopped."""
        return self._pids[0] if self._pids else 0

    def usable(self) -> bool:
        """Whether it runs, as this process and this user."""
        return (
            self.identity == identity()
            and bool(self._pidfds)
            and not readable(self._pidfds[0], timeout=0)
        )

    def let_go_on(self) -> None:
        """If somebody has stopped it, or its keepers, they go on from now on."""
        try:
            for pidfd in self._pidfds:
                signal.pidfd_send_signal(pidfd, signal.SIGCONT)
        except OSError:
            pass  # it has ended

    def send(self, descriptors: list[int]) -> bool:
        """Hand over the descriptors of one server; False when the guardian is no more."""
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
                # Says it to all copies of the socket, also to those in a forked child of the host.
                self._channel.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself
            self.let_go_on()
            try:
                for pidfd in self._pidfds:
                    readable(pidfd, STOP_TIMEOUT)
            finally:
                self._reap()
                self.forget()

    def _reap(self) -> None:
        """Kill it if it still runs, and take its status."""
        try:
            # By descriptor, since the number may be another's once the embedding program has
            # reaped this child with a wait for any.
            for pidfd in self._pidfds:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
            # The start was cut short, by an interrupt or for want of a descriptor.
            for pid in self._pids[len(self._pidfds) :]:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def forget(self) -> None:
        """Close the descriptors and do nothing to the process, which may be the parent's."""
        self._channel.close()
        self._far_end.close()
        self._pids.clear()
        close_all(self._pidfds)


class User(Protocol):
    """Who holds on to a guardian."""

    guardian: Guardian | None


# Guards what is below and `Guardian.users`. Held while a guardian is started, which takes a
# millisecond and which all who come meanwhile have to wait for; never while one is stopped.
_lock = threading.Lock()
_current: Guardian | None = None
_retained = 0
#: Those without users that are not yet stopped. Whoever was to do it may have been interrupted.
_idle_ones: list[Guardian] = []


def acquire(user: User) -> Guardian:
    """Make `user` hold the guardian, which is started when there is none."""
    with _lock:
        guardian = _running(user)
    _stop_idle_ones(wait=False)
    return guardian


def give_back(user: User) -> None:
    """The opposite of `acquire`; the last one stops the guardian. May be called again."""
    with _lock:
        guardian, user.guardian = user.guardian, None
        if guardian is None:
            return
        guardian.users -= 1
        _let_go(guardian)
    _stop_idle_ones()


def retain() -> None:
    """Keep the guardian, once it runs, also while it has no server. Pair it with `release`."""
    global _retained
    with _lock:
        _retained += 1


def release() -> None:
    """The opposite of `retain`: the last one stops the guardian if it has no server."""
    global _retained
    with _lock:
        _retained = max(0, _retained - 1)  # a fork may have come between
        if _current is not None:
            _let_go(_current)
    _stop_idle_ones()


def prestart() -> None:
    """Start the guardian and do not wait for it. Call it between `retain` and `release`."""
    if not guardian_can_run():
        return
    with _lock:
        _running(None)
    _stop_idle_ones(wait=False)


def guardian_pid() -> int:
    """Process id of the guardian that runs now, 0 for none."""
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
    # An application that embeds or bundles Python would start itself once more.
    if getattr(sys, "frozen", False) or not program.startswith(("python", "pypy")):
        return False
    return os.path.isfile(PROGRAM)


def identity() -> tuple[object, ...]:
    """This process and its rights."""
    return os.getpid(), os.getresuid(), os.getresgid(), os.getgroups()


def _running(user: User | None) -> Guardian:
    """The guardian for a user; the one whose place it took may be idle. With the lock held."""
    global _current
    guardian = _current
    if guardian is None or not guardian.usable():
        # A former one that still has users is stopped by the last of them.
        if guardian is not None and guardian.users == 0:
            _idle_ones.append(guardian)
        # Known before it starts, so that an interrupt cannot lose the process.
        guardian = _current = Guardian()
        try:
            guardian.start()
        except BaseException:
            _current = None
            guardian.stop()
            raise
    if user is not None:
        # No call since the guardian was found: an interrupt cannot leave it without its user.
        guardian.users, user.guardian = guardian.users + 1, guardian
    return guardian


def _let_go(guardian: Guardian) -> None:
    """See whether the guardian is needed. With the lock held."""
    global _current
    if guardian.users or (guardian is _current and _retained > 0):
        return
    _idle_ones.append(guardian)
    if guardian is _current:
        _current = None


def _stop_idle_ones(*, wait: bool = True) -> None:
    """Stop the guardians that nobody needs; wait for another thread that is at it, or do not."""
    for guardian in list(_idle_ones):
        if guardian.stopping.locked() and not wait:
            continue
        guardian.stop()
        with _lock:
            if guardian in _idle_ones:
                _idle_ones.remove(guardian)
