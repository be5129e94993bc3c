"""Results as plain data for a model: positions from 1, paths relative to the workspace.

An answer may be too large for a model. So a result is first converted to pieces, the most relevant
first, and a function that builds the data from the first pieces; `envelope.py` decides how many.
Each shape has its JSON Schema.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

import lspkit.types as types
from lspkit.diagnostics.report import Report
from lspkit.edit_types import FileEdit, FileOperation, WorkspaceEdit
from lspkit.types import Call, CallItem, Diagnostic, HierarchyItem, Location, Range, Symbol
from lspkit.visible_text import several_lines
from lspkit.workspace_boundary import is_inside

#: Characters of a name, a detail or a message.
LONGEST = 2_000
#: Ranges of calls between two functions.
MOST_RANGES = 50
#: Characters of a server's raw item; without it the item can still be given by its position.
LONGEST_RAW = 8_192

Data = dict[str, Any]


class ResultContext(msgspec.Struct, frozen=True):
    """The context of a result."""

    #: The workspace, a real path.
    root: str
    #: The file of the request, a real path; empty if there is none.
    requested: str = ""
    #: Findings of this severity and worse count.
    severity: types.Severity = types.Severity.ERROR
    #: Whether an edit was applied, rather than previewed.
    applied: bool = False


class ResultPieces(msgspec.Struct, frozen=True):
    """A result in pieces."""

    #: The number of pieces.
    size: int
    #: Builds the data from the first pieces, this many.
    build: Callable[[int], Any]
    #: Whether the pieces are results, rather than characters of a text.
    counted: bool = True
    #: Whether something was left out inside a piece.
    cut: bool = False


class Shape(msgspec.Struct, frozen=True):
    """One kind of data."""

    name: str
    make: Callable[[Any, ResultContext], ResultPieces]
    schema: Data


def shape_result(result: Any, kind: Any, frame: ResultContext) -> ResultPieces:
    """The pieces of a result of this type."""
    return SHAPES[kind].make(result, frame)


def data_schema(kind: Any) -> Data:
    """The JSON Schema of a result of this type."""
    return SHAPES[kind].schema


# Texts and locations


def replace_surrogates(text: str) -> str:
    """The text with lone surrogates replaced, which cannot be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shorten(text: str, most: int = LONGEST) -> str:
    """The text with invisible characters escaped, cut with an ellipsis if it is too long."""
    text = several_lines(replace_surrogates(text[: most + 1]))
    return text if len(text) <= most else text[: most - 1] + "…"


def relative_path(root: str, path: Path | str) -> str:
    """A path for a model: relative if it is inside the workspace."""
    text = str(path)
    if text != root and is_inside(text, root):
        text = os.path.relpath(text, root)
    return replace_surrogates(text.replace(os.sep, "/"))


def _place(frame: ResultContext, path: Path | None, uri: str) -> Data:
    """The file of a location, or its URI if it is not a file."""
    return {"uri": shorten(uri)} if path is None else {"filePath": relative_path(frame.root, path)}


def _range(range: Range) -> Data:
    return {
        "start": {"line": range.start.line, "character": range.start.column},
        "end": {"line": range.end.line, "character": range.end.column},
    }


def distance(frame: ResultContext, path: Path | None) -> int:
    """The distance of a file from the file of the request: 0 the same, 1 its folder, and so on."""
    if path is None or not is_inside(str(path), frame.root):
        return 1_000_000
    if not frame.requested or str(path) == frame.requested:
        return 0
    way = os.path.relpath(os.path.dirname(path), os.path.dirname(frame.requested))
    return 1 if way == os.curdir else 1 + len(way.split(os.sep))


def _sort_by_distance(
    frame: ResultContext, items: Sequence[Any], path: Callable[[Any], Path | None]
) -> list[Any]:
    """The items, nearest first. The sort is stable, so the order is the same on every run."""
    return sorted(items, key=lambda item: distance(frame, path(item)))


# Shapes


def _locations(locations: list[Location], frame: ResultContext) -> ResultPieces:
    ordered = _sort_by_distance(frame, locations, lambda location: location.path)

    def entry(location: Location) -> Data:
        return {**_place(frame, location.path, location.uri), "range": _range(location.range)}

    return ResultPieces(len(ordered), lambda size: [entry(item) for item in ordered[:size]])


