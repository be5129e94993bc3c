"""The text of a file before an edit, from the arguments of the tool and the text after it. Pure.

An edit tool names the text that it replaced, a patch has the lines that it removed. Where the place
of an edit is not certain, the result is None: a wrong text would be worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Names of arguments, without case and punctuation.
_OLD = frozenset(["oldstring", "oldstr", "oldtext", "old", "search", "searchtext"])
_NEW = frozenset(["newstring", "newstr", "newtext", "new", "replace", "replacement", "replacetext"])
_ALL = frozenset(["replaceall", "all"])
_EDITS = frozenset(["edits", "changes", "operations", "replacements"])
_FILE = re.compile(r"\*\*\* (?:Update File|Add File|Delete File|Move to): *(.*)|\+\+\+ (.*)")
#: Lines of a patch that end a hunk.
_LIMIT = re.compile(r"@@|\*\*\* |--- |diff --git |index ")

Hunk = tuple[list[str], list[str]]


def text_before_edit(arguments: Mapping[str, Any], text: str) -> str | None:
    """The text before a replacement, or before several; None if it is not certain."""
    named = {re.sub(r"[\W_]", "", str(name)).lower(): one for name, one in arguments.items()}
    several = next((named[name] for name in _EDITS if name in named), None)
    if isinstance(several, list | tuple):
        for one in reversed(several):
            before = text_before_edit(one, text) if isinstance(one, Mapping) else None
            if before is None:
                return None
            text = before
        return text if several else None
    old, new = (next((named[one] for one in names if one in named), None) for names in (_OLD, _NEW))
    if not isinstance(old, str) or not isinstance(new, str) or not new:
        return None
    at = text.find(new)
    # Of several places, some may have had the new text before, also if all were replaced.
    if not old or at < 0 or text.rfind(new) != at:
        return None
    before = text[:at] + old + text[at + len(new) :]
    every = any(named.get(one) for one in _ALL)
    return None if every and before.replace(old, new) != text else before


def text_before_patch(patch: str, name: str, text: str) -> str | None:
    """The text of one file before a patch; None if a part of it is not found in the text."""
    ending = "\r\n" if "\r\n" in text else "\n"
    lines, start, found = text.split(ending), 0, False
    for old, new in _hunks(patch, name):
        place = _find(lines, new, start)
        if place is None:
            return None
        lines[place : place + len(new)] = old
        start, found = place + len(old), True
    return ending.join(lines) if found else None


def _find(lines: Sequence[str], part: Sequence[str], start: int) -> int | None:
    """The only place of these lines after a start; None if there is none, or several."""
    size = len(part)
    places = (
        [
            at
            for at in range(start, len(lines) - size + 1)
            if lines[at] == part[0] and list(lines[at : at + size]) == list(part)
        ]
        if part
        else []
    )
    return places[0] if len(places) == 1 else None


def _hunks(patch: str, name: str) -> Iterator[Hunk]:
    """The old and the new lines of each hunk of a file."""
    old: list[str] = []
    new: list[str] = []
    inside = False
    for line in [*patch.replace("\r\n", "\n").split("\n"), "@@"]:
        if _LIMIT.match(line) or (_FILE.match(line) and not inside):
            if inside and (old or new) and old != new:
                yield old, new
            old, new = [], []
        if named := _FILE.match(line):
            inside = _same_file(named[1] or named[2] or "", name)
        elif inside and not _LIMIT.match(line):
            _add(line, old, new)


def _add(line: str, old: list[str], new: list[str]) -> None:
    sign, content = line[:1], line[1:]
    if sign in ("", " "):
        old.append(content)
        new.append(content)
    elif sign == "-":
        old.append(content)
    elif sign == "+":
        new.append(content)


def _same_file(written: str, name: str) -> bool:
    bare = written.split("\t")[0].strip()
    return name in (bare, bare.partition("/")[2])
