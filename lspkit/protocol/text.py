"""Lines, columns and the three position encodings of a text.

lspkit counts code points; a server counts bytes of UTF-8, units of UTF-16, or code points. `Text`
converts between them.

The width of a stretch of text is the length of its encoded form. The inverse is a search for the
longest stretch that is not wider than requested, so a position inside a character moves to its
start. On long lines the widths up to every `_STRIDE`th character are cached, so that a conversion
does not read a whole minified file. In ASCII all counts are equal.
"""

from __future__ import annotations

import bisect
import codecs
import operator
import re
from collections.abc import Callable
from itertools import accumulate, compress, count, pairwise
from typing import Literal

import msgspec

#: The units of columns in a server's positions.
Encoding = Literal["utf-8", "utf-16", "utf-32"]

# Only these end a line in the protocol; `str.splitlines` accepts more.
_BREAK = re.compile(r"\r\n|\n|\r")
_STRIDE = 1024
#: So many characters are compared one by one: that takes as long as one step of a search.
_FEW = 64

# Python imports a codec when it is first used, which fails if no descriptor is left.
codecs.lookup("utf-16-le")
# Lone surrogates are not valid text, but may come from a server or a file name.
_WIDTH: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}

#: The first character of some texts. It is not sent to servers, nor counted as a column.
BYTE_ORDER_MARK = "\ufeff"


class Text:
    """An immutable text with an index of its lines.

    Lines and columns count from 0. A position outside the text means the nearest one inside: the
    end of the line, or of the text. Indexes are made when first needed; two threads may make one
    twice, with equal results.

    >>> text = Text("a\\r\\n🙂b")
    >>> text.line_count, text.line(1)
    (2, '🙂b')
    >>> text.units(1, 1, "utf-16"), text.column(1, 2, "utf-16")
    (2, 1)
    """

    __slots__ = ("_lengths", "_marks", "_starts", "ascii_widths", "value")

    #: The text itself.
    value: str

    def __init__(self, value: str) -> None:
        self.value = value
        self._starts: list[int] | None = None
        # The characters of each line, at least.
        self._lengths: list[int] | None = None
        #: The characters of each line if the text is ASCII, once they are known; else empty.
        self.ascii_widths: list[int] = []
        # Widths up to each stride of a long line, by line and encoding.
        self._marks: dict[tuple[int, str], list[int]] = {}

    def __repr__(self) -> str:
        return f"<Text: {len(self.value)} characters>"

    @property
    def line_count(self) -> int:
        """The number of lines, at least 1: the text after the last line break is a line."""
        return len(self._line_starts())

    def line(self, index: int) -> str:
        """One line, without its line break."""
        start, end = self._bounds(index)
        return self.value[start:end]

    def has_word_at(self, line: int, column: int, word: str) -> bool:
        """Whether a word, which has no line break, begins at a position inside the line."""
        starts = self._line_starts()
        return 0 <= line < len(starts) and self.value.startswith(word, starts[line] + column)

    def units(self, line: int, column: int, encoding: Encoding) -> int:
        """The server's column for a column in code points."""
        start, end = self._bounds(line)
        column = min(max(column, 0), end - start)
        if encoding == "utf-32" or self.value.isascii():
            return column
        if column <= _STRIDE and self.value[start : start + column].isascii():
            return column
        marks = self._widths(line, start, end, encoding)
        stride = column // _STRIDE
        part = self.value[start + stride * _STRIDE : start + column]
        return marks[stride] + _WIDTH[encoding](part)

    def is_plain(self, line: int, column: int, encoding: Encoding) -> bool:
        """Whether a position is inside its line and needs no conversion. Nearly all do not."""
        widths = self.plain_widths(encoding)
        return 0 <= line < len(widths) and 0 <= column <= widths[line]

    def plain_widths(self, encoding: Encoding) -> list[int]:
        """The characters of each line, at least; none if columns need a conversion.

        They do if some characters are wider than others. One character is left out where a text has
        line breaks of both kinds.
        """
        if encoding != "utf-32" and not self.value.isascii():
            return []
        if self._lengths is None:
            starts, ending = self._line_starts(), 2 if "\r" in self.value else 1
            widths = [after - start - ending for start, after in pairwise(starts)]
            self._lengths = [*widths, len(self.value) - starts[-1]]
            if self.value.isascii():
                self.ascii_widths = self._lengths
        return self._lengths

    def column(self, line: int, units: int, encoding: Encoding) -> int:
        """The column in code points for a column of the server."""
        start, end = self._bounds(line)
        if encoding == "utf-32" or self.value.isascii():
            return min(max(units, 0), end - start)
        if units <= _STRIDE and self.value[start : min(start + units, end)].isascii():
            return min(max(units, 0), end - start)  # nothing wide comes before it
        marks = self._widths(line, start, end, encoding)
        stride = max(bisect.bisect_right(marks, units) - 1, 0)
        part = self.value[start + stride * _STRIDE : min(start + (stride + 1) * _STRIDE, end)]
        return stride * _STRIDE + _longest(part, units - marks[stride], encoding)

    def offset(self, line: int, column: int) -> int:
        """The offset of a position in `value`."""
        start, end = self._bounds(line)
        return min(start + max(column, 0), end)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in `value`. Inside a line break: the line's end."""
        if self._starts is None and "\r" not in self.value:
            # Counting is faster than making an index for a single conversion.
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
        """Start and end of a line in `value`, without its line break."""
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
    """The offsets of the lines of a text."""
    # By far the fastest way; but it also splits at characters that are not line breaks in the
    # protocol.
    starts = list(accumulate(map(len, value.splitlines(keepends=True)), initial=0))
    if not value.endswith("\n"):
        starts.pop()
    if len(starts) == value.count("\n") + 1 and not value.endswith("\r"):
        return starts
    return [0, *(line_break.end() for line_break in _BREAK.finditer(value))]