def _hover(hover: types.Hover | None, _: ResultContext) -> ResultPieces:
    if hover is None:
        return ResultPieces(0, lambda _: None, counted=False)
    contents = [several_lines(replace_surrogates(text)) for text in hover.contents]
    range = None if hover.range is None else _range(hover.range)

    def build(size: int) -> Data:
        kept: list[str] = []
        for text in contents:
            if size > 0:
                kept.append(text if len(text) <= size else text[: size - 1] + "…")
            size -= len(text)
        return {"contents": kept, "range": range}

    return ResultPieces(sum(map(len, contents)), build, counted=False)


def _symbols(symbols: list[Symbol], frame: ResultContext) -> ResultPieces:
    """Trees. The innermost symbols are removed first, so that the outline is kept."""
    roots = _sort_by_distance(frame, symbols, lambda symbol: symbol.path)
    depths: list[int] = []

    def count(symbols: Sequence[Symbol], depth: int) -> None:
        for symbol in symbols:
            depths.append(depth)
            count(symbol.children, depth + 1)

    count(roots, 0)
    ranked = sorted(range(len(depths)), key=depths.__getitem__)

    def build(size: int) -> list[Data]:
        kept = set(ranked[:size])
        numbers = iter(range(len(depths)))

        def level(symbols: Sequence[Symbol], above: Symbol | None) -> list[Data]:
            made: list[Data] = []
            for symbol in symbols:
                number = next(numbers)
                children = level(symbol.children, symbol)
                if number in kept:
                    made.append(_symbol(symbol, children, above, frame))
            return made

        return level(roots, None)

    return ResultPieces(len(depths), build)


def _symbol(
    symbol: Symbol, children: list[Data], above: Symbol | None, frame: ResultContext
) -> Data:
    place = _place(frame, symbol.path, symbol.uri)
    made: Data = {"name": shorten(symbol.name), "kind": symbol.kind}
    if above is None or _place(frame, above.path, above.uri) != place:
        made |= place
    made |= {"range": _range(symbol.range), "selectionRange": _range(symbol.selection)}
    if symbol.detail:
        made["detail"] = shorten(symbol.detail)
    if symbol.container and above is None:
        made["containerName"] = shorten(symbol.container)
    if children:
        made["children"] = children
    return made


def _items(items: list[CallItem], frame: ResultContext) -> ResultPieces:
    ordered = _sort_by_distance(frame, items, lambda item: item.path)
    cut = any(len(item.raw) > LONGEST_RAW for item in items)
    return ResultPieces(
        len(items), lambda size: [_item(item, frame) for item in ordered[:size]], cut=cut
    )


def _item(item: HierarchyItem, frame: ResultContext) -> Data:
    made: Data = {
        "name": shorten(item.name),
        "kind": item.kind,
        **_place(frame, item.path, item.uri),
        "range": _range(item.range),
        "selectionRange": _range(item.selection),
    }
    if item.detail:
        made["detail"] = shorten(item.detail)
    if item.raw and len(item.raw) <= LONGEST_RAW:
        own = json.loads(replace_surrogates(item.raw))
        made["raw"] = {"serverId": item.server, "via": replace_surrogates(item.via), "item": own}
    return made


def _calls(calls: list[Call], frame: ResultContext) -> ResultPieces:
    ordered = _sort_by_distance(frame, calls, lambda call: call.item.path)
    cut = any(len(call.ranges) > MOST_RANGES or len(call.item.raw) > LONGEST_RAW for call in calls)

    def entry(call: Call) -> Data:
        ranges = [_range(range) for range in call.ranges[:MOST_RANGES]]
        return {"item": _item(call.item, frame), "ranges": ranges}

    return ResultPieces(len(calls), lambda size: [entry(call) for call in ordered[:size]], cut=cut)


def _diagnostics(files: dict[Path, list[Diagnostic]], frame: ResultContext) -> ResultPieces:
    counted = {
        relative_path(frame.root, path): [
            finding for finding in all if finding.severity.counts(frame.severity)
        ]
        for path, all in files.items()
    }
    return _by_file({path: all for path, all in counted.items() if all}, frame)


def _report(report: Report, frame: ResultContext) -> ResultPieces:
    return _by_file({relative_path(frame.root, report.path): report.counted}, frame)


def _by_file(findings: dict[str, list[Diagnostic]], frame: ResultContext) -> ResultPieces:
    size = sum(map(len, findings.values()))

    def build(left: int) -> Data:
        made: Data = {}
        for path in sorted(findings):
            if left > 0 or not findings[path]:
                made[path] = [_finding(finding, frame) for finding in findings[path][:left]]
            left -= len(findings[path])
        return made

    return ResultPieces(size, build)


