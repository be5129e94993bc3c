"""The values and line numbers of `pyproject.toml`.

The standard decoder makes the values. It walks the whole path of a table for each of its keys, so a
path of thousands of names would take minutes: such a file is refused before decoding. Pure: no file
is read.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from lspkit.config.jsonc import NotJson
from lspkit.config.problems import DEEPEST, Path

# All patterns match possessively, without backtracking.
_STRING = r"""(?:"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')"""
_KEY = rf"(?:[A-Za-z0-9_-]++|{_STRING})"
_BLANKS = r"[ \t]*+"
_KEYS = rf"{_KEY}(?:{_BLANKS}\.{_BLANKS}{_KEY})*+"
#: A table header, or a key, at the start of a line.
_LINE = re.compile(
    rf"^{_BLANKS}(?:\[\[?+{_BLANKS}(?P<table>{_KEYS}){_BLANKS}\]|(?P<keys>{_KEYS}){_BLANKS}=)",
    re.MULTILINE,
)
_NAME = re.compile(_KEY)
#: A dotted key with too many names, wherever a key can begin.
_TOO_DEEP = re.compile(rf"(?<![^\s\[{{,])(?:{_KEY}{_BLANKS}\.{_BLANKS}){{{DEEPEST}}}")


def decode_toml(text: str) -> Any:
    """The value of a text."""
    if deep := _TOO_DEEP.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise NotJson(f"a key has more than {DEEPEST} names", line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        at = re.search(r"at line (\d+)", str(problem))
        raise NotJson(str(problem), int(at[1]) if at else None) from None
    except RecursionError:
        raise NotJson("it is nested too deeply", None) from None
    except ValueError as problem:
        raise NotJson(str(problem), None) from None


def lines_of(text: str) -> dict[Path, int]:
    """The first line of each table or key, by path. An approximation."""
    lines: dict[Path, int] = {}
    table: Path = ()
    number, seen = 1, 0
    for match in _LINE.finditer(text):
        number += text.count("\n", seen, match.start())
        seen = match.start()
        head = match["table"]
        names = tuple(one.strip("\"'") for one in _NAME.findall(head or match["keys"]))
        whole = names if head else (*table, *names)
        table = names if head else table
        if len(whole) <= DEEPEST:
            lines.setdefault(whole, number)
    return lines