def _longest(part: str, units: int, encoding: Encoding) -> int:
    """The number of characters at the start of `part` with a width of at most `units`."""
    # A character has one to four units.
    high = min(max(units, 0), len(part))
    if part.isascii():
        return high
    low = min(max(units, 0) // 4, high)
    width = _WIDTH[encoding]
    sizes = range(low, high + 1)
    fitting = bisect.bisect_right(sizes, units, key=lambda size: width(part[:size]))
    return low + max(fitting - 1, 0)


class Unsaved(msgspec.Struct, frozen=True):
    """The stamp of a text that replaces a file's content and is not on disk."""

    number: int


class Change(msgspec.Struct, frozen=True):
    """One edit of a text."""

    #: Line and character in the old text, in the server's units.
    start: tuple[int, int]
    end: tuple[int, int]
    #: The replacement.
    text: str


def smallest_change(old: Text, new: Text, encoding: Encoding) -> Change:
    """The smallest single edit that turns `old` into `new`.

    No edit starts or ends between the two characters of a Windows line break, in either text: there
    is no such position.

    >>> smallest_change(Text("one\\ntwo"), Text("one\\nto"), "utf-16")
    Change(start=(1, 1), end=(1, 2), text='')
    """
    before, after = old.value, new.value
    may_split = "\r" in before or "\r" in after
    head = _common_start(before, after)
    if may_split and (_splits_break(before, head) or _splits_break(after, head)):
        head -= 1
    tail = _common_end(before, after, min(len(before), len(after)) - head)
    if may_split and (
        _splits_break(before, len(before) - tail) or _splits_break(after, len(after) - tail)
    ):
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


# Binary search, and a look at each character in the end: all comparisons are done in C.
def _common_start(before: str, after: str) -> int:
    low, high = 0, min(len(before), len(after))
    while high - low > _FEW:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low + _equal(before[low:high], after[low:high])


def _common_end(before: str, after: str, limit: int) -> int:
    low, high = 0, limit
    while high - low > _FEW:
        middle = (low + high + 1) // 2
        ours = before[len(before) - middle : len(before) - low]
        if ours == after[len(after) - middle : len(after) - low]:
            low = middle
        else:
            high = middle - 1
    ours = before[len(before) - high : len(before) - low][::-1]
    return low + _equal(ours, after[len(after) - high : len(after) - low][::-1])


def _equal(before: str, after: str) -> int:
    """How many characters are equal, of two texts of one length."""
    return next(compress(count(), map(operator.ne, before, after)), len(before))
