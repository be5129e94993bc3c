"""Names in the `__all__` of a Python module: strings that name what it exports. Pure."""

from __future__ import annotations

import re

from lspkit.protocol.text import Text
from lspkit.types import Position, Range

#: An assignment or an extension of the list; its first group are the strings.
_LISTS = re.compile(
    r"^[ \t]*__all__\b[^=(\n]*(?:\+?=\s*|\.(?:append|extend|remove)\s*\(\s*)"
    r"(?P<names>[\[(][^\])]*[\])]|[^\n]*)",
    re.MULTILINE,
)


def exported_names(text: Text, name: str) -> list[Range]:
    """Where a name is in `__all__`, without the quotation marks.

    >>> exported_names(Text("__all__ = [\\n    'f',\\n]\\nf = 'f'\\n"), "f")
    [Range(start=Position(line=2, column=6), end=Position(line=2, column=7))]
    """
    quoted = re.compile(rf"([\"']){re.escape(name)}\1")
    places: list[Range] = []
    for names in _LISTS.finditer(text.value):
        for string in quoted.finditer(text.value, names.start("names"), names.end("names")):
            line, column = text.place(string.start() + 1)
            start = Position(line + 1, column + 1)
            places.append(Range(start, Position(start.line, start.column + len(name))))
    return places


def is_bound_by(line: str, name: str) -> bool:
    """Whether a line of a module imports or defines a name, or is a part of such an import.

    >>> [is_bound_by(line, "f") for line in ("def f():", "from m import (f, g)", "    f,", "f()")]
    [True, True, True, False]
    """
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    return bool(
        re.match(rf"\s*(?:async\s+def|def|class)\s+{word}", line)
        or re.match(rf".*\bimport\b.*{word}(?!\s+as\b)", line)
        or re.match(rf"\s*{word}\s*(?:,|\)|:[^=]*=|=|$)", line)
    )
