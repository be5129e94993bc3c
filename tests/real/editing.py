"""Edits of servers, and diffs of lspkit, carried out by the most obvious means.

The texts that come of them are what is compared. Nothing here uses lspkit's own code for it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import lspkit
from lspkit.edit_types import FileEdit
from tests.real.reading import Reader, path_of

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def raw_texts(reader: Reader, raw: dict[str, Any]) -> dict[str, str]:
    """The files that a server's edit changes, and what is in them then."""
    changes = raw.get("documentChanges")
    if changes is None:
        changes = [
            {"textDocument": {"uri": uri}, "edits": edits} for uri, edits in raw["changes"].items()
        ]
    texts: dict[str, str] = {}
    for change in changes:
        path = path_of(change["textDocument"]["uri"])
        texts[str(path)] = _edited(reader, path, change["edits"])
    return texts


def _edited(reader: Reader, path: Path, edits: list[dict[str, Any]]) -> str:
    """From the last to the first, so that what comes before stays where it is."""
    text = path.read_text(encoding="utf-8")
    placed = []
    for number, edit in enumerate(edits):
        start, end = (_offset(text, place) for place in reader.range(path, edit["range"]))
        placed.append((start, end, number, edit["newText"]))
    for start, end, _, new in sorted(placed, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _offset(text: str, place: tuple[int, int]) -> int:
    line, column = place
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column - 1


def preview_texts(edit: lspkit.WorkspaceEdit) -> dict[str, str]:
    """The same as lspkit foretells it."""
    texts: dict[str, str] = {}
    for change in edit.changes:
        assert isinstance(change, FileEdit), change
        assert change.path is not None and change.after is not None
        assert change.before == change.path.read_text(encoding="utf-8")
        texts[str(change.path)] = change.after
    return texts


def patched(text: str, diff: str) -> str:
    """A text with a unified diff of it applied; the context has to fit."""
    old, new, at = text.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        hunk = _HUNK.match(line)
        if hunk:
            begin = int(hunk[1]) - (hunk[2] != "0")
            new += old[at:begin]
            at = begin
            continue
        sign, rest = line[0], line[1:]
        if sign in " -":
            assert old[at] == rest, f"the diff has {rest!r} where the text has {old[at]!r}"
            at += 1
        if sign in " +":
            new.append(rest)
    return "".join([*new, *old[at:]])
