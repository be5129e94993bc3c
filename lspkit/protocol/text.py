"""A text as servers count it: lines, columns and the three position encodings.

lspkit counts code points, a server counts bytes of UTF-8, units of UTF-16 or code points, as was
agreed. `Text` converts between them. Versions of documents and notifications are not known here.

The width of a stretch of text is the length of its encoded form, which the codecs find in one go.
The way back is a search for the longest stretch that is not wider than asked for; that it ends
before a character which does not fit is what makes positions inside a character snap back. On
long lines the widths up to every `_STRIDE`th character are kept, so that no question about a
minified file reads all of it. ASCII needs none of this: there, all counts are the same.
"""

from __future__ import annotations

import bisect
import codecs
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Literal

import msgspec

#: The units in which the columns of a server's positions count.
Encoding = Literal["utf-8", "utf-16", "utf-32"]

# Only these end a line in the protocol; `str.splitlines` knows more.
_BREAK = re.compile(r"\r\n|\n|\r")
_STRIDE = 1024

# Python imports a codec when it is first used, which fails where no file can be opened any more.
codecs.lookup("utf-16-le")
# Lone surrogates are no text, but a server or a file name may have brought one in.
_WIDTH: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}


class Text:
    """A text that knows its lines. Nothing in it may be changed once it is made.

    Lines and columns count from 0. Places outside of the text mean the nearest place inside: the
    end of the line, or of the text. The indexes are made when they are first needed; two threads
    that need one at the same time make it twice, and either result is right.

    >>> text = Text("a\\r\\n🙂b")
    >>> text.line_count, text.line(1)
    (2, '🙂b')
    >>> text.units(1, 1, "utf-16"), text.column(1, 2, "utf-16")
    (2, 1)
    """

    __slots__ = ("_marks", "_starts", "value")

    #: The text itself.
    value: str

    def __init__(self, value: str) -> None:
        self.value = value
        self._starts: list[int] | None = None
        # Widths up to each stride of a long line, by line and encoding.
        self._marks: dict[tuple[int, str], list[int]] = {}

    def __repr__(self) -> str:
        return f"<Text: {len(self.value)} characters>"

    @property
    def line_count(self) -> int:
        """At least 1: what follows the last line break is a line, too."""
        return len(self._line_starts())

    def line(self, index: int) -> str:
        """One line, without its line break."""
        start, end = self._bounds(index)
        return self.value[start:end]

    def units(self, line: int, column: int, encoding: Encoding) -> int:
        """The server's column for a column in code points."""
        start, end = self._bounds(line)
        column = min(max(column, 0), end - start)
        if encoding == "utf-32" or self.value.isascii():
            return column
        marks = self._widths(line, start, end, encoding)
        stride = column // _STRIDE
        part = self.value[start + stride * _STRIDE : start + column]
        return marks[stride] + _WIDTH[encoding](part)

    def is_plain(self, line: int, column: int, encoding: Encoding) -> bool:
        """Whether a place is well inside of its line, and the same by both ways of counting.

        Nearly all are: there is nothing to convert or to clamp.
        """
        starts = self._starts
        return (
            starts is not None
            and 0 <= line < len(starts) - 1
            and 0 <= column < starts[line + 1] - starts[line] - 1
            and (encoding == "utf-32" or self.value.isascii())
        )

    def column(self, line: int, units: int, encoding: Encoding) -> int:
        """The column in code points for a column of the server."""
        start, end = self._bounds(line)
        if encoding == "utf-32" or self.value.isascii():
            return min(max(units, 0), end - start)
        marks = self._widths(line, start, end, encoding)
        stride = max(bisect.bisect_right(marks, units) - 1, 0)
        part = self.value[start + stride * _STRIDE : min(start + (stride + 1) * _STRIDE, end)]
        return stride * _STRIDE + _longest(part, units - marks[stride], encoding)

    def offset(self, line: int, column: int) -> int:
        """Where in `value` a place is."""
        start, end = self._bounds(line)
        return min(start + max(column, 0), end)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into `value`. Inside of a line break: the line's end."""
        if self._starts is None and "\r" not in self.value:
            # To count up to there is quicker than to make an index for this one question.
            offset = min(max(offset, 0), len(self.value))
            before = self.value.rfind("\n", 0, offset) + 1
            return self.value.count("\n", 0, offset), offset - before
        line = max(bisect.bisect_right(self._line_starts(), offset) - 1, 0)
        start, end = self._bounds(line)
        return line, max(min(offset, end) - start, 0)

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = _starts_of(self.value)
        return self._starts

    def _bounds(self, line: int) -> tuple[int, int]:
        """Where a line starts and ends in `value`, its line break left out."""
        starts = self._line_starts()
        if line < 0:
            return 0, 0
        if line >= len(starts):
            # Servers write "up to the line after the last one" for a whole text.
            return len(self.value), len(self.value)
        start = starts[line]
        if line + 1 == len(starts):
            return start, len(self.value)
        end = starts[line + 1] - 1
        if end > start and self.value[end] == "\n" and self.value[end - 1] == "\r":
            end -= 1
        return start, end

    def _widths(self, line: int, start: int, end: int, encoding: Encoding) -> list[int]:
        if end - start < _STRIDE:
            return _NO_MARKS
        marks = self._marks.get((line, encoding))
        if marks is None:
            width = _WIDTH[encoding]
            parts = (
                self.value[at : at + _STRIDE] for at in range(start, end - _STRIDE + 1, _STRIDE)
            )
            marks = list(accumulate(map(width, parts), initial=0))
            self._marks[line, encoding] = marks
        return marks


