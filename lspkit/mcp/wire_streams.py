"""The wire of an MCP client: messages on lines, read and written by threads of their own.

The stdio transport of the SDK hangs on SIGINT, since its reader blocks the end of the event loop.
Here the threads are daemons, and the loop does not wait for them.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import queue
from collections.abc import Callable, Iterator

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from lspkit.runtime.concurrency.threads import OwnThread

#: Bytes of one message.
LONGEST_LINE = 32 * 1024 * 1024
#: Bytes that are read at once.
CHUNK = 1 << 16

Received = SessionMessage | Exception


class Descriptors(msgspec.Struct, frozen=True):
    """Where messages are read, and where they are written. A `Wire` closes both."""

    input: int
    output: int


def split_lines(read: Callable[[], bytes]) -> Iterator[bytes | Exception]:
    """The lines of an input until its end. A line that is too long is an error, and skipped."""
    held, skipping = bytearray(), False
    while data := read():
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = bytes(held) + line
            held.clear()
            if not skipping and whole.strip():
                yield whole
            skipping = False
        if not skipping:
            held += rest
        if len(held) > LONGEST_LINE:
            held.clear()
            skipping = True
            yield ValueError(f"a message has more than {LONGEST_LINE} bytes")


class Wire:
    """Connects two descriptors with the streams that the SDK's server takes."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._loop = asyncio.get_running_loop()
        self._received, self.incoming = anyio.create_memory_object_stream[Received](0)
        self.outgoing, self._to_send = anyio.create_memory_object_stream[SessionMessage](0)
        #: Lines to write, each with the future that is completed then; None ends the thread.
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._reader = OwnThread(self._read, "mcp-in")
        self._writer = OwnThread(self._write, "mcp-out")

    def start(self) -> None:
        """Begin to read and to write."""
        self._reader.start()
        self._writer.start()

    def close(self) -> None:
        """Close the streams; the threads end as soon as they return from the system."""
        self._lines.put(None)
        for stream in (self._received, self.incoming, self.outgoing, self._to_send):
            stream.close()

    # Reading: in a thread

    def _read(self) -> None:
        gone = (anyio.BrokenResourceError, anyio.ClosedResourceError)
        try:
            # The loop may have ended: then nobody waits for messages any more.
            with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError, *gone):
                for line in split_lines(self._chunk):
                    self._hand_over(_parse(line))
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._received.close)
        finally:
            os.close(self._descriptors.input)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptors.input, CHUNK)
        except OSError:
            return b""

    def _hand_over(self, message: Received) -> None:
        """Wait until the server takes a message, so that no more than one is held here."""
        coroutine = self._received.send(message)
        try:
            taken = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            raise
        taken.result()

    # Writing

    async def write_all(self) -> None:
        """Write what the server sends, until its end. Raises an `OSError` if nobody reads."""
        async with self._to_send:
            async for sent in self._to_send:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                written = self._loop.create_future()
                self._lines.put((text.encode() + b"\n", written))
                await written

    def _write(self) -> None:
        try:
            while (item := self._lines.get()) is not None:
                line, written = item
                problem = self._write_line(line)
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(_complete, written, problem)
        finally:
            os.close(self._descriptors.output)

    def _write_line(self, line: bytes) -> OSError | None:
        try:
            while line:
                line = line[os.write(self._descriptors.output, line) :]
        except OSError as problem:
            return problem
        return None


def _parse(line: bytes | Exception) -> Received:
    if isinstance(line, Exception):
        return line
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        return problem


def _complete(written: asyncio.Future[None], problem: OSError | None) -> None:
    if written.done():
        return
    if problem is None:
        written.set_result(None)
    else:
        written.set_exception(problem)
