"""A program that runs beside a server: started with it, restarted when it ends, ended with it.

One thread per sidecar does everything: it launches the program, drains its output, waits for its
end, and then for the time of the next start. So no timer has to be cancelled, and no process can be
closed by two threads. To stop, a byte is sent to that thread over its *wake* pipe, which it always
polls; more bytes mean "at once". `servers/sidecar_commands.py` decides which programs to run, and
`backoff.py` when to restart them.
"""

from __future__ import annotations

import logging
import os
import random
import select
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from lspkit.runtime.concurrency.threads import OwnThread
from lspkit.runtime.process.backoff import FailureRecord, Restart, after_failure
from lspkit.runtime.process.child import LONGEST_WAIT, Child, LaunchError, describe_exit
from lspkit.runtime.process.guardian import Guardian
from lspkit.servers.sidecar_status import SidecarState, SidecarStatus

log = logging.getLogger("lspkit.runtime")

#: How many of the last bytes of standard error are kept.
STDERR_KEPT = 64 * 1024
#: Bytes of one read.
CHUNK = 64 * 1024
#: Reads of the rest in the pipes of a program that has ended. They hold less.
LAST_READS = 16
#: Seconds between SIGTERM and SIGKILL.
GRACE = 1.5
#: Seconds that its descendants have to end after SIGKILL.
SWEEP = 0.5


def any_dice() -> float:
    """A random number from -1 to 1."""
    return random.uniform(-1, 1)


def start_all(
    commands: Iterable[Sequence[str]],
    root: str,
    env: Mapping[str, str],
    guardian: Guardian,
    *,
    restart: Restart,
    dice: Callable[[], float] = any_dice,
) -> list[Sidecar]:
    """Start a sidecar for each command. Does not wait, and does not fail."""
    sidecars = [
        Sidecar(command, root, env, guardian, restart=restart, dice=dice) for command in commands
    ]
    for sidecar in sidecars:
        sidecar.start()
    return sidecars


def stop_all(sidecars: Sequence[Sidecar]) -> None:
    """End all of them at the same time, within about two seconds. May be called again.

    After an interrupt all are killed at once, and none is left either.
    """
    try:
        for sidecar in sidecars:
            sidecar.tell()
        deadline = time.monotonic() + GRACE + SWEEP
        for sidecar in sidecars:
            sidecar.join(deadline)
    finally:
        for sidecar in sidecars:
            sidecar.hurry()
        deadline = time.monotonic() + SWEEP
        for sidecar in sidecars:
            sidecar.join(deadline)


