"""The wire of an MCP client: messages on lines, read and written by threads of their own.

The stdio transport of the SDK hangs on SIGINT, since its reader blocks the end of the event loop.
Here the threads are daemons, and the loop does not wait for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import queue
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter

from lspkit.agent.tools.envelope import to_json
from lspkit.runtime.concurrency.threads import OwnThread

Received: TypeAlias = SessionMessage | Exception
#: Completed with the problem of the write.
_Written: TypeAlias = asyncio.Future[OSError | None]


class Descriptors(msgspec.Struct, frozen=True):
    """Where messages are read, and where they are written. A `Wire` closes both."""

    input: int
    output: int


class Wire:
    """Connects two descriptors with the streams that the SDK's server takes."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._loop = asyncio.get_running_loop()
        self._received, self.incoming = anyio.create_memory_object_stream[Received](math.inf)
        self.outgoing, self._to_send = anyio.create_memory_object_stream[SessionMessage](0)
        #: Lines to write, each with the future that is completed then; None ends the thread.
        self._lines: queue.SimpleQueue[tuple[bytes, _Written | None] | None] = queue.SimpleQueue()
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

    # Reading

    def _read(self) -> None:
        """Pass messages on to the server, until the end of the input."""
        with contextlib.suppress(OSError), open(self._descriptors.input, "rb") as stream:
            for line in stream:
                message = _parse(line)
                if isinstance(message, JSONRPCError):
                    self._lines.put((_encode(message), None))
                elif message is not None:
                    self._in_loop(self._pass_on, message)
        self._in_loop(self._received.close)

    def _in_loop(self, step: Callable[..., None], *given: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(step, *given)

    def _pass_on(self, message: Received) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._received.send_nowait(message)

    # Writing

    async def write_all(self) -> None:
        """Write what the server sends, until its end. Raises an `OSError` if nobody reads."""
        async with self._to_send:
            async for sent in self._to_send:
                written: _Written = self._loop.create_future()
                self._lines.put((_encode(sent.message), written))
                if (problem := await written) is not None:
                    raise problem

    def _write(self) -> None:
        try:
            while (item := self._lines.get()) is not None:
                line, written = item
                self._in_loop(_complete, written, self._write_line(line))
        finally:
            os.close(self._descriptors.output)

    def _write_line(self, line: bytes) -> OSError | None:
        try:
            while line:
                line = line[os.write(self._descriptors.output, line) :]
        except OSError as problem:
            return problem
        return None


def _parse(line: bytes) -> Received | JSONRPCError | None:
    """The message on a line, or why it cannot be read; None for an empty line.

    A request that is not one of JSON-RPC, but has a number, has an answer: its client waits for it.
    """
    if not line.strip():
        return None
    plain: object = None
    try:
        plain = json.loads(line)  # not by the SDK, which refuses lone surrogates in texts
        return SessionMessage(jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except (ValueError, RecursionError) as problem:
        number = plain.get("id") if isinstance(plain, dict) and "method" in plain else None
        if isinstance(number, bool) or not isinstance(number, int | str):
            return problem
        error = ErrorData(code=INVALID_REQUEST, message="the request is not valid")
        return JSONRPCError(jsonrpc="2.0", id=number, error=error)


def _encode(message: Any) -> bytes:
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # lone surrogates, for example in a path that is not UTF-8
        text = to_json(message.model_dump(mode="python", by_alias=True, exclude_unset=True))
    return str(text).encode() + b"\n"


def _complete(written: _Written | None, problem: OSError | None) -> None:
    if written is not None and not written.done():
        written.set_result(problem)
