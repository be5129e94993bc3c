"""Edits of one text, checked; and the bytes that a text stands for. Nothing but values.

The bytes of a file are an optional byte order mark and UTF-8. Both stay as they are, and so does
every byte that no edit covers. Servers write line breaks of their own liking; what they insert
gets those of the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

import msgspec

from lspkit.edit_types import TextEdit
from lspkit.errors import PathError, PositionError
from lspkit.protocol.text import Text
from lspkit.types import Position

#: A NUL byte in so many first bytes means that a file is no text.
LOOK_FOR_NUL = 8192

_BREAK = re.compile(r"\r\n|\n")
_ANY_BREAK = re.compile(r"\r\n|\r")


class Span(msgspec.Struct, frozen=True):
    """What takes the place of a stretch of a text."""

    start: int
    end: int
    new: str


def decode(data: bytes, name: str) -> tuple[bytes, str]:
    """The byte order mark of a file, if it has one, and its text."""
    if b"\0" in data[:LOOK_FOR_NUL]:
        raise PathError(f"{name} is no text: it has NUL bytes", code="EBINARY", path=name)
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, data[len(mark) :].decode()
    except UnicodeDecodeError as problem:
        message = f"{name} is not UTF-8 text: byte {problem.start + len(mark)} makes no sense"
        raise PathError(message, code="EBINARY", path=name) from None


def encode(mark: bytes, text: str, name: str) -> bytes:
    """The bytes of a text."""
    try:
        return mark + text.encode()
    except UnicodeEncodeError as problem:
        message = (
            f"the new text of {name} has {problem.object[problem.start]!r}, which no file can hold"
        )
        raise PathError(message, code="EBINARY", path=name) from None


def spans(text: str, edits: Iterable[TextEdit], name: str) -> list[Span]:
    """The edits by offset and in order, or a `PositionError`: a bad position, or an overlap."""
    lines, found, at = Text(text), list[Span](), 0
    # Stable: what is inserted at one place keeps its order.
    for edit in sorted(edits, key=lambda one: one.range):
        start, end = (_offset(lines, place, name) for place in (edit.range.start, edit.range.end))
        if start > end:
            raise PositionError(f"{name}: the edit at {edit.range} ends before it starts")
        if start < at:
            message = f"{name}: the edit at {edit.range} overlaps the one before it"
            raise PositionError(f"{message}; nothing was written, ask for the change again")
        found.append(Span(start, end, edit.new_text))
        at = end
    return found


def _offset(lines: Text, place: Position, name: str) -> int:
    last = lines.line_count
    # Servers write "up to the line after the last one" for a whole text.
    if place == Position(last + 1, 1):
        return len(lines.value)
    if not 1 <= place.line <= last:
        raise _position_error(f"{name} has no line {place.line}", f"line 1 to {last}")
    length = len(lines.line(place.line - 1))
    if not 1 <= place.column <= length + 1:
        what = f"line {place.line} of {name} has no column {place.column}"
        raise _position_error(what, f"column 1 to {length + 1}")
    return lines.offset(place.line - 1, place.column - 1)


def _position_error(what: str, bounds: str) -> PositionError:
    message = f"{what}, only {bounds}; nothing was written, ask for the change again"
    return PositionError(message, bounds=bounds)


def apply_spans(text: str, spans: Iterable[Span]) -> str:
    """The text with the edits done."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += [text[at : span.start], span.new]
        at = span.end
    return "".join([*pieces, text[at:]])


def convert_line_breaks(text: str, spans: Iterable[Span]) -> list[Span]:
    """The same edits, with the line breaks that most lines of the text have.

    An edit that turns a line break into another one, as some linters propose, is left alone.
    """
    usual = _usual_break(text)
    return [
        span
        if not usual or _is_about_breaks(text[span.start : span.end], span.new)
        else Span(span.start, span.end, _BREAK.sub(usual, span.new))
        for span in spans
    ]


def _is_about_breaks(old: str, new: str) -> bool:
    return bool(old) and not old.strip("\r\n") and _to_newlines(old) == _to_newlines(new)


def _usual_break(text: str) -> str:
    """`\\n` where another one is not more frequent; nothing for a text of one line."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    usual = max(counts, key=lambda one: counts[one])
    return usual if counts[usual] else ""


def _to_newlines(text: str) -> str:
    return _ANY_BREAK.sub("\n", text)
