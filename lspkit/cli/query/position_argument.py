"""Positions on the command line: `FILE`, `FILE:LINE` and `FILE:LINE:COL`.

Names of files may contain colons, and even end like a position. So the shortest name of an existing
file is meant: `a:1:2` is line 1 of `a` if `a` exists, and otherwise perhaps a file of that name.
"""

from __future__ import annotations

import os
import re

import msgspec

#: Numbers at the end of a word. A colon may follow, as in the output of compilers. The number of
#: digits is limited, since Python refuses to read very long numbers.
_TWO = re.compile(r"(.+?):([0-9]{1,12}):([0-9]{1,12}):?", re.DOTALL)
_ONE = re.compile(r"(.+?):([0-9]{1,12}):?", re.DOTALL)


class FilePosition(msgspec.Struct, frozen=True):
    """A file, and perhaps a line and a column in it."""

    file: str
    line: int | None = None
    column: int | None = None


def parse_position(word: str) -> FilePosition:
    """The file and the position that a word means."""
    readings = _readings(word)
    return next((one for one in readings if os.path.lexists(one.file)), readings[0])


def _readings(word: str) -> list[FilePosition]:
    """The possible meanings, the one with the shortest name first."""
    found: list[FilePosition] = []
    if two := _TWO.fullmatch(word):
        found.append(FilePosition(two[1], int(two[2]), int(two[3])))
    if one := _ONE.fullmatch(word):
        found.append(FilePosition(one[1], int(one[2])))
    return [*found, FilePosition(word)]
