"""The standard output of a server, read by its reader thread, or by a caller that waits.

Usually the answer to a request is the next message. Then the caller that waits for it reads it: a
reader thread in between would cost two switches between threads. What the caller reads is kept
until it is known to be that answer, alone and whole. Everything else is left to the reader thread,
so an interrupt of the caller can lose nothing but its own answer.

A caller claims the output before it sends its request: the answer may come at once. From then on
the reader thread is not woken by output, since its `epoll` does not ask for it, until the caller
gives the output back. It is still woken by the end of the process. Where there is no `epoll`, only
the reader thread reads.
"""

from __future__ import annotations

import collections
import itertools
import operator
import os
import select
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from lspkit.runtime.process.child import close_all

T = TypeVar("T")

#: Bytes of one read: what a pipe holds. The C library takes a buffer of more than 128 KB from the
#: system and gives it back each time, which costs ten times as much as the read of a small message.
CHUNK = 64 * 1024
#: Seconds for which a caller reads. After that the reader thread does, and wakes it: it may be
#: woken by other threads as well.
OWN_READ = 0.005


def read_chunk(descriptor: int) -> bytes | None:
    """What can be read now; empty at the end, None if there is nothing."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None


#: The output that a caller has claimed; empty if it has claimed none, or given it back.
Claims = list["ServerOutput"]


class ServerOutput:
    """The output of one server, and what else its reader thread waits for."""

    def __init__(self, output: int, *others: int, input: int | None = None) -> None:
        self._output = output
        #: The other end of the server's input, until the server has closed it.
        self._input = input
        #: Held by whoever reads. A caller holds it while it sends its request, and then for
        #: `OWN_READ` seconds at most.
        self._reading = threading.Lock()
        #: What a caller has read, and was not for it alone.
        self._left: collections.deque[bytes] = collections.deque()
        #: Whether the reader thread may have bytes that it has not handled yet.
        self._handling = True
        self._closed = False
        #: For a caller; for the reader thread where there is no `epoll`.
        self._poll = select.poll()
        self._poll.register(output, select.POLLIN)
        #: Always readable: the reader thread waits for it while something is left.
        self._ready: list[int] = []
        self._arrivals: select.epoll | None = None
        try:
            self._arrivals = self._make_epoll((output, *others))
        except (OSError, AttributeError):  # no descriptor is left, or another system
            for one in others:
                self._poll.register(one, select.POLLIN)
            if input is not None:
                self._poll.register(input, 0)

    def _make_epoll(self, descriptors: tuple[int, ...]) -> select.epoll:
        arrivals = select.epoll()
        for one in descriptors:
            arrivals.register(one, select.EPOLLIN)
        if self._input is not None:
            arrivals.register(self._input, 0)  # an end without a reader is always reported
        self._ready.append(os.eventfd(1, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
        arrivals.register(self._ready[0], 0)
        return arrivals

    # The reader thread

    def wait(self, patience: float | None) -> set[int]:
        """Wait for any of the descriptors, for so many milliseconds; returns those that are ready.

        What was read before has been handled. That the input is closed is told once.
        """
        self._handling = False
        if self._arrivals is None:
            ready = {one for one, _ in self._poll.poll(patience)}
        else:
            seconds = None if patience is None else patience / 1000
            ready = {one for one, _ in self._arrivals.poll(seconds)}
            if self._ready[0] in ready:
                self._arrivals.modify(self._ready[0], 0)
                ready.add(self._output)
        if self._input in ready:
            (self._arrivals or self._poll).unregister(self._input)
            self._input = None
        return ready

    def read(self) -> bytes | None:
        """What has been sent; empty at the end, None if a caller has read it."""
        with self._reading:
            self._handling = True
            if not self._left:
                return read_chunk(self._output)
            data = b"".join(self._left)
            self._left.clear()
            return data

    # Callers

    def claim(self, claims: Claims) -> None:
        """Keep the output for the caller, if nobody reads it: then it is added to `claims`.

        The caller calls `give_back` in the end, whatever happens.
        """
        if self._arrivals is None:
            return
        # An interrupt may come after each call of a function. So the lock is taken and noted in one
        # call of C code.
        claims.extend(itertools.compress((self,), map(self._reading.acquire, (False,))))
        if not claims:
            return
        if self._handling or self._closed or self._left:
            self.give_back(claims)
        else:
            self._arrivals.modify(self._output, 0)

    def give_back(self, claims: Claims) -> None:
        """The caller that has claimed the output reads no more: the reader thread does."""
        arrivals = None if self._closed else self._arrivals
        # Each `finally` begins with the call that must happen.
        try:
            try:
                if arrivals is not None:
                    arrivals.modify(self._output, select.EPOLLIN)
            finally:
                if arrivals is not None and self._left:
                    arrivals.modify(self._ready[0], select.EPOLLIN)
        finally:
            # Both in one call of C code, so that it is not released twice.
            list(map(operator.call, (self._reading.release, claims.clear)))

    def read_own(
        self, timeout: float, find: Callable[[bytes], T | None], lacks: Callable[[bytes], int]
    ) -> T | None:
        """Wait for the next output for a moment, and return the message if it is for the caller.

        The caller has claimed it. `find` returns the message if the bytes are the answer for the
        caller. Otherwise the reader thread handles them. `lacks` tells how many bytes are missing
        of a message: many servers write its head by itself.
        """
        end: float | None = None
        while True:
            try:
                # Read and kept within one call of C code. Often the answer is there already.
                self._left.extend(map(os.read, (self._output,), (CHUNK,)))
            except BlockingIOError:
                now = time.monotonic()
                end = now + timeout if end is None else end
                if self._poll.poll(max(0.0, end - now) * 1000):
                    continue
                return None
            except OSError:
                return None  # the reader thread sees it
            data = self._left[0] if len(self._left) == 1 else b"".join(self._left)
            found = find(data)
            if found is not None:
                self._left.clear()
                return found
            if not self._left[-1] or not 0 < lacks(data) < CHUNK:
                return None

    # The end

    def shut(self) -> None:
        """The output is about to be closed: no caller reads it any more."""
        with self._reading:
            self._closed = True

    def release(self) -> None:
        """Close its own descriptors. The reader thread has ended, or this is a forked child."""
        self._closed = True
        if self._arrivals is not None:
            self._arrivals.close()
        close_all(self._ready)
