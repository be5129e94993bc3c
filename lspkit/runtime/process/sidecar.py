"""A program that runs beside a server: started with it, restarted when it ends, ended with it.

One thread per sidecar launches the program, drains its output, waits for its end, closes it, and
waits for the time of the next start. Other threads only send signals to the program, or end that
last wait. `servers/sidecar_commands.py` decides which programs to run, and `backoff.py` when to
restart them.
"""

from __future__ import annotations

import logging
import os
import random
import select
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from lspkit.runtime.concurrency.threads import OwnThread, Signal, joined
from lspkit.runtime.process.backoff import FailureRecord, Restart, after_failure
from lspkit.runtime.process.child import Child, LaunchError, describe_exit
from lspkit.runtime.process.guardian import Guardian
from lspkit.servers.status import SidecarState, SidecarStatus

log = logging.getLogger("lspkit.runtime")

#: How many of the last bytes of standard error are kept.
STDERR_KEPT = 2000
#: Bytes of one read.
CHUNK = 64 * 1024
#: Reads of the rest in the pipes of a program that has ended. They hold less, but a descendant may
#: still be writing.
LAST_READS = 16
#: Seconds between SIGTERM and SIGKILL.
GRACE = 1.5
#: Seconds that its descendants have to end after SIGKILL.
SWEEP = 0.5


def any_dice() -> float:
    """A random number from -1 to 1."""
    return random.uniform(-1, 1)


def stop_all(sidecars: Sequence[Sidecar]) -> None:
    """End all of them at the same time, within about two seconds. May be called again.

    After an interrupt all are killed at once, and none is left either.
    """
    try:
        for sidecar in sidecars:
            sidecar.terminate()
        for sidecar in sidecars:
            sidecar.join(sidecar.kill_at)
    finally:
        for sidecar in sidecars:
            sidecar.kill()
        deadline = time.monotonic() + 2 * SWEEP
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
        #: Set when the program has to end for good.
        self._stop = Signal()
        #: When it is killed, by the monotonic clock.
        self.kill_at = float("inf")
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._thread: OwnThread | None = None
        self._state: SidecarState = "starting"
        self._starts = 0
        self._retry_at = 0.0
        self._error = ""
        self._stderr = b""
        #: Whether it is to be killed as soon as it is launched.
        self._is_hurried = False
        #: Launched and closed by the thread.
        self._child: Child | None = None

    def __repr__(self) -> str:
        return f"<Sidecar {self.argv[0]} {self._state} root={self.root}>"

    # Callers

    def start(self) -> None:
        """Start the thread, which starts the program. `status` reports failures."""
        thread = OwnThread(self._run, "sidecar")
        with self._lock:
            if self._stop.is_set or self._thread is not None:
                return
            try:
                thread.start()
                self._thread = thread
            except (OSError, RuntimeError) as problem:
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
                stderr=self._stderr.decode("utf-8", "replace").strip(),
            )

    # The steps of stopping, so that several sidecars can be stopped at the same time

    def terminate(self) -> None:
        """Tell it to end, once. Does not wait."""
        with self._lock:
            if self._stop.is_set:
                return
            self.kill_at = time.monotonic() + GRACE
            self._stop.set()
            if self._thread is None:
                self._state = "stopped"
            child = self._child
        if child is not None:
            child.terminate()

    def kill(self) -> None:
        """Kill it. Does not wait."""
        with self._lock:
            self._is_hurried = True
            child = self._child
        if child is not None:
            child.kill()

    def join(self, deadline: float) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            joined([self._thread], max(0.0, deadline - time.monotonic()))

    def drop_after_fork(self) -> None:
        """In a forked child: drop the parent's program without touching it. Takes no lock."""
        self._lock, self._thread, self._child = threading.Lock(), None, None
        self._state = "stopped"

    # The thread

    def _run(self) -> None:
        record = FailureRecord()
        while True:
            began = time.monotonic()
            error = self._run_once()
            if self._stop.is_set:
                break
            now = time.monotonic()
            if now - began >= self._restart.well:
                record = FailureRecord()  # it answers no requests, so this is the only proof
            record = after_failure(
                record, self._restart, ran_for=now - began, now=now, dice=self._dice()
            )
            if record.retry_at == float("inf"):
                self._enter("failed", error=error)
                return
            self._enter("waiting", error=error, retry_at=record.retry_at)
            if self._stop.wait(record.retry_at - now):
                break
        self._enter("stopped")

    def _run_once(self) -> str:
        """Run it once: returns why it has ended."""
        with self._lock:
            self._starts += 1
        try:
            child = self._guardian.launch(self.argv, cwd=self.root, env=self._env)
        except LaunchError as problem:
            return problem.message
        try:
            child.close_stdin()
            with self._lock:
                self._child = child
                is_stopped, is_hurried = self._stop.is_set, self._is_hurried
            self._enter("running")
            if is_hurried:
                child.kill()
            elif is_stopped:
                child.terminate()
            self._drain(child)
        finally:
            with self._lock:
                self._child = None
            child.close(SWEEP)
        return f"it ended with {describe_exit(child.status() or 0)}"

    def _drain(self, child: Child) -> None:
        """Read its output until it has ended."""
        poll = select.poll()
        for descriptor in (child.stdout, child.stderr, child.exit_fd):
            poll.register(descriptor, select.POLLIN)
        while child.status() is None:
            for descriptor, _ in poll.poll():
                if descriptor != child.exit_fd and self._read(child, descriptor) == b"":
                    poll.unregister(descriptor)
        for stream in (child.stdout, child.stderr):
            for _ in range(LAST_READS):
                if not self._read(child, stream):
                    break

    def _read(self, child: Child, stream: int) -> bytes | None:
        """One read: the data, empty at the end, None if there is nothing yet."""
        try:
            data = os.read(stream, CHUNK)
        except BlockingIOError:
            return None
        if stream == child.stderr:
            with self._lock:
                self._stderr = (self._stderr + data)[-STDERR_KEPT:]
        return data

    def _enter(self, state: SidecarState, error: str = "", retry_at: float = 0.0) -> None:
        with self._lock:
            self._state = state
            self._retry_at = retry_at
            # The reason of its last end stays known while it runs again.
            self._error = error or self._error
        log.debug("sidecar %s in %s: %s %s", self.argv[0], self.root, state, error)
