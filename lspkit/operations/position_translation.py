"""Conversion between protocol positions and lspkit's positions.

Protocol positions count from 0, in units that depend on the server; lspkit's count from 1, in
characters. The conversion needs the text of the line, unless the units are characters. If the text
is not available (library sources are not opened), the units are used as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from lspkit.errors import PositionError
from lspkit.operations.host import Host
from lspkit.operations.host_results import FoundFile, Reply
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.results import WirePosition, WireRange
from lspkit.types import Location, Position, Range

T = TypeVar("T")


def to_wire(text: Text, line: int, column: int, encoding: Encoding) -> dict[str, int]:
    """A position in the server's units; `PositionError` with the bounds if it is out of range."""
    widths = text.plain_widths(encoding)
    if 0 < line <= len(widths) and 0 < column <= widths[line - 1] + 1:
        return {"line": line - 1, "character": column - 1}  # as nearly always
    check_line(text, line)
    length = len(text.line(line - 1))
    if column > length + 1:
        raise PositionError(
            f"column {column} is beyond the end: line {line} has columns 1 to {length + 1}",
            bounds=f"column 1 to {length + 1}",
        )
    return {"line": line - 1, "character": text.units(line - 1, column - 1, encoding)}


def check_line(text: Text, line: int) -> None:
    """Raise a `PositionError` if the text has no such line, counted from 1."""
    if line > text.line_count:
        raise PositionError(
            f"line {line} is beyond the end: the file has lines 1 to {text.line_count}",
            bounds=f"line 1 to {text.line_count}",
        )


class Translator(msgspec.Struct, frozen=True):
    """Converts the positions in one server's answer."""

    encoding: Encoding
    places: dict[str, FoundFile]

    def location(self, uri: str, range: WireRange) -> Location:
        """A location in a file."""
        place = self.places[uri]
        return Location(place.path, self.range(place.text, range), uri)

    def range(self, text: Text | None, range: WireRange) -> Range:
        """A range in a text."""
        start, end = range.start, range.end
        if text is not None:
            line, first = start.line, start.character
            last, until = end.line, end.character
            widths = text.ascii_widths or text.plain_widths(self.encoding)
            # Both ends are inside their lines, as nearly always. Here and not in a method of the
            # text: answers have many ranges.
            if (
                0 <= line <= last < len(widths)
                and 0 <= first <= widths[line]
                and 0 <= until <= widths[last]
            ):
                return Range(Position(line + 1, first + 1), Position(last + 1, until + 1))
        return Range(self.position(text, start), self.position(text, end))

    def position(self, text: Text | None, at: WirePosition) -> Position:
        """A position in a text; an invalid one is moved to the nearest valid position."""
        line, column = at.line, at.character
        if text is not None and text.is_plain(line, column, self.encoding):
            return Position(line + 1, column + 1)
        line, column = max(line, 0), max(column, 0)
        if text is not None and line < text.line_count:
            column = text.column(line, column, self.encoding)
        return Position(line + 1, column + 1)

    def exact(self, text: Text | None, range: WireRange) -> Range:
        """A range that is to be edited; `PositionError` if it is invalid."""
        return Range(self._exact(text, range.start), self._exact(text, range.end))

    def _exact(self, text: Text | None, at: WirePosition) -> Position:
        if at.line < 0 or at.character < 0:
            raise _position_error(at, "is before the text")
        place = self.position(text, at)
        if text is None:
            return place
        if at.line == text.line_count:
            return Position(place.line, 1)  # the line after the last one means the end
        if at.line > text.line_count:
            return place  # refused when the edit is applied
        # A column beyond the end means the end of the line. Only a column inside the line can be
        # in the middle of a character.
        inside = place.column <= len(text.line(at.line))
        if inside and text.units(at.line, place.column - 1, self.encoding) != at.character:
            raise _position_error(at, "is inside a character")
        return place

    def place(self, uri: str) -> FoundFile:
        """The file that a URI names."""
        return self.places[uri]


def _position_error(at: WirePosition, why: str) -> PositionError:
    return PositionError(f"line {at.line}, character {at.character}, both from 0, {why}")


def make_translator(
    host: Host, reply: Reply, uris: Iterable[str], *, texts: bool = False
) -> Translator:
    """A translator for these URIs of the server that replied.

    The document of the request has the text that the server was asked about. With `texts`, the
    texts of the others are read also if the conversion does not need them.
    """
    view = reply.view
    texts = texts or view.encoding != "utf-32"
    unique = tuple(dict.fromkeys(uris))
    places = host.find_places(reply.server, view.uri, unique, texts=texts, alone=view.alone)
    for uri, place in places.items():
        if place.is_asked:
            places[uri] = FoundFile(place.path, view.text)
    return Translator(view.encoding, places)


def translate_locations(
    host: Host, reply: Reply, ranges: Sequence[tuple[str, WireRange]]
) -> list[Location]:
    """The locations that the server replied with."""
    translate = make_translator(host, reply, dict(ranges))  # each URI once
    files = translate.places
    return [
        Location((file := files[uri]).path, translate.range(file.text, range), uri)
        for uri, range in ranges
    ]


def sort_unique(items: Iterable[T], key: Callable[[T], Any]) -> list[T]:
    """The items in the order of their keys; of several with one key the first."""
    by_key: dict[Any, T] = {}
    for item in items:
        by_key.setdefault(key(item), item)
    return [by_key[value] for value in sorted(by_key)]


def sort_locations(locations: Iterable[Location]) -> list[Location]:
    """The locations without duplicates, sorted by path, line and column."""
    ordered = list(locations)
    if len(ordered) < 2:
        return ordered
    unique = {(str(place.path or place.uri), place.range): place for place in ordered}
    return [unique[key] for key in sorted(unique)]
