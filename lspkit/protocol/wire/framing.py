"""Splits a server's byte stream into message bodies, and frames outgoing bodies.

A body is bytes; `messages.py` decodes it.

The reader is between messages, inside a header block, or inside a body. Outside a body it works
line by line, so no byte is examined twice however the stream is chunked; a body grows in one buffer
that is returned without a copy. Some servers print to stdout, so text between two messages is
skipped and counted. After an invalid length the next message cannot be found: the stream ends with
an error.
"""

from __future__ import annotations

import io
import re

from lspkit.errors import FramingError

#: Bytes of one header block, from its first header to the empty line that ends it.
MAX_HEADER = 8 * 1024
#: Bytes of one message body.
MAX_BODY = 256 * 1024 * 1024
#: Bytes of skipped text that are kept for display.
SAMPLE_SIZE = 200

# Nearly every message starts like this. Eight digits are less than MAX_BODY, so that a match needs
# no further check.
_PLAIN_BLOCK = re.compile(rb"Content-Length: ([0-9]{1,8})\r\n\r\n")
# A name has no spaces and no brackets, which distinguishes most log lines from a header.
_NAME = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:")
# A header at the end of a line of printed text. After a hyphen it is part of a longer name.
_GLUED_LENGTH = re.compile(rb"(?<!-)content-length[ \t]*:[ \t]*([0-9]+)[ \t]*\r\n\Z", re.IGNORECASE)
_CHARSET = re.compile(rb";[ \t]*charset[ \t]*=[ \t]*\"?([^\";]*)", re.IGNORECASE)
# ASCII is UTF-8 as well. Compared in lower case and without hyphens.
_CHARSETS = frozenset({b"utf8", b"ascii", b"usascii"})
# Headers that are interpreted. Others are ignored.
_KNOWN = frozenset({b"content-length", b"content-type"})
# Bytes at the end of a line that may be such a header. The rest of a long line is not kept.
_TAIL = 128


def frame(body: bytes) -> bytes:
    """The bytes that carry `body` to the server.

    >>> frame(b"{}")
    b'Content-Length: 2\\r\\n\\r\\n{}'
    """
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def first_frame(data: bytes) -> tuple[bytes, int] | None:
    """The body of the frame that `data` begins with, and the size of that frame.

    None if it is incomplete, or does not begin in the usual way: then a `FrameReader` is needed.

    >>> first_frame(b"Content-Length: 2\\r\\n\\r\\n{}Content-")
    (b'{}', 23)
    """
    block = _PLAIN_BLOCK.match(data)
    if block is None:
        return None
    start = block.end()
    stop = start + int(block[1])
    return (data[start:stop], stop) if stop <= len(data) else None


