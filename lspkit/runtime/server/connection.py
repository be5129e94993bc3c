"""The threads of one server: one reads, one writes, one drains standard error.

Callers pass whole frames to the writer through a queue, so a server that stops reading blocks no
caller past its deadline, and an interrupt never cuts a frame. A caller writes a small frame by
itself while the writer has nothing to do and the pipe has room: that saves a switch between
threads. The reader splits and parses the input, lets the session interpret it, and passes the
events on. All three also poll a *wake* pipe: closing its other end ends them, whatever they wait
for.
"""

from __future__ import annotations

import _thread
import collections
import logging
import math
import os
import select
import threading
import time
from collections.abc import Callable

from lspkit.errors import FramingError
from lspkit.limits import MOST_BROKEN_OFF
from lspkit.protocol.events import Event, Printed
from lspkit.protocol.session import Session, State
from lspkit.protocol.wire.framing import FrameReader
from lspkit.protocol.wire.messages import Malformed, Message, parse
from lspkit.runtime.concurrency.threads import OwnThread, joined
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.process.child import Child, close_all, unread_bytes
from lspkit.runtime.process.debug_records import message_trace

log = logging.getLogger("lspkit.runtime")

#: Bytes that may wait to be written before callers have to wait for room.
QUEUE_LIMIT = 8 * 1024 * 1024
#: Bytes that may wait when a message is queued without waiting for room. A server with more than
#: this is given up, and its queue is dropped.
PILED_UP = 256 * 1024 * 1024
#: How many of the last bytes of standard error are kept.
STDERR_KEPT = 64 * 1024
#: Bytes of a frame that a pipe takes whole or not at all.
ATOMIC = select.PIPE_BUF
#: Seconds to wait for the exit status and the last standard error of a server that ends.
LAST_WORDS = 0.02
#: Seconds until a server that has closed its input, and has not ended, is given up.
INPUT_CLOSED = 0.5

#: Bytes of one read: what a pipe holds. The C library takes a buffer of more than 128 KB from the
#: system and gives it back each time, which costs ten times as much as the read of a small message.
CHUNK = 64 * 1024

#: Why a connection ended, where the server gave no better reason.
CLOSED_OUTPUT = "it closed its output"
CLOSED_INPUT = "it closed its input"
LATE = "it did not answer initialize in time"
CLOSED_BY_US = "lspkit closed it"
BLOCKED = "it has blocked itself, and answers nothing any more"
STUCK = f"it has stopped reading its input, and {PILED_UP >> 20} MB wait for it"
BROKEN_OFF = f"it broke off in the middle of more than {MOST_BROKEN_OFF} messages"