class Sidecar:
    """One program beside a server. `start` once; any thread may stop it or read its status."""

    def __init__(
        self,
        argv: Sequence[str],
        root: str,
        env: Mapping[str, str],
        guardian: Guardian,
        *,
        restart: Restart,
        dice: Callable[[], float] = any_dice,
    ) -> None:
        self.argv = tuple(argv)
        self.root = root
        self._env = dict(env)
        self._guardian = guardian
        self._restart = restart
        self._dice = dice
        self._thread: threading.Thread | None = None
        #: Set by the thread at its end.
        self._over = threading.Event()
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._state: SidecarState = "starting"
        self._starts = 0
        self._retry_at = 0.0
        self._error = ""
        self._stderr = bytearray()
        #: Whether it was told to end.
        self._told = False
        #: Launched and closed by the thread.
        self._child: Child | None = None
        #: The wake pipe. The thread owns the reading end and closes it.
        self._wake_read = self._wake_write = -1

    def __repr__(self) -> str:
        return f"<Sidecar {self.argv[0]} {self._state} root={self.root}>"

    # Callers

    def start(self) -> None:
        """Start the thread, which starts the program. `status` reports failures."""
        thread = OwnThread(self._run, "sidecar")
        with self._lock:
            if self._told or self._thread is not None:
                return
            try:
                self._wake_read, self._wake_write = os.pipe()
                self._thread = thread
                thread.start()
            except (OSError, RuntimeError) as problem:
                self._thread = None
                self._close_wake()
                self._state = "failed"
                self._error = f"this process cannot start another thread: {problem}"

    def stop(self) -> None:
        """End the program with its descendants, and the thread. May be called again."""
        stop_all([self])

    def status(self) -> SidecarStatus:
        """Its present state."""
        with self._lock:
            waiting = self._state == "waiting"
            return SidecarStatus(
                command=self.argv,
                state=self._state,
                pid=self._child.pid if self._child is not None else None,
                restarts=max(0, self._starts - 1),
                retry_in=max(0.0, self._retry_at - time.monotonic()) if waiting else None,
                error=self._error,
                stderr=self._tail(2000),
            )

    def stderr_tail(self, limit: int = STDERR_KEPT) -> str:
        """The last bytes of standard error, across all starts."""
        with self._lock:
            return self._tail(limit)

    def _tail(self, limit: int) -> str:
        kept = min(limit, STDERR_KEPT)
        return bytes(self._stderr[-kept:]).decode("utf-8", "replace").strip()

    # The steps of stopping, so that several sidecars can be stopped at the same time

    def tell(self) -> None:
        """Tell it to end. Does not wait."""
        with self._lock:
            told, self._told = self._told, True
            if self._thread is None:
                self._state = "stopped"
            # Once: a second byte would mean "at once".
            elif not told and self._wake_read != -1 and self._wake_write != -1:
                os.write(self._wake_write, b"s")

    def hurry(self) -> None:
        """Tell it to end at once. Does not wait."""
        with self._lock:
            write, self._wake_write = self._wake_write, -1
            if write == -1:
                return
            if self._wake_read != -1:
                os.write(write, b"no patience")  # a forked process may keep a copy of the end open
            os.close(write)

    def join(self, deadline: float) -> None:
        """Wait for the thread to end."""
        thread = self._thread
        # Python regards a thread as ended when an interrupt cuts its `join` short.
        if thread is not None and self._over.wait(max(0.0, deadline - time.monotonic())):
            thread.join()

    def drop_after_fork(self) -> None:
        """In a forked child: drop the parent's program without touching it. Takes no lock."""
        self._lock = threading.Lock()
        self._thread = None
        self._state = "stopped"
        self._close_wake()
        self._child = None

    def _close_wake(self) -> None:
        read, self._wake_read = self._wake_read, -1
        write, self._wake_write = self._wake_write, -1
        for descriptor in (read, write):
            if descriptor != -1:
                os.close(descriptor)

    # The thread

    def _run(self) -> None:
        try:
            self._run_again_and_again()
        except Exception as problem:  # a fault of lspkit; the status has to say so
            log.exception("the thread of %s failed", self.argv[0])
            self._enter("failed", error=f"lspkit failed: {problem!r}")
        finally:
            with self._lock:
                read, self._wake_read = self._wake_read, -1
                os.close(read)
            self._over.set()

    def _run_again_and_again(self) -> None:
        record = FailureRecord()
        while True:
            began = time.monotonic()
            ended = self._run_once()
            if not ended:
                self._enter("stopped")
                return
            now = time.monotonic()
            if now - began >= self._restart.well:
                record = FailureRecord()  # it answers no requests, so this is the only proof
            record = after_failure(
                record, self._restart, ran_for=now - began, now=now, dice=self._dice()
            )
            if record.retry_at == float("inf"):
                self._enter("failed", error=ended)
                return
            self._enter("waiting", error=ended, retry_at=record.retry_at)
            if _readable([self._wake_read], record.retry_at):
                self._enter("stopped")
                return

    def _run_once(self) -> str:
        """Run it once: returns why it has ended, or nothing if it was told to."""
        with self._lock:
            if self._told:
                return ""
            self._starts += 1
        try:
            child = self._guardian.launch(self.argv, cwd=self.root, env=self._env)
        except LaunchError as problem:
            return problem.message
        try:
            child.close_stdin()
            with self._lock:
                self._child = child
            self._enter("running")
            told = not self._follow(child, float("inf"))
            if told:
                os.read(self._wake_read, 1)
                child.terminate()
                self._follow(child, time.monotonic() + GRACE)
        finally:
            with self._lock:
                self._child = None
            child.close(SWEEP)
        if told:
            return ""
        return f"it ended with {describe_exit(child.status() or 0)}"

    def _follow(self, child: Child, until: float) -> bool:
        """Drain its output; True when it has ended, False when told to stop or at that time."""
        open_streams = [child.stdout, child.stderr]
        while True:
            ready = _readable([*open_streams, child.exit_fd, self._wake_read], until)
            for stream in open_streams[:]:
                if stream in ready and self._drain(child, stream) == b"":
                    open_streams.remove(stream)
            if child.exit_fd in ready and child.status() is not None:
                for stream in open_streams:
                    self._drain_rest(child, stream)
                return True
            if self._wake_read in ready or time.monotonic() >= until:
                return False

    def _drain(self, child: Child, stream: int) -> bytes | None:
        """One read: the data, empty at the end, None if there is nothing yet."""
        try:
            data = os.read(stream, CHUNK)
        except BlockingIOError:
            return None
        if stream == child.stderr:
            with self._lock:
                self._stderr += data
                if len(self._stderr) > 2 * STDERR_KEPT:
                    del self._stderr[:-STDERR_KEPT]
        return data

    def _drain_rest(self, child: Child, stream: int) -> None:
        # Bounded: a descendant may still be writing.
        for _ in range(LAST_READS):
            if not self._drain(child, stream):
                return

    def _enter(self, state: SidecarState, error: str = "", retry_at: float = 0.0) -> None:
        with self._lock:
            self._state = state
            self._retry_at = retry_at
            # The reason of its last end stays known while it runs again.
            self._error = error or self._error
        log.debug("sidecar %s in %s: %s %s", self.argv[0], self.root, state, error)


def _readable(descriptors: Iterable[int], until: float) -> set[int]:
    """Wait until a descriptor is readable, or for that time; returns the readable ones."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    left = max(0.0, until - time.monotonic()) * 1000
    return {descriptor for descriptor, _ in poll.poll(min(left, LONGEST_WAIT))}
