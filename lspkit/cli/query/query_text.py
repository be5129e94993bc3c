"""Results of queries as text for people: lines of parts, which the terminal may show in colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lspkit.agent.tools.source_lines import SourceLines
from lspkit.cli.output import Part
from lspkit.edit_types import WorkspaceEdit
from lspkit.types import (
    Call,
    HierarchyItem,
    Hover,
    Location,
    Position,
    Symbol,
    display_path,
)

Line = list[Part]

#: Characters of a source line.
LONGEST_LINE = 200
INDENT = "  "

#: Styles of the lines of a diff, by how they begin.
DIFF_STYLES = {"---": "name", "+++": "name", "@@": "hunk", "-": "removed", "+": "added"}


def location_lines(found: Sequence[Location], sources: SourceLines) -> Iterator[Line]:
    """`path:line:column: source line` for each location."""
    for one in found:
        start = one.range.start
        yield [*_place(one.path, one.uri, start), *_source(one.path, start, sources)]


def hover_lines(found: Hover, _: SourceLines) -> Iterator[Line]:
    """The text, with an empty line between sections."""
    for line in "\n\n".join(one.strip("\n") for one in found.contents).splitlines():
        yield [(line, "")]


def outline_lines(found: Sequence[Symbol], _: SourceLines) -> Iterator[Line]:
    """A tree with one symbol on each line."""
    yield from _tree(found, "")


def _tree(symbols: Sequence[Symbol], indent: str) -> Iterator[Line]:
    for one in symbols:
        place = _place(one.path, one.uri, one.selection.start)
        yield [(indent, ""), *_named(one), (" ", ""), *place]
        yield from _tree(one.children, indent + INDENT)


def symbol_lines(found: Sequence[Symbol], _: SourceLines) -> Iterator[Line]:
    """`path:line:column: kind name` for each symbol of the workspace."""
    for one in found:
        place = _place(one.path, one.uri, one.selection.start)
        inside = f" (in {_folded(one.container)})" if one.container else ""
        yield [*place, (": ", ""), *_named(one), (inside, "")]
        yield from _tree(one.children, INDENT)


def incoming_lines(found: Sequence[Call], sources: SourceLines) -> Iterator[Line]:
    """Each caller, and below it the calls, which are in the caller's file."""
    for call in found:
        item = call.item
        yield [*_place(item.path, item.uri, item.selection.start), (": ", ""), *_named(item)]
        for one in call.ranges:
            place = _place(item.path, item.uri, one.start)
            yield [(INDENT, ""), *place, *_source(item.path, one.start, sources)]


def outgoing_lines(found: Sequence[Call], _: SourceLines) -> Iterator[Line]:
    """Each callee, with the positions of the calls in the file of the function itself."""
    for call in found:
        item = call.item
        place = _place(item.path, item.uri, item.selection.start)
        calls = ", ".join(str(one.start) for one in call.ranges)
        yield [*place, (": ", ""), *_named(item), (f" (called at {calls})" if calls else "", "")]


def edit_lines(found: WorkspaceEdit, _: SourceLines) -> Iterator[Line]:
    """The edit as a unified diff."""
    for line in found.diff().removesuffix("\n").split("\n"):
        style = next((style for head, style in DIFF_STYLES.items() if line.startswith(head)), "")
        yield [(line, style)]


def _place(path: Path | None, uri: str, at: Position) -> Line:
    return [(display_path(path, uri), "path"), (":", ""), (str(at), "position")]


def _named(one: Symbol | HierarchyItem) -> Line:
    return [(one.kind, "kind"), (" ", ""), (_folded(one.name), "name")]


def _source(path: Path | None, at: Position, sources: SourceLines) -> Line:
    line = _folded(sources.line(str(path), at.line)) if path is not None else ""
    shown = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
    return [(f": {shown}", "")] if shown else []


def _folded(text: str) -> str:
    """The text without line breaks and tabs, which would be kept."""
    return " ".join(text.split())
