"""Checked edits of one text, and its encoding. Values only.

A file is an optional byte order mark and UTF-8 text. The mark is kept, and so is every byte that no
edit covers. Text that servers insert gets the line breaks of the file.
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

#: A file with a NUL byte among its first bytes, this many, is not text.
LOOK_FOR_NUL = 8192

_BREAK = re.compile(r"\r\n|\n")
_ANY_BREAK = re.compile(r"\r\n|\r")


class Span(msgspec.Struct, frozen=True):
    """A replacement of a part of a text, by offsets."""

    start: int
    end: int
    new: str


def decode(data: bytes, name: str) -> tuple[bytes, str]:
    """The byte order mark of a file, empty if it has none, and its text."""
    if b"\0" in data[:LOOK_FOR_NUL]:
        raise PathError(f"{name} is not text: it has NUL bytes", code="EBINARY", path=name)
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, data[len(mark) :].decode()
    except UnicodeDecodeError as problem:
        message = f"{name} is not UTF-8 text: byte {problem.start + len(mark)} is invalid"
        raise PathError(message, code="EBINARY", path=name) from None


def encode(mark: bytes, text: str, name: str) -> bytes:
    """The bytes of a text."""
    try:
        return mark + text.encode()
    except UnicodeEncodeError as problem:
        character = problem.object[problem.start]
        message = f"the new text of {name} has {character!r}, which is not valid UTF-8"
        raise PathError(message, code="EBINARY", path=name) from None


def spans(text: str, edits: Iterable[TextEdit], name: str) -> list[Span]:
    """The edits as sorted offsets; `PositionError` for a bad position or an overlap."""
    lines, replacements, at = Text(text), list[Span](), 0
    # Stable: insertions at one position keep their order.
    for edit in sorted(edits, key=lambda edit: edit.range):
        start, end = (_offset(lines, place, name) for place in (edit.range.start, edit.range.end))
        if start > end:
            raise PositionError(f"{name}: the edit at {edit.range} ends before it starts")
        if start < at:
            message = f"{name}: the edit at {edit.range} overlaps the one before it"
            raise PositionError(f"{message}; nothing was written, request the change again")
        replacements.append(Span(start, end, edit.new_text))
        at = end
    return replacements


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
    message = f"{what}, only {bounds}; nothing was written, request the change again"
    return PositionError(message, bounds=bounds)


def apply_spans(text: str, spans: Iterable[Span]) -> str:
    """The text after the edits."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += [text[at : span.start], span.new]
        at = span.end
    return "".join([*pieces, text[at:]])


def convert_line_breaks(text: str, spans: Iterable[Span]) -> list[Span]:
    """The edits with the most frequent line break of the text.

    An edit that replaces one kind of line break by another, as some linters propose, is kept.
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
    """The most frequent line break, by default `\\n`; empty for a text of one line."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    usual = max(counts, key=lambda line_break: counts[line_break])
    return usual if counts[usual] else ""


def _to_newlines(text: str) -> str:
    return _ANY_BREAK.sub("\n", text)