def _finding(finding: Diagnostic, frame: ResultContext) -> Data:
    made: Data = {
        "range": _range(finding.range),
        "severity": finding.severity.value,
        "message": shorten(finding.message),
    }
    for name in ("code", "source"):
        if value := getattr(finding, name):
            made[name] = shorten(value)
    if finding.servers:
        made["servers"] = list(finding.servers)
    return made


def _edit(edit: WorkspaceEdit, frame: ResultContext) -> ResultPieces:
    sizes = [len(change.edits) if isinstance(change, FileEdit) else 1 for change in edit.changes]

    def build(left: int) -> Data:
        changes: list[Data] = []
        for change, size in zip(edit.changes, sizes, strict=True):
            if left <= 0:
                break
            changes.append(_change(change, left, frame))
            left -= size
        return {"applied": frame.applied, "changes": changes}

    return ResultPieces(sum(sizes), build)


def _change(change: FileEdit | FileOperation, most: int, frame: ResultContext) -> Data:
    made = _place(frame, change.path, change.uri)
    if isinstance(change, FileEdit):
        return {
            **made,
            "edits": [
                {"range": _range(edit.range), "newText": shorten(edit.new_text)}
                for edit in change.edits[:most]
            ],
        }
    made["kind"] = change.kind
    if change.kind == "rename":
        new = _place(frame, change.new_path, change.new_uri)
        made["newPath"] = new.get("filePath", new.get("uri", ""))
    return made


# JSON Schema


def object_schema(required: Data, optional: Data | None = None) -> Data:
    """The schema of an object with these properties, and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Data) -> Data:
    return {"type": "array", "items": items}


_TEXT: Data = {"type": "string"}
_NUMBER: Data = {"type": "integer", "minimum": 1}
_POSITION = object_schema({"line": _NUMBER, "character": _NUMBER})
_RANGE = object_schema({"start": _POSITION, "end": _POSITION})
#: One of the two is present.
_WHERE: Data = {"filePath": _TEXT, "uri": _TEXT}
_NAMED: Data = {"name": _TEXT, "kind": _TEXT, "range": _RANGE, "selectionRange": _RANGE}
_RAW = object_schema({"serverId": _TEXT, "via": _TEXT, "item": {"type": "object"}})
_ITEM = object_schema(_NAMED, {**_WHERE, "detail": _TEXT, "raw": _RAW})
_FINDING = object_schema(
    {
        "range": _RANGE,
        "severity": {"enum": [severity.value for severity in types.Severity]},
        "message": _TEXT,
    },
    {"code": _TEXT, "source": _TEXT, "servers": _list(_TEXT)},
)
_FILES: Data = {"type": "object", "additionalProperties": _list(_FINDING)}
_SYMBOL = object_schema(
    _NAMED,
    {
        **_WHERE,
        "detail": _TEXT,
        "containerName": _TEXT,
        # Each child is a symbol, too; recursive schemas are a burden for hosts.
        "children": _list({"type": "object"}),
    },
)
_CHANGE = object_schema(
    {},
    {
        **_WHERE,
        "edits": _list(object_schema({"range": _RANGE, "newText": _TEXT})),
        "kind": {"enum": ["create", "rename", "delete"]},
        "newPath": _TEXT,
    },
)

#: By type of the result.
SHAPES: dict[Any, Shape] = {
    list[Location]: Shape("locations", _locations, _list(object_schema({"range": _RANGE}, _WHERE))),
    types.Hover | None: Shape(
        "hover",
        _hover,
        object_schema({"contents": _list(_TEXT), "range": {"anyOf": [_RANGE, {"type": "null"}]}}),
    ),
    list[Symbol]: Shape("symbols", _symbols, _list(_SYMBOL)),
    list[CallItem]: Shape("items", _items, _list(_ITEM)),
    list[Call]: Shape(
        "calls", _calls, _list(object_schema({"item": _ITEM, "ranges": _list(_RANGE)}))
    ),
    dict[Path, list[Diagnostic]]: Shape("diagnostics", _diagnostics, _FILES),
    Report: Shape("diagnostics", _report, _FILES),
    WorkspaceEdit: Shape(
        "edit", _edit, object_schema({"applied": {"type": "boolean"}, "changes": _list(_CHANGE)})
    ),
}