class FrameReader:
    """Collects the server's output until bodies are complete. One per stream, for one thread.

    `max_body` is the largest body in bytes that is accepted.

    >>> reader = FrameReader()
    >>> reader.feed(b"starting up\\nContent-Length: 2\\r\\n\\r\\n{")
    []
    >>> reader.feed(b"}")
    [b'{}']
    >>> reader.skipped
    12
    """

    __slots__ = (
        "_block",
        "_body",
        "_glued",
        "_length",
        "_line",
        "_max_body",
        "_missing",
        "_printed",
        "error",
        "skipped",
        "skipped_sample",
    )

    #: Why the stream cannot be read any further. Once set, `feed` returns nothing more.
    error: FramingError | None
    #: Bytes that were neither header nor body.
    skipped: int
    #: The first of them.
    skipped_sample: bytes

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self.error = None
        self.skipped = 0
        self.skipped_sample = b""
        # The incomplete line, and whether it is too long for a header.
        self._line = bytearray()
        self._printed = False
        # Size of the header block so far, 0 between messages, and its Content-Length.
        self._block = 0
        self._length: int | None = None
        # A first line with a header after printed text: the text, and the header's value. It is
        # used only if the block has no other length.
        self._glued: tuple[bytes, bytes] | None = None
        # The body so far, and the number of missing bytes (None outside a body).
        self._body: io.BytesIO | None = None
        self._missing: int | None = None

    def __repr__(self) -> str:
        if self.error is not None:
            place = "broken"
        elif self._missing is not None:
            place = f"body, {self._missing} bytes to come"
        else:
            place = "header" if self._block or self._line else "between messages"
        return f"<FrameReader: {place}, {self.skipped} bytes skipped>"

    @property
    def inside(self) -> bool:
        """Whether a message has begun and is incomplete."""
        return self._missing is not None or bool(self._block)

    @property
    def between(self) -> bool:
        """Whether the next byte is the first one of a message, or of printed text."""
        return self._missing is None and not self._block and not self._line

    def feed(self, data: bytes) -> list[bytes]:
        """Process the next bytes of the stream. Returns the completed bodies, in order."""
        bodies: list[bytes] = []
        if self.error is not None:
            return bodies
        position, end = 0, len(data)
        if self._body is not None and self._missing is not None and end < self._missing:
            # In the middle of a long body, which may come in thousands of chunks.
            self._body.write(data)
            self._missing -= end
            return bodies
        try:
            while position < end:
                if self._missing is not None:
                    position = self._read_body(data, position, bodies)
                    continue
                if not self._block and not self._line:
                    block = _PLAIN_BLOCK.match(data, position)
                    if block is not None:
                        position = block.end()
                        stop = position + self._checked(int(block[1]))
                        if stop <= end:
                            bodies.append(data[position:stop])
                            position = stop
                        else:
                            self._missing = stop - position
                        continue
                position = self._read_line(data, position)
                if self._missing == 0:
                    bodies.append(b"")
                    self._missing = None
        except FramingError as error:
            self.error = error
            self._line = bytearray()
        return bodies

    def _checked(self, length: int) -> int:
        if length > self._max_body:
            raise _framing_error(
                f"a Content-Length of {length}; the most that is read is {self._max_body}"
            )
        return length

    def _read_body(self, data: bytes, position: int, bodies: list[bytes]) -> int:
        missing = self._missing or 0
        part = data[position : position + missing]
        self._missing = missing - len(part)
        if self._body is None and not self._missing:
            bodies.append(part)
        else:
            # `BytesIO.getvalue` returns its buffer without a copy, so a body in many chunks is
            # never in memory twice.
            if self._body is None:
                self._body = io.BytesIO()
            self._body.write(part)
            if not self._missing:
                bodies.append(self._body.getvalue())
                self._body = None
        if not self._missing:
            self._missing = None
        return position + len(part)

    def _read_line(self, data: bytes, position: int) -> int:
        """Read up to the end of the line, or of `data`."""
        stop = data.find(b"\n", position) + 1
        if not stop:
            self._line += data[position:]
            self._check_size(self._line)
            return len(data)
        if self._line:
            self._line += data[position:stop]
            line = bytes(self._line)
            self._line.clear()
        else:
            line = data[position:stop]
        self._check_size(line)
        if self._block:
            self._block += len(line)
            self._inner_line(line)
        else:
            self._outer_line(line)
            self._printed = False
        return stop

    def _check_size(self, line: bytes | bytearray) -> None:
        """Refuse a header block that is too long. Printed text may have any length."""
        if self._block + len(line) <= MAX_HEADER and not self._printed:
            return
        if not self._printed:
            if self._block or _NAME.match(line, 0, MAX_HEADER):
                raise _framing_error(f"a header block of more than {MAX_HEADER} bytes")
            self._printed = True
        if len(self._line) > _TAIL:
            self._skip(self._line[:-_TAIL])
            del self._line[:-_TAIL]

    def _outer_line(self, line: bytes) -> None:
        """A line between messages: the first header of a block, or printed text."""
        name = None if self._printed else _NAME.match(line)
        if name is not None and name[1].lower() in _KNOWN:
            self._block = len(line)
            self._header(name[1].lower(), line[name.end() :])
            return
        # A header after printed text, and any other `word: text`, begins a block if the line ends
        # with CRLF. A line with a bare newline was printed: it may only mention a length.
        glued = _GLUED_LENGTH.search(line[-_TAIL:])
        if glued is not None:
            printed = line[: len(line) - len(glued[0])]
            self._glued = printed, glued[1]
            self._block = len(glued[0])
        elif name is not None and line.endswith(b"\r\n"):
            self._block = len(line)
        else:
            self._skip(line)

    def _inner_line(self, line: bytes) -> None:
        """A line of an open header block."""
        if line in (b"\r\n", b"\n"):
            self._end_block()
            return
        name = _NAME.match(line)
        if name is None:
            self._skip(line)
        else:
            self._header(name[1].lower(), line[name.end() :])

    def _header(self, name: bytes, value: bytes) -> None:
        if name == b"content-length":
            length = self._checked(_decimal(value.strip()))
            if self._length is not None and self._length != length:
                raise _framing_error(
                    f"two Content-Length headers that differ, {self._length} and {length}"
                )
            self._length = length
        elif name == b"content-type":
            charset = _CHARSET.search(value)
            if charset is not None:
                spelling = charset[1].strip().lower().replace(b"-", b"")
                if spelling not in _CHARSETS:
                    raise _framing_error(
                        f"a body in the charset {_display(charset[1])} instead of utf-8"
                    )

    def _end_block(self) -> None:
        length = self._length
        if self._glued is not None:
            printed, value = self._glued
            self._skip(printed)
            length = self._checked(_decimal(value)) if length is None else length
        if length is None:
            raise _framing_error("a header block without Content-Length")
        self._block, self._length, self._glued = 0, None, None
        self._missing = length

    def _skip(self, text: bytes | bytearray) -> None:
        self.skipped += len(text)
        if len(self.skipped_sample) < SAMPLE_SIZE:
            self.skipped_sample += text[: SAMPLE_SIZE - len(self.skipped_sample)]


def _decimal(digits: bytes) -> int:
    """The value of a Content-Length header."""
    if not digits.isdigit():
        raise _framing_error(
            f"a Content-Length of {_display(digits)}, which is not a decimal number"
        )
    # Converting thousands of digits would take long.
    digits = digits.lstrip(b"0") or b"0"
    if len(digits) > len(str(MAX_BODY)) or int(digits) > MAX_BODY:
        raise _framing_error(
            f"a Content-Length of {_display(digits)}; the most that is read is {MAX_BODY}"
        )
    return int(digits)


def _display(value: bytes) -> str:
    text = value.strip().decode("ascii", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _framing_error(what: str) -> FramingError:
    return FramingError(
        f"the server sent {what}. The start of its next message is not known, so the connection is "
        "closed; restart the server, and report this to its authors if it happens again"
    )
