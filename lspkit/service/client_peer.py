"""The client's end of a connection to the service, where callers may read their own answers.

Usually the answer to a request is the next message. Then the caller that waits for it reads it: a
reader thread in between would cost two switches between threads. The caller looks at what has
arrived without taking it, and takes it only if it is the answer, whole. Everything else is left to
the reader thread, so an interrupt of the caller can lose nothing but its own answer.

While a caller reads, the reader thread is not woken by arrivals: its `epoll` does not ask for them.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Sized

from lspkit.protocol.wire import messages
from lspkit.protocol.wire.framing import first_frame
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.service.peer import CHUNK, Message, Peer

#: Seconds for which a caller reads. After that the reader thread does, and wakes it: it may be
#: woken by other threads as well.
OWN_READ = 0.005
#: Bytes of an answer that a caller reads. Reading a large one twice would take longer.
LARGEST_OWN = 16 * 1024
_TIMEOUT = struct.pack("@ll", 0, int(OWN_READ * 1_000_000))


class ClientPeer(Peer):
    """A connection to the service. Where there is no `epoll`, only its thread reads."""

    def __init__(
        self,
        connection: socket.socket,
        on_message: Callable[[Peer, Message], None],
        on_end: Callable[[Peer], None],
        name: str,
    ) -> None:
        super().__init__(connection, on_message, on_end, name)
        #: Held by whoever reads from the socket. A caller holds it for `OWN_READ` seconds at most.
        self._reading = threading.Lock()
        #: Whether the reader thread has bytes that it has not handled yet.
        self._handling = False
        self._number = connection.fileno()
        self._arrivals: select.epoll | None = None
        if hasattr(select, "epoll"):
            self._arrivals = select.epoll()
            self._arrivals.register(self._number, select.EPOLLIN)
            # For callers: the reader thread never waits in `recv`.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEOUT)

    # The reader thread

    def _receive(self) -> bytes:
        if self._arrivals is None:
            return super()._receive()
        self._handling = False
        while True:
            self._arrivals.poll()
            with self._reading:
                try:
                    data = self._socket.recv(CHUNK, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    continue  # a caller has read it
                self._handling = True
                return data

    # Callers

    def read_answer(self, number: int, waiter: Waiter) -> Message | None:
        """Wait for the answer to a request for a moment, and read it in this thread.

        None if another message comes first, or another thread reads: then the reader thread
        completes the waiter, or has done so.
        """
        arrivals = self._arrivals
        if arrivals is None:
            return None
        # An interrupt may come after each call of a function. So the lock is taken and noted in one
        # call of C code, and each of the two `finally` begins with the call that must happen.
        held: list[bool] = []
        try:
            held.extend(map(self._reading.acquire, (False,)))
            if not held[0] or self._handling or waiter.done or self._ended:
                return None
            if not self._frames.between:
                return None
            try:
                arrivals.modify(self._number, 0)
                return self._own_answer(number)
            finally:
                arrivals.modify(self._number, select.EPOLLIN)
        finally:
            if held and held[0]:
                self._reading.release()

    def _own_answer(self, number: int) -> Message | None:
        try:
            found = first_frame(self._socket.recv(LARGEST_OWN, socket.MSG_PEEK))
        except OSError:
            return None  # nothing has come, or the connection is lost: the reader thread sees that
        if found is None:
            return None
        body, size = found
        result = messages.result_in(body, number)
        if result is None:
            return None
        self._socket.recv(size, socket.MSG_DONTWAIT)
        return messages.ResponseMessage(number, result)

    # The end

    def _close_socket(self) -> None:
        with self._reading:
            super()._close_socket()
            if self._arrivals is not None:
                self._arrivals.close()

    def drop_after_fork(self) -> None:
        """In a forked child: the connection belongs to the parent."""
        super().drop_after_fork()
        if self._arrivals is not None:
            self._arrivals.close()


class AnswerWaiter(Waiter, eq=False, kw_only=True):
    """Waits for an answer; a thread that blocks on it reads the answer itself, if it can."""

    peer: ClientPeer
    number: int
    #: All requests without an answer.
    pending: Sized

    def wait(self, timeout: float) -> bool:
        """Block until it is complete, woken, or the time is up; True if complete."""
        if not self.done and timeout > OWN_READ and len(self.pending) == 1:
            answer = self.peer.read_answer(self.number, self)
            if answer is not None:
                self.complete(answer)
                return True
            timeout -= OWN_READ
        return super().wait(timeout)