class Connection:
    """One server process with its session.

    `lock` guards the session and the order of the queue; other fields name their owner.
    The reader calls `on_event`, `on_lost` (the connection ended) and `on_exit` (the process
    ended), without the lock. They are methods of the `Server` that makes the connection.
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
        self._name = name
        self.child = child
        self.session = session
        self.lock = lock
        self._on_event, self._on_lost, self._on_exit = on_event, on_lost, on_exit
        self._initialize_by = initialize_by
        #: When a server that has closed its input is given up. Used by the reader only.
        self._end_by = math.inf
        self._frames = FrameReader()
        self._printed = False
        self._queue: collections.deque[bytes | None] = collections.deque()
        #: Bytes ever queued, and ever written. Changed under the lock, or by the writer while it is
        #: `_writing`.
        self.queued, self._written = 0, 0
        #: Whether the writer may be writing. Set by the writer before it takes frames.
        self._writing = False
        #: Why the connection ends or has ended: then nothing more is read. Empty while it works.
        #: Set once, under the lock.
        self._end = ""
        #: How often the server has stopped in the middle of a message. Used by the reader only.
        self._broken_off = 0
        #: Released when there is something to write.
        self._something = _thread.allocate_lock()
        self._something.acquire()
        #: Waiters for room. Appended to under the lock, emptied by the writer.
        self._want_room: collections.deque[Waiter] = collections.deque()
        self._stderr: collections.deque[bytes] = collections.deque()
        self._stderr_size = 0
        self._wake_read, wake_write = os.pipe()
        #: The two ends of the wake pipe, until they are closed.
        self._near_end, self._far_end = [self._wake_read], [wake_write]
        self.last_received = time.monotonic()
        #: Whether a message has come, or the beginning of one.
        self.has_spoken = False
        # Started in this order: the reader waits for the last output on standard error.
        jobs = (("stderr", self._drain), ("writer", self._write), ("reader", self._read))
        self._threads = [OwnThread(job, f"{name}-{what}") for what, job in jobs]

    def start(self) -> bool:
        """Start the three threads; False if it was closed meanwhile."""
        with self.lock:
            if self._end:
                return False
            for thread in self._threads:
                thread.start()
        return True

    # Callers

    def post(self, *frames: bytes) -> None:
        """Queue frames, or write small ones at once. The caller holds the lock."""
        if message_trace is not None:
            for frame in frames:
                message_trace.record(self._name, self.child.pid, "lspkit", frame)
        is_idle = not (self._queue or self._writing or self._end)
        if is_idle and len(frames) == 1 and len(frames[0]) <= ATOMIC:
            self._write_here(frames[0])
        elif is_idle and sum(map(len, frames)) <= ATOMIC:
            self._write_here(b"".join(frames))
        elif self.queued - self._written > PILED_UP:
            self._give_up()
        else:
            self._queue.extend(frames)
            self.queued += sum(map(len, frames))
            if self._something.locked():
                self._something.release()

    def _write_here(self, frame: bytes) -> None:
        """Write a frame, unless the pipe is full: then it is queued. The lock is held."""
        size = len(frame)
        self.queued += size
        # Counted before it is written: an interrupt in between ends the call that sends it, but one
        # behind an uncounted write would have later callers wait for room that is there.
        self._written += size
        try:
            os.write(self.child.stdin, frame)
        except BlockingIOError:
            self._written -= size
            self._queue.append(frame)
            if self._something.locked():
                self._something.release()
        except OSError:
            pass  # the server has closed it, or is gone; the reader reports that

    def _give_up(self) -> None:
        """Have the reader report that the server is stuck. The lock is held."""
        self._end = self._end or STUCK
        self._queue.clear()
        close_all(self._far_end)

    def is_stuck(self, posted: int, since: float) -> str:
        """Why the server cannot be expected to answer what was queued up to `posted`; else empty.

        Called when a request has timed out: the server has not even read it, or has stopped in the
        middle of a message and sent nothing for long.
        """
        if self._written - unread_bytes(self.child.stdin) < posted:
            return "it has stopped reading its input"
        now = time.monotonic()
        if self._frames.inside and now - self.last_received >= (now - since) / 2:
            return "it broke off in the middle of a message"
        return ""

    def has_room(self) -> bool:
        """Whether callers may queue more."""
        return self.queued - self._written < QUEUE_LIMIT

    def room(self) -> Waiter:
        """A waiter that completes as soon as there is room. The caller holds the lock."""
        waiter = Waiter()
        self._want_room.append(waiter)
        if self._end or self.has_room():
            waiter.complete()
        return waiter

    def _record(self, body: bytes) -> None:
        """Record a message that was received, if the user wants that."""
        if message_trace is not None:
            message_trace.record(self._name, self.child.pid, "server", body)

    def stderr_tail(self, limit: int = 2000) -> str:
        """The last output of the server on standard error."""
        return b"".join(list(self._stderr))[-limit:].decode("utf-8", "replace").strip()

    def close(self, timeout: float) -> bool:
        """End the threads, then the process tree and the descriptors. True if nothing is left."""
        with self.lock:  # from now on no caller uses the pipe
            self._end = self._end or CLOSED_BY_US
            self._queue.append(None)
            if self._something.locked():
                self._something.release()
        close_all(self._far_end)
        deadline = time.monotonic() + timeout
        ended = joined(self._threads, timeout)
        gone = self.child.close(max(0.1, deadline - time.monotonic()))
        # A thread that is still running may use its descriptor: then that stays open.
        if ended:
            self._queue.clear()
            close_all(self._near_end)
        return ended and gone

    def drop_after_fork(self) -> None:
        """In a forked child: give up the descriptors. The guardian gives up those of the child."""
        close_all(self._near_end)
        close_all(self._far_end)

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
                self._end = self._end or reason
            while self._want_room:  # these callers then raise the failure
                self._want_room.popleft().complete()
            self._await_exit()
            self._on_exit()

    def _read_all(self) -> str:
        output, ended, wake = self.child.stdout, self.child.exit_fd, self._wake_read
        poll = select.poll()
        for descriptor in (output, ended, wake):
            poll.register(descriptor, select.POLLIN)
        poll.register(self.child.stdin, 0)  # an end without a reader is always reported
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(self._patience())}
            if wake in ready:
                return self._end
            if self.child.stdin in ready:  # it may be about to end, which tells more
                poll.unregister(self.child.stdin)
                self._end_by = time.monotonic() + INPUT_CLOSED
            if output in ready or ended in ready:
                data = read_chunk(output)
                if data:
                    self.last_received = time.monotonic()
                    self._take(data)
                    if self._frames.error is not None:
                        return f"its output makes no sense: {self._frames.error.message}"
                    if self._patience() == 0.0:  # it sends messages, but not that answer
                        return LATE if self._end_by == math.inf else CLOSED_INPUT
                    continue
                if data is not None:
                    return CLOSED_OUTPUT
            if ended in ready and self.child.status() is not None:
                return CLOSED_OUTPUT
            if not ready:
                return LATE if self._end_by == math.inf else CLOSED_INPUT

    def _await_exit(self) -> None:
        """Wait for the exit: a server may close its output well before it ends."""
        poll = select.poll()
        poll.register(self.child.exit_fd, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while self.child.status() is None:
            if self._wake_read in dict(poll.poll()):
                return

    def _patience(self) -> float | None:
        """Milliseconds until the server is given up; None if it is not."""
        state = self.session.state
        by = self._initialize_by if state is State.INITIALIZING else math.inf
        if state is not State.STOPPING:
            by = min(by, self._end_by)
        return None if by == math.inf else max(0.0, by - time.monotonic()) * 1000

    def _take(self, data: bytes) -> None:
        bodies = collections.deque(self._frames.feed(data))
        if self._frames.skipped and not self._printed:
            self._printed = True
            self._on_event(Printed(self._frames.skipped_sample))
        self.has_spoken = self.has_spoken or bool(bodies) or self._frames.inside
        while bodies and not self._end:
            self._record(bodies[0])
            message = parse(bodies.popleft())
            if isinstance(message, Malformed) and message.swallowed and not bodies:
                self._broken_off += 1
                if self._broken_off > MOST_BROKEN_OFF:
                    self._frames.error = FramingError(BROKEN_OFF)
                    return
                # The reader is right behind that message, so the rest of the stream follows it.
                bodies.extend(self._frames.feed(message.swallowed))
            self._receive(message)

    def _receive(self, message: Message) -> None:
        """Let the session interpret a message. Called by whoever has read it."""
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

    @property
    def printed(self) -> str:
        """The first of that as text."""
        return self._frames.skipped_sample.decode(errors="replace")

    # The writer

    def _write(self) -> None:
        poll = select.poll()
        poll.register(self.child.stdin, select.POLLOUT)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            self._something.acquire()
            self._writing = True
            while self._queue:
                try:
                    data = self._next()
                except IndexError:  # another thread has just cleared the queue
                    break
                if data is None or not self._write_all(data, poll):
                    return
                self._written += len(data)
                while self._want_room and self.has_room():
                    self._want_room.popleft().complete()
            self._writing = False

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
                return False  # the server has closed it, or is gone; the reader reports that
        return True

    # Standard error

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self.child.stderr, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self.child.stderr in ready:
                data = read_chunk(self.child.stderr)
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


def read_chunk(descriptor: int) -> bytes | None:
    """What can be read now; empty at the end, None if there is nothing."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
