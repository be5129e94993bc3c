"""One end of a JSON-RPC connection over a socket, for the service and for its clients.

One thread reads, and handles each message, which must not wait. A small message is written by the
thread that sends it if the socket takes it at once; another thread writes what is queued. The queue
is bounded: a peer that does not read is disconnected. A message that is too large for one frame is
sent in parts.
"""

from __future__ import annotations

import _thread
import collections
import itertools
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from lspkit.msgspec_types import make_decoder
from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import FrameReader, first_frame, frame
from lspkit.runtime.concurrency.threads import OwnThread, joined

log = logging.getLogger("lspkit.service")

#: Bytes of one message.
LARGEST_MESSAGE = 32 * 1024 * 1024
#: Characters in one part of a larger message: in JSON, at most four times as many bytes.
PART = 4 * 1024 * 1024
#: Bytes of a message in parts: of a result, and of a request.
LARGEST_WHOLE = 512 * 1024 * 1024
LARGEST_REQUEST = 128 * 1024 * 1024
#: Bytes that a part counts at least, so that the number of parts is bounded.
SMALLEST_PART = 4096
#: Bytes that wait to be written before a peer that does not read is disconnected.
LONGEST_QUEUE = 64 * 1024 * 1024
#: Bytes that wait before optional messages (events) are dropped.
EVENT_QUEUE = 1024 * 1024
#: Bytes outside messages before a peer is disconnected.
MOST_GARBAGE = 64 * 1024
#: Bytes of messages that cannot be decoded before a peer is disconnected: each costs more time than
#: a valid one.
MOST_MALFORMED = 1024 * 1024
#: The method of a part.
PART_METHOD = "lsp/part"
#: Bytes of one read. The C library takes a buffer of more than 128 KB from the system and gives it
#: back each time, which costs five times as much as the read of a small message.
CHUNK = 64 * 1024
#: Bytes that the sending thread writes itself. On Linux the socket takes so many as a whole or not
#: at all: an interrupt of the main thread must not come between a part of them and the rest.
ATOMIC = 32 * 1024

Message = messages.Message


class _Part(msgspec.Struct, frozen=True):
    """A part of a message."""

    #: Tells the parts of one message from those of another.
    of: int
    text: str
    last: bool = False


_part = make_decoder(_Part)


class Peer:
    """A connection. `on_message` and `on_end` are called by its reader."""

    def __init__(
        self,
        connection: socket.socket,
        on_message: Callable[[Peer, Message], None],
        on_end: Callable[[Peer], None],
        name: str,
        *,
        largest_whole: int = LARGEST_WHOLE,
    ) -> None:
        self._socket = connection
        self._largest_whole = largest_whole
        self._on_message = on_message
        self._on_end = on_end
        self._reader = OwnThread(self._read, f"{name} reader")
        #: Started by the reader: a thread that starts one waits for an event, where an interrupt of
        #: the main thread may leave a lock locked.
        self._writer = OwnThread(self._write, f"{name} writer")
        self._numbers = itertools.count()
        #: Bytes that were received. This and the fields below belong to the reader.
        self._frames = FrameReader(LARGEST_MESSAGE)
        self._garbage = 0
        #: Parts of messages that are incomplete, their size, and the bytes of malformed messages.
        self._parts: dict[int, list[str]] = {}
        self._parts_size = 0
        self._malformed = 0
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
        if len(body) > LARGEST_MESSAGE:
            parts = self._split(body)
        else:
            parts = [frame(body)]
        with self._lock:
            if self._ended or (optional and self._queued > EVENT_QUEUE):
                return False
            too_slow = self._queued > LONGEST_QUEUE
            if not too_slow:
                for part in parts:
                    self._put(part)
        if too_slow:
            self.end("it does not read what it is sent")
        return not too_slow

    def _split(self, body: bytes) -> list[bytes]:
        text, number = body.decode(), next(self._numbers)
        starts = range(0, len(text), PART)
        return [
            frame(
                messages.notification(
                    PART_METHOD, _Part(number, text[at : at + PART], last=at == starts[-1])
                )
            )
            for at in starts
        ]

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
                self._take(body)
            self.end("the connection was closed")
        except OSError as problem:
            self.end(f"the connection was lost: {problem.strerror or problem}")
        except _TooMuch as problem:
            self.end(str(problem))
        except Exception:
            log.exception("the reader of a connection failed")
            self.end("its reader failed")
        self._on_end(self)
        if joined([self._writer]):
            self._socket.close()  # also where nobody calls `close`: the other side has ended

    def _bodies(self) -> Iterator[bytes]:
        """The messages, until the end."""
        while True:
            if self._frames.skipped > self._garbage:
                self._garbage = self._frames.skipped
                self._refuse(f"{self._garbage} bytes are not a message")
            if self._frames.error is not None or self._garbage > MOST_GARBAGE:
                self._refuse(str(self._frames.error or "what it sends is not JSON-RPC"))
                return
            data = self._socket.recv(CHUNK)
            if not data:
                return
            yield from self._split_frames(data)

    def _split_frames(self, data: bytes) -> Sequence[bytes]:
        """The messages that are complete with these bytes."""
        # Usually one whole message: to see that takes a third of the time of `feed`.
        first = first_frame(data) if self._frames.between else None
        if first is not None and first[1] == len(data) <= LARGEST_MESSAGE:
            return first[:1]
        return self._frames.feed(data)

    def _refuse(self, why: str) -> None:
        self.send(messages.error_response(b"null", messages.PARSE_ERROR, why))

    def _take(self, body: bytes) -> None:
        message = messages.parse(body)
        # `isinstance` is slow where a type of msgspec does not match.
        if type(message) is messages.NotificationMessage and message.method == PART_METHOD:
            whole = self._joined(message.params or b"null")
            if whole is None:
                return
            message = messages.parse(whole)
        self._on_message(self, message)
        if type(message) is messages.Malformed:
            self._malformed += len(body)
            if self._malformed > MOST_MALFORMED:
                raise _TooMuch(f"it sent {self._malformed} bytes of messages that are malformed")

    def _joined(self, raw: bytes) -> bytes | None:
        """The message whose last part this is; None if more are to come."""
        try:
            part = _part.decode(raw)
        except msgspec.DecodeError as problem:
            raise _TooMuch(f"it sent a part that cannot be read: {problem}") from None
        self._parts.setdefault(part.of, []).append(part.text)
        self._parts_size += max(len(part.text), SMALLEST_PART)
        if self._parts_size > self._largest_whole:
            raise _TooMuch(f"it sent a message of more than {self._largest_whole} bytes")
        if not part.last:
            return None
        texts = self._parts.pop(part.of)
        self._parts_size -= sum(max(len(text), SMALLEST_PART) for text in texts)
        return "".join(texts).encode()

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


class _TooMuch(Exception):
    """The peer sends what cannot be taken."""


def error_body(id: bytes, code: int, message: str, data: Any = None) -> bytes:
    """An error response with data."""
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return messages.encode({"jsonrpc": "2.0", "id": msgspec.Raw(id), "error": error})
