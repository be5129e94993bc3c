"""Edits as coloured diffs, and code actions."""

from __future__ import annotations

from collections.abc import Sequence

from lspkit.edit_types import AppliedEdit, CodeAction, FileEdit, FileOperation, WorkspaceEdit
from lspkit.notebook.rendering.html_parts import (
    MOST_ROWS,
    Sources,
    badge,
    exact,
    left_out,
    line,
    muted,
    table,
    text,
)

#: Lines of a diff, and characters of a line.
MOST_LINES = 400
LONGEST_LINE = 200
#: Characters of a file before and after an edit. A larger one has no diff, which takes too long.
LARGEST = 1_000_000

_DIFF = "line-height:1.3;font-family:monospace"
_HEAD, _HUNK = "font-weight:bold", "color:rgb(90,120,200)"
_REMOVED, _ADDED = "background:rgba(220,40,40,.18)", "background:rgba(40,160,60,.18)"
#: Styles of the lines of a diff, by how they begin.
_STYLES = {"---": _HEAD, "+++": _HEAD, "@@": _HUNK, "-": _REMOVED, "+": _ADDED}


def edit_html(found: WorkspaceEdit, _: Sources) -> str:
    """The edit as a diff, below the number of edits and files."""
    lines: list[str] = []
    shown = 0
    for change in found.changes:
        if len(lines) > MOST_LINES:
            break
        lines += _diff_of(change).removesuffix("\n").split("\n")
        shown += 1
    more = len(found.changes) - shown
    rest = line(muted(f"… and {more} more files")) if more else ""
    return line(text(found)) + diff_html(lines) + rest


def _diff_of(change: FileEdit | FileOperation) -> str:
    if isinstance(change, FileOperation):
        return f"# {change}"
    size = len(change.before or "") + len(change.after or "")
    return change.diff() if size <= LARGEST else f"# {change}"


def file_edit_html(found: FileEdit, sources: Sources) -> str:
    """The edit of one file as a diff."""
    return edit_html(WorkspaceEdit((found,)), sources)


def applied_html(found: AppliedEdit, sources: Sources) -> str:
    """An edit that was applied."""
    unverified = "".join(line(f"not verified: {text(one)}") for one in found.unverified)
    return line(badge("applied", "40,160,60")) + unverified + edit_html(found.edit, sources)


def diff_html(lines: Sequence[str]) -> str:
    """The lines of a unified diff in colours."""
    shown = "".join(map(_diff_line, lines[:MOST_LINES]))
    more = left_out(len(lines) - MOST_LINES)
    return f'<pre style="{_DIFF}">{shown}</pre>{more}' if shown else ""


def _diff_line(one: str) -> str:
    style = next((style for head, style in _STYLES.items() if one.startswith(head)), "")
    return f'<div style="{style}">{exact(one, LONGEST_LINE) or " "}</div>'


def actions_html(found: Sequence[CodeAction], sources: Sources) -> str:
    """Code actions; a single one with its diff."""
    rows = [
        (
            f"<b>{text(one.title)}</b>" if one.preferred else text(one.title),
            muted(text(one.kind, 60)),
            muted(text(one.disabled)),
        )
        for one in found[:MOST_ROWS]
    ]
    shown = table(("action", "kind", "disabled"), rows, len(found) - len(rows))
    if len(found) == 1 and found[0].edit is not None:
        shown += edit_html(found[0].edit, sources)
    return shown
