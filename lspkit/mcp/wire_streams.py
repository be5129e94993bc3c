"""The wire of an MCP client: messages on lines, read and written by threads of their own.

The stdio transport of the SDK hangs on SIGINT, since its reader blocks the end of the event loop.
Here the threads are daemons, and the loop does not wait for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from lspkit.agent.tools.envelope import to_json
from lspkit.runtime.concurrency.threads import OwnThread

log = logging.getLogger("lspkit.mcp")

#: Bytes of one message.
LONGEST_LINE = 32 * 1024 * 1024
#: Requests without an answer, as long as which no further one is passed on.
MOST_UNANSWERED = 256
#: Seconds after which a client that has so many, and reads nothing, is given up.
UNREAD_SECONDS = 60.0
#: Bytes that are read at once.
CHUNK = 1 << 16

Received: TypeAlias = SessionMessage | Exception


class BadRequest(ValueError):
    """A request that is not one of JSON-RPC, but has a number. Its client waits for an answer."""

    def __init__(self, number: int | str) -> None:
        super().__init__("the request is not valid")
        self.number = number

    def answer(self) -> SessionMessage:
        """The error for the client."""
        error = ErrorData(code=INVALID_REQUEST, message=str(self))
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=self.number, error=error))


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
        #: What was read, None at the end; and whether the server has taken a message.
        self._messages: asyncio.Queue[Received | None] = asyncio.Queue()
        self._taken: queue.SimpleQueue[bool] = queue.SimpleQueue()
        #: Lines to write, each with the future that is completed then; None ends the thread.
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        #: The numbers of requests without an answer, and what is set when one is answered. On the
        #: event loop only.
        self._unanswered: set[int | str] = set()
        self._answered = asyncio.Event()
        self._reader = OwnThread(self._read, "mcp-in")
        self._writer = OwnThread(self._write, "mcp-out")

    def start(self) -> None:
        """Begin to read and to write."""
        self._reader.start()
        self._writer.start()

    def close(self) -> None:
        """Close the streams; the threads end as soon as they return from the system."""
        self._lines.put(None)
        self._taken.put(False)
        for stream in (self._received, self.incoming, self.outgoing, self._to_send):
            stream.close()

    # Reading

    async def read_all(self) -> None:
        """Pass messages on to the server, until the end of the input."""
        async with self._received:
            while (message := await self._messages.get()) is not None:
                if not await self._has_room(message):
                    log.warning("the client does not read")
                    return
                try:
                    if isinstance(message, BadRequest):
                        await self.outgoing.send(message.answer())
                    else:
                        await self._received.send(message)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the server has ended
                self._taken.put(True)

    async def _has_room(self, message: Received) -> bool:
        """Note a request. Waits if too many have no answer; False if the client reads none."""
        plain = message.message if isinstance(message, SessionMessage) else None
        if isinstance(plain, JSONRPCNotification) and plain.method == "notifications/cancelled":
            self._forget_request((plain.params or {}).get("requestId"))
        if not isinstance(plain, JSONRPCRequest):
            return True
        while len(self._unanswered) >= MOST_UNANSWERED:
            self._answered.clear()
            with anyio.move_on_after(UNREAD_SECONDS) as scope:
                await self._answered.wait()
            if scope.cancelled_caught and self._to_send.statistics().tasks_waiting_send:
                return False
        self._unanswered.add(plain.id)
        return True

    def _forget_request(self, number: object) -> None:
        """A request is answered, or its client does not want the answer any more."""
        if isinstance(number, int | str):
            self._unanswered.discard(number)
            self._answered.set()

    def _read(self) -> None:
        try:
            for line in split_lines(self._chunk):
                # No more than one message is held here.
                if not self._hand_over(_parse(line)) or not self._taken.get():
                    return
            self._hand_over(None)
        finally:
            os.close(self._descriptors.input)

    def _hand_over(self, message: Received | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._messages.put_nowait, message)
        except RuntimeError:  # the loop has ended
            return False
        return True

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptors.input, CHUNK)
        except OSError:
            return b""

    # Writing

    async def write_all(self) -> None:
        """Write what the server sends, until its end. Raises an `OSError` if nobody reads."""
        async with self._to_send:
            async for sent in self._to_send:
                written = self._loop.create_future()
                self._lines.put((_encode(sent.message), written))
                await written
                if isinstance(sent.message, JSONRPCResponse | JSONRPCError):
                    self._forget_request(sent.message.id)

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
    except ValueError:
        return _parse_leniently(line)


def _parse_leniently(line: bytes) -> Received:
    """Also with lone surrogates in texts. A request that cannot be read is a `BadRequest`."""
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as problem:
        return problem
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except ValueError as problem:
        number = plain.get("id") if isinstance(plain, dict) and "method" in plain else None
        if isinstance(number, int | str) and not isinstance(number, bool):
            return BadRequest(number)
        return problem


def _encode(message: Any) -> bytes:
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # lone surrogates, for example in a path that is not UTF-8
        text = to_json(message.model_dump(mode="python", by_alias=True, exclude_unset=True))
    return str(text).encode() + b"\n"


def _complete(written: asyncio.Future[None], problem: OSError | None) -> None:
    if written.done():
        return
    if problem is None:
        written.set_result(None)
    else:
        written.set_exception(problem)
