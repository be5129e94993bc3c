"""A started server process: four descriptors, an exit status, and the ways to end it.

`Child` holds what both ways of starting a server have in common: ownership of descriptors, waiting
for the end, closing once, and cleaning up after a fork. The two subclasses in guardian.py,
`GuardedChild` and `GroupChild`, start the server, send the orders and read the status.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import repeat, starmap

#: The longest timeout of `poll`, in milliseconds.
LONGEST_WAIT = 2**31 - 1


class LaunchError(Exception):
    """A server that could not be started: program missing, not executable, of a wrong format."""

    def __init__(self, errno: int, message: str) -> None:
        super().__init__(errno, message)
        #: The system's error number, as in `OSError`.
        self.errno = errno
        #: What happened, where, and what to do now.
        self.message = message

    def __str__(self) -> str:
        return self.message


class Child:
    """One started server.

    The Child owns the descriptors: use `close_stdin` and `close` to close them, nothing else.
    A closed one reads -1. Any thread may call any method; `status`, `wait`, `terminate` and `kill`
    also work while another thread is in `close`. Threads that poll the descriptors themselves must
    be done before `close` is called: `kill` makes all of them readable or broken.

    It is made and opened in a thread of lspkit. It may be closed in the main thread, where
    KeyboardInterrupt can come between any two lines.
    """

    def __init__(self) -> None:
        #: Process id of the server, which is also its process group and its session.
        self.pid = 0
        #: The host's end of standard input: non-blocking, not inherited.
        self.stdin = -1
        #: The host's end of standard output: non-blocking, not inherited.
        self.stdout = -1
        #: The host's end of standard error: non-blocking, not inherited.
        self.stderr = -1
        #: Readable, and from then on always, when the server process has ended.
        self.exit_fd = -1
        # Guards the fields above, the two lists and `_status`. Never held over a wait.
        self._lock = threading.Lock()
        self._status: int | None = None
        # The host's ends of the pipes, and the server's ends while the host has them.
        self._owned: list[int] = []
        self._passed: list[int] = []
        #: Held by the thread that closes, also while it waits; others wait for it.
        self._closing = threading.Lock()
        self._closed = False
        self._gone = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "running" if self._status is None else "ended"
        return f"<{type(self).__name__} pid={self.pid} {state} status={self._status}>"

    # Implemented by the subclass.

    def open(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the server in a session of its own; after an error, `close` has to be called."""
        raise NotImplementedError

    def _read_status(self) -> int | None:
        """The exit status if it is known. Called with the lock held; never blocks."""
        raise NotImplementedError

    def _end(self, deadline: float) -> bool:
        """End the whole tree; True when nothing of it is left."""
        raise NotImplementedError

    def terminate(self) -> None:
        """Send SIGTERM to the server's process group."""
        raise NotImplementedError

    def kill(self) -> None:
        """Send SIGKILL to all descendants of the server and itself. Does not wait."""
        raise NotImplementedError

    # Common to all.

    def status(self) -> int | None:
        """The exit status, None while the server runs; negative is the signal that ended it."""
        with self._lock:
            if self._status is None and self.exit_fd >= 0:
                self._status = self._read_status()
            return self._status

    def wait(self, timeout: float) -> int | None:
        """Wait for the server process to end; its status, or None when the time is up."""
        with self._lock:
            if self.exit_fd < 0:
                return self._status
            # A copy, because `close` in another thread frees the number.
            copy = os.dup(self.exit_fd)
        try:
            readable(copy, timeout)
        finally:
            os.close(copy)
        return self.status()

    def close_stdin(self) -> None:
        """End the server's standard input. May be called again."""
        with self._lock:
            descriptor, self.stdin = self.stdin, -1
            if descriptor >= 0:
                self._owned.remove(descriptor)
                os.close(descriptor)

    def close(self, timeout: float = 2.0) -> bool:
        """Kill the rest of the tree, and close every descriptor; True when nothing of it is left.

        May be called again, and returns the result of the first call. An interrupt cuts the wait
        short, not the killing and not the closing.
        """
        with self._closing:
            if self._closed:
                return self._gone
            try:
                self._gone = self._end(time.monotonic() + timeout)
            finally:
                self.status()
                with self._lock:
                    self._close_descriptors()
                self._closed = True
            return self._gone

    def drop_after_fork(self) -> None:
        """In a forked child of the host: close the copies. Takes no lock, sends no signal."""
        self._lock, self._closing = threading.Lock(), threading.Lock()
        self._closed = True
        self._close_descriptors()

    def _make_pipes(self) -> None:
        """Open the three pipes; the server's ends go to `_passed` in the order of its streams."""
        for _ in range(3):
            self._owned.extend(os.pipe())
        stdin, self.stdin, self.stdout, stdout, self.stderr, stderr = self._owned
        self._passed[:] = stdin, stdout, stderr
        self._owned[:] = self.stdin, self.stdout, self.stderr
        for descriptor in self._owned:
            os.set_blocking(descriptor, False)

    def _close_descriptors(self) -> None:
        self.stdin = self.stdout = self.stderr = self.exit_fd = -1
        close_all(self._passed)
        close_all(self._owned)


def close_all(descriptors: list[int]) -> None:
    """Close the descriptors and empty the list, in one step that no interrupt can divide."""
    last = starmap(descriptors.pop, repeat((), len(descriptors)))
    deque(map(os.close, last), maxlen=0)


def readable(descriptor: int, timeout: float, events: int = select.POLLIN) -> bool:
    """Wait until the descriptor is readable or hung up; with `events` 0, until it is hung up."""
    watch = select.poll()
    watch.register(descriptor, events)
    return bool(watch.poll(min(max(0.0, timeout) * 1000, LONGEST_WAIT)))


def unread_bytes(descriptor: int) -> int:
    """Bytes in a pipe that its reader has not read, if the system reports them."""
    try:
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0")
    except (OSError, ValueError):
        return 0
    return int.from_bytes(answer, sys.byteorder)


def describe_exit(status: int) -> str:
    """`exit status 3`, `signal 9`."""
    return f"exit status {status}" if status >= 0 else f"signal {-status}"
