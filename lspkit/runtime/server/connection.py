"""The threads of one server: one reads, one writes, one drains standard error.

Only the writer writes. Callers hand it whole frames through a queue, so that a server that stops
reading holds nobody up past a deadline, and an interrupt can never tear a frame. The reader cuts
and parses what comes, lets the session say what it means, and hands the events on; it never writes.
All three also listen to a *wake* pipe: closing its other end ends them, whatever they wait for.
"""

from __future__ import annotations

import _thread
import collections
import logging
import os
import select
import sys
import threading
import time
from collections.abc import Callable

from lspkit.errors import FramingError
from lspkit.late_imports import safe_imports
from lspkit.limits import MOST_BROKEN_OFF
from lspkit.protocol.events import Event, Printed
from lspkit.protocol.session import Session, State
from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import Malformed, parse
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.process.child import Child, close_all

log = logging.getLogger("lspkit.runtime")

#: Frames that wait to be written, in bytes, before callers have to wait for room.
QUEUE_LIMIT = 8 * 1024 * 1024
#: So many bytes may wait when one more message is queued that nobody waits with. A server that has
#: let so much pile up is given up: what it would have to catch up with is not kept any longer.
PILED_UP = 256 * 1024 * 1024
#: Of standard error, so many last bytes are kept.
STDERR_KEPT = 64 * 1024
#: One read, and about the most that is written at once.
CHUNK = 256 * 1024
#: When a server ends: how long its exit status and last words may take.
LAST_WORDS = 0.02

#: Why a conversation is over, where the server gave no better reason.
CLOSED_OUTPUT = "it closed its output"
LATE = "it did not answer initialize in time"
BLOCKED = "it has blocked itself, and answers nothing any more"
STUCK = f"it has stopped reading its input, and {PILED_UP >> 20} MB wait for it"


BROKEN_OFF = f"it broke off in the middle of a message for the {MOST_BROKEN_OFF + 1}st time"


