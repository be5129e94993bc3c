"""The text of a file before an edit, from the arguments of the tool and the text after it. Pure.

An edit tool names the text that it replaced, a patch has the lines that it removed. Where the place
of an edit is not certain, the result is None: a wrong text would be worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lspkit.agent.hooks.argument_names import (
    ALL_FIELDS,
    EDIT_FIELDS,
    NEW_FIELDS,
    OLD_FIELDS,
    plain_field,
)
from lspkit.agent.hooks.patch_files import Hunk


def text_before_edit(arguments: Mapping[str, Any], text: str) -> str | None:
    """The text before a replacement, or before several; None if it is not certain."""
    named = {plain_field(name): one for name, one in arguments.items()}
    several = _first(named, EDIT_FIELDS)
    if isinstance(several, list | tuple):
        for one in reversed(several):
            before = text_before_edit(one, text) if isinstance(one, Mapping) else None
            if before is None:
                return None
            text = before
        return text if several else None
    old, new = _first(named, OLD_FIELDS), _first(named, NEW_FIELDS)
    if not isinstance(old, str) or not isinstance(new, str) or not old or not new:
        return None
    at = text.find(new)
    # Of several places, some may have had the new text before, also if all were replaced.
    if at < 0 or text.rfind(new) != at:
        return None
    before = text[:at] + old + text[at + len(new) :]
    every = any(named.get(one) for one in ALL_FIELDS)
    return None if every and before.replace(old, new) != text else before


def _first(named: Mapping[str, Any], fields: frozenset[str]) -> Any:
    return next((value for name, value in named.items() if name in fields), None)


def text_before_hunks(hunks: Sequence[Hunk | None], text: str) -> str | None:
    """The text of a file before a patch; None if one of its hunks is not found, or not readable."""
    ending = "\r\n" if "\r\n" in text else "\n"
    lines, start = text.split(ending), 0
    for hunk in hunks:
        place = None if hunk is None else _find(lines, hunk.new, start)
        if hunk is None or place is None:
            return None
        lines[place : place + len(hunk.new)] = hunk.old
        start = place + len(hunk.old)
    return ending.join(lines) if hunks else None


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
