"""From protocol positions to those that people read, and back.

Protocol positions count from 0, in units that depend on the server; people's count from 1, in
characters. To turn one into the other takes the line that it is on, unless the units are characters
already. Where the text cannot be had (a library's source is not opened), the units are shown.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from lspkit.errors import PositionError
from lspkit.operations.effects import Effect, FindPlaces, FoundFile, Reply
from lspkit.protocol.results import WirePosition, WireRange
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import normalize_uri
from lspkit.types import Location, Position, Range


def to_wire(text: Text, line: int, column: int, encoding: Encoding) -> dict[str, int]:
    """A checked position as the server counts. Out of range: a `PositionError` with the bounds."""
    if text.is_plain(line - 1, column - 1, encoding):
        return {"line": line - 1, "character": column - 1}
    if line > text.line_count:
        raise PositionError(
            f"line {line} is beyond the end: the file has lines 1 to {text.line_count}",
            bounds=f"line 1 to {text.line_count}",
        )
    length = len(text.line(line - 1))
    if column > length + 1:
        raise PositionError(
            f"column {column} is beyond the end: line {line} has columns 1 to {length + 1}",
            bounds=f"column 1 to {length + 1}",
        )
    return {"line": line - 1, "character": text.units(line - 1, column - 1, encoding)}


class Translator:
    """Turns the positions of one server's answer into people's."""

    def __init__(self, encoding: Encoding, places: dict[str, FoundFile]) -> None:
        self._encoding: Encoding = encoding
        self._places = places

    def location(self, uri: str, range: WireRange) -> Location:
        """A place in a file."""
        place = self._places[uri]
        return Location(place.path, self.range(place.text, range), uri)

    def range(self, text: Text | None, range: WireRange) -> Range:
        """A range in a text."""
        return Range(self.position(text, range.start), self.position(text, range.end))

    def position(self, text: Text | None, at: WirePosition) -> Position:
        """A place in a text; nonsense is bent to the nearest sense."""
        line, column = at.line, at.character
        if text is not None and text.is_plain(line, column, self._encoding):
            return Position(line + 1, column + 1)
        line, column = max(line, 0), max(column, 0)
        if text is not None and line < text.line_count:
            column = text.column(line, column, self._encoding)
        return Position(line + 1, column + 1)

    def exact(self, text: Text | None, range: WireRange) -> Range:
        """A range that is to be written to; a `PositionError` if nobody can have meant it."""
        return Range(self._exact(text, range.start), self._exact(text, range.end))

    def _exact(self, text: Text | None, at: WirePosition) -> Position:
        if at.line < 0 or at.character < 0:
            raise _position_error(at, "lies before the text")
        place = self.position(text, at)
        if text is None:
            return place
        if at.line == text.line_count:
            return Position(place.line, 1)  # the line after the last one stands for the end
        if at.line > text.line_count:
            return place  # there is none, which is said where the edit is made
        # Beyond the end of a line means its end. Only inside of one can a character be split.
        inside = place.column <= len(text.line(at.line))
        if inside and text.units(at.line, place.column - 1, self._encoding) != at.character:
            raise _position_error(at, "lies inside of a character")
        return place

    def place(self, uri: str) -> FoundFile:
        """The file that a URI names."""
        return self._places[uri]


def _position_error(at: WirePosition, why: str) -> PositionError:
    return PositionError(f"line {at.line}, character {at.character}, both from 0, {why}")


def make_translator(
    reply: Reply, uris: Iterable[str], *, texts: bool = False
) -> Generator[Effect, Any, Translator]:
    """A translator that knows these URIs, as the server that replied sees them.

    `texts` asks for their texts also where positions could do without.
    """
    view = reply.view
    others = tuple({uri: None for uri in uris if uri != view.uri})
    texts = texts or view.encoding != "utf-32"
    asked = FindPlaces(reply.server, view.uri, (view.uri, *others), texts)
    places: dict[str, FoundFile] = yield asked
    here = FoundFile(places[view.uri].path, view.text)
    places |= {uri: here for uri in others if normalize_uri(uri) == view.uri}
    places[view.uri] = here
    return Translator(view.encoding, places)


def sort_locations(locations: Iterable[Location]) -> list[Location]:
    """Without doubles, by path, line and column: the same on every run."""
    found = list(locations)
    if len(found) < 2:
        return found
    unique = {(str(one.path or one.uri), one.range): one for one in found}
    return [unique[key] for key in sorted(unique)]
