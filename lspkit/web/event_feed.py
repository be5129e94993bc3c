"""A response without an end: server-sent events, until the client or the service ends it."""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
from collections.abc import Callable

from lspkit.runtime.concurrency.event_stream import EventStream
from lspkit.types import to_plain
from lspkit.web.body_types import EventBody
from lspkit.web.http_message import encode_head

#: Events that wait for a slow reader; further ones are dropped and counted.
LONGEST_STREAM = 500
#: Seconds between two signs of life.
HEARTBEAT_SECONDS = 15.0


class EventFeed(EventStream[EventBody]):
    """The events that a filter lets pass. A socket tells when there are some.

    So one thread waits for events and for the end of the connection.
    """

    def __init__(self, passes: Callable[[EventBody], bool]) -> None:
        super().__init__(lambda count: EventBody(kind="dropped", count=count), LONGEST_STREAM)
        self._passes = passes
        #: Guarded by the lock of the stream.
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)

    def put(self, event: EventBody) -> None:
        """Add an event. Never blocks."""
        if self._passes(event):
            super().put(event)
            self._wake()

    def close(self) -> None:
        """End the stream. May be called twice."""
        super().close()
        self._wake()

    def _wake(self) -> None:
        # It may be full, which wakes as well, or closed.
        with self._lock, contextlib.suppress(OSError):
            self._writer.send(b"\0")

    def send_all(self, connection: socket.socket, keep_alive: Callable[[], None]) -> None:
        """Send events until the stream ends, or the client does not read any more."""
        try:
            connection.sendall(encode_head(200, "text/event-stream", None, {}) + b"retry: 2000\n\n")
            with selectors.DefaultSelector() as selector:
                for end in (connection, self._reader):
                    selector.register(end, selectors.EVENT_READ)
                while not self.ended:
                    keep_alive()
                    ready = [key.fileobj for key, _ in selector.select(HEARTBEAT_SECONDS)]
                    if connection in ready:
                        return  # it has ended; a client has nothing more to say
                    if self._reader in ready:
                        self._reader.recv(4096)
                    self._send_waiting(connection, bool(ready))
        finally:
            self.release()

    def release(self) -> None:
        """End the stream, and close its sockets."""
        self.close()
        with self._lock:
            self._reader.close()
            self._writer.close()

    def _send_waiting(self, connection: socket.socket, awake: bool) -> None:
        if not awake:
            connection.sendall(b": alive\n\n")
        while (event := self.get(timeout=0)) is not None:
            data = json.dumps(to_plain(event))
            connection.sendall(f"event: {event.kind}\ndata: {data}\n\n".encode())