class Connection:
    """One server process with its session.

    `lock` guards the session and the order of the queue; everything else says whose it is.
    `on_event`, `on_lost` (the conversation is over) and `on_exit` (the process is) are called by
    the reader, without the lock.
    """

    def __init__(
        self,
        name: str,
        child: Child,
        session: Session,
        lock: threading.Lock,
        *,
        on_event: Callable[[Event], None],
        on_lost: Callable[[str], None],
        on_exit: Callable[[], None],
        initialize_by: float,
    ) -> None:
        self.child = child
        self.session = session
        self.lock = lock
        self._on_event = on_event
        self._on_lost = on_lost
        self._on_exit = on_exit
        self._initialize_by = initialize_by
        self._frames = FrameReader()
        self._printed = False
        self._queue: collections.deque[bytes | None] = collections.deque()
        #: Bytes ever queued (by callers, under the lock) and ever written (by the writer).
        self._queued, self._written = 0, 0
        #: Whether too much has piled up, and whether the conversation is over. Under the lock.
        self._stuck, self._lost = False, False
        #: Whether `close` was called: then nothing more is read.
        self._closing = False
        #: How often the server has broken off in the middle of a message. The reader's own.
        self._broken_off = 0
        #: Released when there is something to write.
        self._something = _thread.allocate_lock()
        self._something.acquire()
        #: Those who wait for room. Appended to under the lock, emptied by the writer.
        self._want_room: collections.deque[Waiter] = collections.deque()
        self._stderr: collections.deque[bytes] = collections.deque()
        self._stderr_size = 0
        self._wake_read, wake_write = os.pipe()
        #: The two ends of the wake pipe, until they are closed.
        self._near_end, self._far_end = [self._wake_read], [wake_write]
        self.last_received = time.monotonic()
        #: Whether anything at all has come on standard output.
        self.has_spoken = False
        # In this order they are started: the reader waits for the last words on standard error.
        jobs = (("stderr", self._drain), ("writer", self._write), ("reader", self._read))
        self._threads = [OwnThread(job, f"{name}-{what}") for what, job in jobs]

    def start(self) -> None:
        """Start the three threads."""
        for thread in self._threads:
            thread.start()

    # Callers

    def post(self, *frames: bytes) -> None:
        """Queue frames. The caller holds the lock."""
        if self._queued - self._written > PILED_UP:
            self._give_up()
            return
        self._queue.extend(frames)
        self._queued += sum(map(len, frames))
        if self._something.locked():
            self._something.release()

    def _give_up(self) -> None:
        """Let the reader say that the server is stuck. The lock is held."""
        self._stuck = True
        self._queue.clear()
        close_all(self._far_end)

    @property
    def queued(self) -> int:
        """Bytes that were ever queued."""
        return self._queued

    def is_stuck(self, posted: int, since: float) -> str:
        """Why the server cannot be expected to answer what was queued up to `posted`; else empty.

        Asked when a request has had all its time: the server has not even read it, or has broken
        off in the middle of a message and been silent for long.
        """
        if self._written - self._unread() < posted:
            return "it has stopped reading its input"
        now = time.monotonic()
        if self._frames.inside and now - self.last_received >= (now - since) / 2:
            return "it broke off in the middle of a message"
        return ""

    def _unread(self) -> int:
        """Bytes in the pipe to the server, where the system tells."""
        with safe_imports():
            import fcntl  # here: only for a server that is in trouble
            import termios

        try:
            answer = fcntl.ioctl(self.child.stdin, termios.FIONREAD, b"\0\0\0\0")
        except (OSError, ValueError):
            return 0
        return int.from_bytes(answer, sys.byteorder)

    def has_room(self) -> bool:
        """Whether callers may queue more."""
        return self._queued - self._written < QUEUE_LIMIT

    def room(self) -> Waiter:
        """Complete as soon as there is room. The caller holds the lock."""
        waiter = Waiter()
        self._want_room.append(waiter)
        if self._lost or self.has_room():
            waiter.complete()
        return waiter

    def stderr_tail(self, limit: int = 2000) -> str:
        """The last words of the server on standard error."""
        return b"".join(list(self._stderr))[-limit:].decode("utf-8", "replace").strip()

    def close(self, timeout: float) -> bool:
        """End the threads, then the process tree and the descriptors. True if nothing is left."""
        self._closing = True
        close_all(self._far_end)
        self._queue.append(None)
        if self._something.locked():
            self._something.release()
        deadline = time.monotonic() + timeout
        ended = joined(self._threads, timeout)
        gone = self.child.close(max(0.1, deadline - time.monotonic()))
        # A thread that is still there may use its descriptor; only then it is left to it.
        if ended:
            self._queue.clear()
            close_all(self._near_end)
        return ended and gone

    def drop_after_fork(self) -> None:
        """In a forked child: give up the descriptors, and touch nothing else."""
        close_all(self._near_end)
        close_all(self._far_end)
        self.child.drop_after_fork()

    # The reader

    def _read(self) -> None:
        reason = CLOSED_OUTPUT
        try:
            reason = self._read_all()
        except Exception as problem:  # a fault of ours must not leave callers waiting
            log.exception("the reader of %s failed", threading.current_thread().name)
            reason = f"lspkit's reader failed: {problem!r}"
        finally:
            self._threads[0].join(LAST_WORDS)
            self._on_lost(reason)
            with self.lock:
                self._lost = True
            while self._want_room:  # and hear why there will be none
                self._want_room.popleft().complete()
            self._await_exit()
            self._on_exit()

    def _read_all(self) -> str:
        output, ended, wake = self.child.stdout, self.child.exit_fd, self._wake_read
        poll = select.poll()
        for descriptor in (output, ended, wake):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = dict(poll.poll(self._patience()))
            if wake in ready:
                return STUCK if self._stuck else "lspkit closed it"
            if output in ready:
                data = self._chunk(output)
                if data:
                    self.last_received = time.monotonic()
                    self.has_spoken = True
                    self._take(data)
                    if self._frames.error is not None:
                        return self._framing_failed(self._frames.error)
                    if self._patience() == 0.0:
                        return LATE  # it has much to say, and not what it was asked
                    continue
                if data is not None:
                    return CLOSED_OUTPUT
            if ended in ready and self.child.status() is not None:
                return CLOSED_OUTPUT
            if not ready:
                return LATE

    def _await_exit(self) -> None:
        """A server may close its output well before it ends."""
        poll = select.poll()
        poll.register(self.child.exit_fd, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while self.child.status() is None:
            if self._wake_read in dict(poll.poll()):
                return

    def _patience(self) -> float | None:
        if self.session.state is not State.INITIALIZING:
            return None
        return max(0.0, self._initialize_by - time.monotonic()) * 1000

    @staticmethod
    def _chunk(descriptor: int) -> bytes | None:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            return None

    @staticmethod
    def _framing_failed(error: FramingError) -> str:
        return f"its output makes no sense: {error.message}"

    def _take(self, data: bytes) -> None:
        bodies = collections.deque(self._frames.feed(data))
        if self._frames.skipped and not self._printed:
            self._printed = True
            self._on_event(Printed(self._frames.skipped_sample))
        while bodies and not self._closing:
            message = parse(bodies.popleft())
            if isinstance(message, Malformed) and message.swallowed and not bodies:
                self._broken_off += 1
                if self._broken_off > MOST_BROKEN_OFF:
                    self._frames.error = FramingError(BROKEN_OFF)
                    return
                # The reader stands right behind it, so the rest of the stream fits on.
                bodies.extend(self._frames.feed(message.swallowed))
            with self.lock:
                event, reply = self.session.receive(message)
                if reply is not None:
                    self.post(reply)
            if event is not None:
                self._on_event(event)

    @property
    def noise(self) -> int:
        """Bytes on standard output that were no message."""
        return self._frames.skipped

    # The writer

    def _write(self) -> None:
        poll = select.poll()
        poll.register(self.child.stdin, select.POLLOUT)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            self._something.acquire()
            while self._queue:
                try:
                    data = self._next()
                except IndexError:  # it has just been thrown away
                    break
                if data is None or not self._write_all(data, poll):
                    return
                self._written += len(data)
                while self._want_room and self.has_room():
                    self._want_room.popleft().complete()

    def _next(self) -> bytes | None:
        """What is to be written next: small frames together, None at the end."""
        data = self._queue.popleft()
        if data is None or not self._queue or len(data) > CHUNK:
            return data
        frames, size = [data], len(data)
        while self._queue and (frame := self._queue[0]) is not None and size < CHUNK:
            frames.append(frame)
            size += len(frame)
            self._queue.popleft()
        return b"".join(frames)

    def _write_all(self, data: bytes, poll: select.poll) -> bool:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.child.stdin, rest) :]
            except BlockingIOError:
                if self._wake_read in dict(poll.poll()):
                    return False
            except OSError:
                return False  # the server is gone; the reader will say so
        return True

    # Standard error

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self.child.stderr, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self.child.stderr in ready:
                data = self._chunk(self.child.stderr)
                if data:
                    self._keep(data)
                    continue
                if data is not None:
                    return
            if self._wake_read in ready:
                return

    def _keep(self, data: bytes) -> None:
        self._stderr.append(data)
        self._stderr_size += len(data)
        while len(self._stderr) > 1 and self._stderr_size - len(self._stderr[0]) >= STDERR_KEPT:
            self._stderr_size -= len(self._stderr.popleft())
