"""JSON with comments and trailing commas, and the line numbers of its keys.

Comments and trailing commas are replaced by blanks, so that offsets are kept and an error of the
decoder has the right line. The standard decoder makes the values; lines are determined only when a
message needs one. Pure: no file is read.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from lspkit.config.problems import DEEPEST, Path

#: A string, a comment, a punctuation mark, or any other word. Strings match possessively, without
#: backtracking, also if they do not end.
_TOKEN = re.compile(
    r"""
      (?P<text>    "(?:[^"\\]++|\\.)*+"? )
    | (?P<comment> //[^\n\r]*+ | /\*.*?(?:\*/|\Z) )
    | (?P<mark>    [{}\[\],:] )
    | (?P<word>    [^\s"{}\[\],:/]++ | / )
    """,
    re.VERBOSE | re.DOTALL,
)
#: Lines are determined up to this number of tokens.
MOST_TOKENS = 20_000

_NOT_LINE_END = re.compile(r"[^\n\r]")


class NotJson(ValueError):
    """A text that is not valid JSON. `line` counts from 1."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def decode(text: str) -> tuple[Any, bool]:
    """The value of a text, and whether an object has duplicate keys."""
    doubled = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        made = dict(pairs)
        doubled = doubled or len(made) < len(pairs)
        return made

    try:
        value = json.loads(
            blank_comments(text), object_pairs_hook=build, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as problem:
        raise NotJson(f"{problem.msg}, at column {problem.colno}", problem.lineno) from None
    except RecursionError:
        raise NotJson("it is nested too deeply", None) from None
    except ValueError as problem:
        raise NotJson(str(problem), None) from None
    return value, doubled


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a valid number in JSON")


def blank_comments(text: str) -> str:
    """The text with comments and trailing commas replaced by blanks."""
    pieces: list[str] = []
    done = 0
    # The last comma, while only blanks and comments follow it.
    comma: int | None = None
    before = ""

    def blank(start: int, end: int) -> None:
        nonlocal done
        pieces.append(text[done:start])
        pieces.append(_NOT_LINE_END.sub(" ", text[start:end]))
        done = end

    held: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        mark, comment = token["mark"], token["comment"]
        # A comment without an end is kept, so that the decoder reports it.
        if comment is not None and (comment[1] == "/" or comment[2:].endswith("*/")):
            held.append(token.span())
            continue
        if mark in ("}", "]") and comma is not None:
            held.append((comma, comma + 1))
        for start, end in sorted(held):
            blank(start, end)
        held.clear()
        # So is a comma without a value before it.
        comma = token.start() if mark == "," and before not in ("", ",", ":", "{", "[") else None
        before = mark or "value"
    for start, end in held:
        blank(start, end)
    return "".join([*pieces, text[done:]])


def positions(text: str) -> tuple[dict[Path, int], list[Path]]:
    """The line of every key and item of a text that `decode` accepts, and the duplicate keys.

    Of duplicate keys the last one is used, as by the decoder. For a very large text there are no
    lines: they would take more memory than the text.
    """
    lines: dict[Path, int] = {(): 1}
    doubles: dict[Path, None] = {}
    path: list[str | int] = []
    expects_key = False
    line, seen = 1, 0
    for number, token in enumerate(_TOKEN.finditer(blank_comments(text))):
        if number > MOST_TOKENS or len(path) > DEEPEST:
            return {}, []
        line += text.count("\n", seen, token.start())
        seen, word = token.start(), token[0]
        if word in ("}", "]"):
            path.pop()
        elif word == ":":
            expects_key = False
        elif word == ",":
            last = path[-1]
            expects_key = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        elif expects_key:
            path[-1] = json.loads(word)
            if tuple(path) in lines:
                doubles[tuple(path)] = None
            lines[tuple(path)] = line
        else:
            # A value. The value of a key has the line of its key.
            lines.setdefault(tuple(path), line)
            expects_key = word == "{"
            if word in ("{", "["):
                path.append("" if expects_key else 0)
    return lines, list(doubles)


# The values and line numbers of `pyproject.toml`.
#
# The standard decoder makes the values. It walks the whole path of a table for each of its keys, so
# a path of thousands of names would take minutes: such a file is refused before decoding. Pure: no
# file is read.

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
        names = tuple(name.strip("\"'") for name in _NAME.findall(head or match["keys"]))
        whole = names if head else (*table, *names)
        table = names if head else table
        if len(whole) <= DEEPEST:
            lines.setdefault(whole, number)
    return lines