_NO_MARKS = [0]


def _starts_of(value: str) -> list[int]:
    """Where the lines of a text start."""
    # The quickest way by far; but it may have found line breaks that are none in the protocol.
    starts = list(accumulate(map(len, value.splitlines(keepends=True)), initial=0))
    if not value.endswith("\n"):
        starts.pop()
    if len(starts) == value.count("\n") + 1 and not value.endswith("\r"):
        return starts
    return [0, *(found.end() for found in _BREAK.finditer(value))]


def _longest(part: str, units: int, encoding: Encoding) -> int:
    """How many characters at the start of `part` are at most `units` wide."""
    # No character is narrower than one unit, none wider than four.
    high = min(max(units, 0), len(part))
    if part.isascii():
        return high
    low = min(max(units, 0) // 4, high)
    width = _WIDTH[encoding]
    sizes = range(low, high + 1)
    fitting = bisect.bisect_right(sizes, units, key=lambda size: width(part[:size]))
    return low + max(fitting - 1, 0)


class Change(msgspec.Struct, frozen=True):
    """One edit that makes a new text of an old one."""

    #: Line and character, in the server's units, of the old text.
    start: tuple[int, int]
    end: tuple[int, int]
    #: What takes the place of what stood there.
    text: str


def smallest_change(old: Text, new: Text, encoding: Encoding) -> Change:
    """The smallest single edit that turns `old` into `new`.

    No edit starts or ends between the two characters of a Windows line break, neither before nor
    after it is made: there is no position for that.

    >>> smallest_change(Text("one\\ntwo"), Text("one\\nto"), "utf-16")
    Change(start=(1, 1), end=(1, 2), text='')
    """
    before, after = old.value, new.value
    head = _common_start(before, after)
    if _splits_break(before, head) or _splits_break(after, head):
        head -= 1
    tail = _common_end(before, after, min(len(before), len(after)) - head)
    if _splits_break(before, len(before) - tail) or _splits_break(after, len(after) - tail):
        tail -= 1
    return Change(
        start=_position(old, head, encoding),
        end=_position(old, len(before) - tail, encoding),
        text=after[head : len(after) - tail],
    )


def apply_change(text: Text, change: Change, encoding: Encoding) -> Text:
    """The text after the edit.

    >>> apply_change(Text("one\\ntwo"), Change((1, 1), (1, 2), ""), "utf-16").value
    'one\\nto'
    """
    start = _offset(text, change.start, encoding)
    end = max(start, _offset(text, change.end, encoding))
    return Text(text.value[:start] + change.text + text.value[end:])


def _position(text: Text, offset: int, encoding: Encoding) -> tuple[int, int]:
    line, column = text.place(offset)
    plain = encoding == "utf-32" or text.value.isascii()
    return line, column if plain else text.units(line, column, encoding)


def _offset(text: Text, position: tuple[int, int], encoding: Encoding) -> int:
    line, units = position
    return text.offset(line, text.column(line, units, encoding))


def _splits_break(value: str, offset: int) -> bool:
    return offset > 0 and value[offset - 1 : offset + 1] == "\r\n"


# Both compare halves of what is left: the work is that of a few whole comparisons, in C.
def _common_start(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        ours = one[len(one) - middle : len(one) - low]
        if ours == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
