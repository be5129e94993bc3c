"""Bytes in and bytes out of the scripted server.

Reading is strict: the server is a witness against its client, so anything that is not an exact
frame raises Torn. Writing is lax: a frame can be given any header, be cut in half, be dripped,
or carry bytes that are no UTF-8. Nothing here knows what a message means.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False  # `typing` itself takes longer to import than the rest of the server.
if TYPE_CHECKING:
    from typing import Any

#: The header of a well-behaved frame. `{length}` is replaced by the number of bytes.
HEADER = "Content-Length: {length}\r\n\r\n"

#: A character that no script uses; it stands for bytes which JSON cannot be made to write.
STAND_IN = "\ue0ff"

_READ_SIZE = 1 << 16


class Torn(Exception):
    """The client sent something that is no frame."""


class Input:
    """Cuts what arrives on a descriptor into messages."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._buffer = bytearray()
        self._body: int | None = None  # length of the body that is being waited for

    def read(self) -> list[Any] | None:
        """The messages completed by one read, which blocks if nothing is there; None at the end."""
        data = os.read(self.descriptor, _READ_SIZE)
        if not data:
            if self._buffer or self._body is not None:
                raise Torn(f"end of input inside a frame, after {bytes(self._buffer[:200])!r}")
            return None
        self._buffer += data
        messages = []
        while (body := self._next_body()) is not None:
            messages.append(_decode(body))
        return messages

    def _next_body(self) -> bytes | None:
        if self._body is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                _check_start(self._buffer)
                return None
            self._body = _length(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
        if len(self._buffer) < self._body:
            return None
        body = bytes(self._buffer[: self._body])
        del self._buffer[: self._body]
        self._body = None
        return body


def _check_start(buffer: bytearray) -> None:
    """Notices a torn stream without waiting for an end of header that may never come."""
    start = bytes(buffer[:8]).lower()
    if not b"content-".startswith(start) or len(buffer) > 8192:
        raise Torn(f"no header: {bytes(buffer[:200])!r}")


def _length(header: bytes) -> int:
    length = None
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or name.lower() not in (b"content-length", b"content-type"):
            raise Torn(f"no header: {header[:200]!r}")
        if name.lower() == b"content-length":
            if length is not None or not value.strip().isdigit():
                raise Torn(f"bad length: {header[:200]!r}")
            length = int(value)
    if length is None:
        raise Torn(f"header without a length: {header[:200]!r}")
    return length


def _decode(body: bytes) -> Any:
    try:
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Torn(f"body is no JSON ({error}): {body[:200]!r}") from error
    if not isinstance(message, dict):
        raise Torn(f"body is no JSON object: {body[:200]!r}")
    return message


def encode(message: Any, stand_in: bytes | None = None) -> bytes:
    """The JSON of a message; `stand_in` replaces every STAND_IN in it, whatever bytes it holds."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    data = body.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
    if stand_in is not None:
        data = data.replace(STAND_IN.encode(), stand_in)
    return data


def frame(body: bytes, header: str = HEADER) -> bytes:
    return header.replace("{length}", str(len(body))).encode("utf-8") + body


class Output:
    """Writes to a descriptor until told to be quiet; a reader that went away makes it quiet."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.mute = False

    def write(self, data: bytes, *, drip: float | None = None) -> None:
        """Writes everything. With `drip`, one byte per system call and that many seconds apart."""
        step = len(data) if drip is None else 1
        view = memoryview(data)
        while view and not self.mute:
            try:
                view = view[os.write(self.descriptor, view[:step]) :]
            except BrokenPipeError:
                self.mute = True
            if drip:
                time.sleep(drip)

    def close(self) -> None:
        if not self.mute:
            self.mute = True
            os.close(self.descriptor)
