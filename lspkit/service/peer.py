"""One end of a JSON-RPC connection over a socket, for the service and for its clients.

One thread reads, and handles each message, which must not wait. A small message is written by the
thread that sends it if the socket takes it at once; another thread writes what is queued. The queue
is bounded: a peer that does not read, or sends anything but messages, is disconnected.
"""

from __future__ import annotations

import _thread
import collections
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import FrameReader, first_frame, frame
from lspkit.runtime.concurrency.threads import OwnThread, joined

log = logging.getLogger("lspkit.service")

#: Bytes of one message: of a result, and of a request.
LARGEST_MESSAGE = 512 * 1024 * 1024
LARGEST_REQUEST = 128 * 1024 * 1024
#: Bytes that wait to be written before a peer that does not read is disconnected.
LONGEST_QUEUE = 64 * 1024 * 1024
#: Bytes that wait before optional messages (events) are dropped.
EVENT_QUEUE = 1024 * 1024
#: Bytes of one read. The C library takes a buffer of more than 128 KB from the system and gives it
#: back each time, which costs five times as much as the read of a small message.
CHUNK = 64 * 1024
#: Bytes that the sending thread writes itself. On Linux the socket takes so many as a whole or not
#: at all: an interrupt of the main thread must not come between a part of them and the rest.
ATOMIC = 32 * 1024

Message = messages.Message


class Peer:
    """A connection. `on_message` and `on_end` are called by its reader."""

    def __init__(
        self,
        connection: socket.socket,
        on_message: Callable[[Peer, Message], None],
        on_end: Callable[[Peer], None],
        name: str,
        *,
        largest: int = LARGEST_MESSAGE,
    ) -> None:
        self._socket = connection
        self._on_message = on_message
        self._on_end = on_end
        self._reader = OwnThread(self._read, f"{name} reader")
        #: Started by the reader: a thread that starts one waits for an event, where an interrupt of
        #: the main thread may leave a lock locked.
        self._writer = OwnThread(self._write, f"{name} writer")
        #: Bytes that were received. For the reader.
        self._frames = FrameReader(largest)
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._queue: collections.deque[bytes] = collections.deque()
        self._queued = 0
        self._writing = False
        self._ended = False
        #: Released when there is something to write, or nothing any more.
        self._something = _thread.allocate_lock()
        self._something.acquire()
        #: Why the connection has ended.
        self.reason = ""
        #: Called by the writer, without the lock, when it has written all that was queued.
        self.on_drained: Callable[[], object] = lambda: None

    def start(self) -> None:
        """Start to read."""
        self._reader.start()

    # Writing

    def send(self, body: bytes, *, optional: bool = False) -> bool:
        """Send a message. Never blocks. False if it was dropped, or the connection has ended."""
        data = frame(body)
        with self._lock:
            if self._ended or (optional and self._queued > EVENT_QUEUE):
                return False
            too_slow = self._queued > LONGEST_QUEUE
            if not too_slow:
                self._put(data)
        if too_slow:
            self.end("it does not read what it is sent")
        return not too_slow

    def _put(self, data: bytes) -> None:
        """Write a message if the socket takes it, or queue it. Called with the lock."""
        if not self._queue and not self._writing and len(data) <= ATOMIC:
            try:
                data = data[self._socket.send(data, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # the reader notices the end
        if data:
            self._wake_writer()  # first: after an interrupt, what is queued must not stay there
            self._queue.append(data)
            self._queued += len(data)

    def _wake_writer(self) -> None:
        """Have the writer look again. Called with the lock."""
        if self._something.locked():
            self._something.release()

    def _write(self) -> None:
        while not self._ended:
            with self._lock:
                data = self._queue.popleft() if self._queue else b""
                self._writing = bool(data)
            if not data:
                self._something.acquire()
                continue
            try:
                self._socket.sendall(data)
            except OSError as problem:
                self.end(f"it cannot be written to: {problem}")
                return
            with self._lock:
                self._queued -= len(data)
                drained = not self._queue
            if drained:
                self.on_drained()

    # Reading

    def _read(self) -> None:
        try:
            self._writer.start()
            for body in self._bodies():
                self._on_message(self, messages.parse(body))
            self.end("the connection was closed")
        except OSError as problem:
            self.end(f"the connection was lost: {problem.strerror or problem}")
        except Exception:
            log.exception("the reader of a connection failed")
            self.end("its reader failed")
        self._on_end(self)
        if joined([self._writer]):
            self._socket.close()  # also where nobody calls `close`: the other side has ended

    def _bodies(self) -> Iterator[bytes]:
        """The messages, until the end, or until something else comes."""
        while data := self._socket.recv(CHUNK):
            yield from self._split_frames(data)
            if self._frames.error is not None or self._frames.skipped:
                why = str(self._frames.error or "what it sends is not JSON-RPC")
                self.send(messages.error_response(b"null", messages.PARSE_ERROR, why))
                return

    def _split_frames(self, data: bytes) -> Sequence[bytes]:
        """The messages that are complete with these bytes."""
        # Usually one whole message: to see that takes a third of the time of `feed`.
        first = first_frame(data) if self._frames.between else None
        if first is not None and first[1] == len(data):
            return first[:1]
        return self._frames.feed(data)

    # The end

    def end(self, why: str) -> None:
        """End the connection. From any thread; does not wait."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self.reason = why
            self._queue.clear()
            self._wake_writer()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side has closed it

    def close(self, why: str = "the connection was closed") -> None:
        """End the connection, and wait for its threads."""
        self.end(why)
        joined([self._reader, self._writer])
        self._socket.close()

    def drop_after_fork(self) -> None:
        """In a forked child: the connection belongs to the parent."""
        self._ended = True
        self._socket.close()


def error_body(id: bytes, code: int, message: str, data: Any = None) -> bytes:
    """An error response with data."""
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return messages.encode({"jsonrpc": "2.0", "id": msgspec.Raw(id), "error": error})
