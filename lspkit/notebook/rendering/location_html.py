"""Locations, callers and callees, and items of hierarchies: tables."""

from __future__ import annotations

from collections.abc import Sequence

from lspkit.notebook.rendering.html_parts import (
    MOST_ROWS,
    Sources,
    code,
    exact,
    joined,
    muted,
    place,
    table,
    text,
)
from lspkit.types import Call, HierarchyItem, Location, Range

#: Characters of a source line.
LONGEST_LINE = 200
_FOUND = "background:rgba(255,200,0,.35)"


def locations_html(found: Sequence[Location], sources: Sources) -> str:
    """Each location with its source line, in which the range is marked."""
    rows = [
        (place(one.path, one.uri, one.range.start), source_html(one, sources))
        for one in found[:MOST_ROWS]
    ]
    return table(("place", "source"), rows, len(found) - len(rows))


def source_html(one: Location, sources: Sources) -> str:
    """The source line of a location; empty if it is not known."""
    if one.path is None:
        return ""
    return marked_line(sources(one.path, one.range.start.line), one.range)


def marked_line(whole: str, found: Range) -> str:
    """A source line without its indent, with the range marked as far as it is on this line."""
    indent = len(whole) - len(whole.lstrip())
    shown = whole[indent : indent + LONGEST_LINE]
    if not shown:
        return ""
    first = max(found.start.column - 1 - indent, 0)
    last = found.end.column - 1 - indent if found.end.line == found.start.line else len(shown)
    parts = [exact(shown[:first]), exact(shown[first:last]), exact(shown[max(first, last) :])]
    if parts[1]:
        parts[1] = f'<span style="{_FOUND}">{parts[1]}</span>'
    more = "…" if len(whole) - indent > LONGEST_LINE else ""
    return f'<code style="background:none;padding:0;white-space:pre">{"".join(parts)}{more}</code>'


def items_html(found: Sequence[HierarchyItem], _: Sources) -> str:
    """Items of a call or type hierarchy."""
    rows = [
        (named(one.kind, one.name, one.detail), place(one.path, one.uri, one.selection.start))
        for one in found[:MOST_ROWS]
    ]
    return table(("symbol", "place"), rows, len(found) - len(rows))


def calls_html(found: Sequence[Call], _: Sources) -> str:
    """Callers or callees, with the positions of the calls."""
    rows = [
        (
            named(one.item.kind, one.item.name, one.item.detail),
            place(one.item.path, one.item.uri, one.item.selection.start),
            joined([range_.start for range_ in one.ranges[:20]]),
        )
        for one in found[:MOST_ROWS]
    ]
    return table(("symbol", "place", "calls at"), rows, len(found) - len(rows))


def named(kind: str, name: str, detail: str = "") -> str:
    """Kind, name and detail of a symbol."""
    more = f" {muted(text(detail, 100))}" if detail else ""
    return f"{muted(text(kind, 40))} <b>{code(name, 100)}</b>{more}"
