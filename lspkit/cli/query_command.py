"""Runs the commands that ask a workspace: one row for each, with what to ask and how to show it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lspkit.agent.tools.source_lines import SourceLines
from lspkit.cli.check.time_limit import TimeLimit
from lspkit.cli.command_parser import UsageError
from lspkit.cli.command_table import uses_service
from lspkit.cli.failure import FOUND, NOTHING_FOUND, UNKNOWN
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import Part, as_json, print_lines, print_message, print_result
from lspkit.cli.project_root import given_path, workspace_of
from lspkit.diagnostics.report import Change
from lspkit.edit_types import WorkspaceEdit
from lspkit.errors import PathError, RequestTimeoutError
from lspkit.types import (
    Call,
    HierarchyItem,
    Hover,
    Location,
    Position,
    Symbol,
    display_path,
    to_plain,
)
from lspkit.visible_text import one_line
from lspkit.workspace import Workspace
from lspkit.workspace.named_symbol import ask_at_symbol, named_symbol
from lspkit.workspace_boundary import not_there

#: Numbers at the end of a word. A colon may follow, as in the output of compilers. The number of
#: digits is limited, since Python refuses to read very long numbers.
_TWO = re.compile(r"(.+?):([0-9]{1,12}):([0-9]{1,12}):?", re.DOTALL)
_ONE = re.compile(r"(.+?):([0-9]{1,12}):?", re.DOTALL)


class FilePosition(msgspec.Struct, frozen=True):
    """A file, and perhaps a line and a column in it."""

    file: str
    line: int | None = None
    column: int | None = None
    #: A symbol of the workspace, if no file is given.
    name: str = ""


def parse_position(word: str) -> FilePosition:
    """The file and the position that a word means: `FILE`, `FILE:LINE` or `FILE:LINE:COL`.

    Names of files may contain colons, and even end like a position. So the shortest name of an
    existing file is meant: `a:1:2` is line 1 of `a` if `a` exists, and otherwise perhaps a file of
    that name.
    """
    readings = _readings(word)
    return next((reading for reading in readings if os.path.lexists(reading.file)), readings[0])


def _readings(word: str) -> list[FilePosition]:
    """The possible meanings, the one with the shortest name first."""
    readings: list[FilePosition] = []
    if two := _TWO.fullmatch(word):
        readings.append(FilePosition(two[1], int(two[2]), int(two[3])))
    if match := _ONE.fullmatch(word):
        readings.append(FilePosition(match[1], int(match[2])))
    return [*readings, FilePosition(word)]


Line = list[Part]

#: Characters of a source line.
LONGEST_LINE = 200
INDENT = "  "

#: Styles of the lines of a diff, by how they begin.
DIFF_STYLES = {"---": "name", "+++": "name", "@@": "hunk", "-": "removed", "+": "added"}


def location_lines(locations: Sequence[Location], sources: SourceLines) -> Iterator[Line]:
    """`path:line:column: source line` for each location."""
    for location in locations:
        start = location.range.start
        yield [*_place(location.path, location.uri, start), *_source(location.path, start, sources)]


def hover_lines(hover: Hover, _: SourceLines) -> Iterator[Line]:
    """The text, with an empty line between sections."""
    for line in "\n\n".join(content.strip("\n") for content in hover.contents).splitlines():
        yield [(line, "")]


def outline_lines(symbols: Sequence[Symbol], _: SourceLines) -> Iterator[Line]:
    """A tree with one symbol on each line."""
    yield from _tree(symbols, "")


def _tree(symbols: Sequence[Symbol], indent: str) -> Iterator[Line]:
    for symbol in symbols:
        place = _place(symbol.path, symbol.uri, symbol.selection.start)
        yield [(indent, ""), *_named(symbol), (" ", ""), *place]
        yield from _tree(symbol.children, indent + INDENT)


def symbol_lines(symbols: Sequence[Symbol], _: SourceLines) -> Iterator[Line]:
    """`path:line:column: kind name` for each symbol of the workspace."""
    for symbol in symbols:
        place = _place(symbol.path, symbol.uri, symbol.selection.start)
        inside = f" (in {_folded(symbol.container)})" if symbol.container else ""
        yield [*place, (": ", ""), *_named(symbol), (inside, "")]
        yield from _tree(symbol.children, INDENT)


def incoming_lines(calls: Sequence[Call], sources: SourceLines) -> Iterator[Line]:
    """Each caller, and below it the calls, which are in the caller's file."""
    for call in calls:
        item = call.item
        yield [*_place(item.path, item.uri, item.selection.start), (": ", ""), *_named(item)]
        for span in call.ranges:
            place = _place(item.path, item.uri, span.start)
            yield [(INDENT, ""), *place, *_source(item.path, span.start, sources)]


def outgoing_lines(calls: Sequence[Call], _: SourceLines) -> Iterator[Line]:
    """Each callee, with the positions of the calls in the file of the function itself."""
    for call in calls:
        item = call.item
        place = _place(item.path, item.uri, item.selection.start)
        places = ", ".join(str(span.start) for span in call.ranges)
        yield [*place, (": ", ""), *_named(item), (f" (called at {places})" if places else "", "")]


def edit_lines(edit: WorkspaceEdit, _: SourceLines) -> Iterator[Line]:
    """The edit as a unified diff."""
    for line in edit.diff().removesuffix("\n").split("\n"):
        style = next((style for head, style in DIFF_STYLES.items() if line.startswith(head)), "")
        yield [(line, style)]


def _place(path: Path | None, uri: str, at: Position) -> Line:
    return [(display_path(path, uri), "path"), (":", ""), (str(at), "position")]


def _named(symbol: Symbol | HierarchyItem) -> Line:
    return [(symbol.kind, "kind"), (" ", ""), (_folded(symbol.name), "name")]


def _source(path: Path | None, at: Position, sources: SourceLines) -> Line:
    line = _folded(sources.line(str(path), at.line)) if path is not None else ""
    shown = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
    return [(f": {shown}", "")] if shown else []


def _folded(text: str) -> str:
    """The text without line breaks and tabs, which would be kept."""
    return " ".join(text.split())


class Question(msgspec.Struct, frozen=True):
    """What a command asks about."""

    ws: Workspace
    arguments: argparse.Namespace
    #: The file is empty for questions about the whole workspace.
    at: FilePosition
    limit: TimeLimit

    @property
    def timeout(self) -> float:
        """The seconds that are left."""
        return self.limit.left

    def ask(self, method: Callable[..., Any], **more: Any) -> Any:
        """Call a method of the workspace about the position, or the symbol with this name."""
        at, symbol = self.at, self.arguments.symbol
        if at.name:
            place = named_symbol(self.ws, at.name, self.timeout)
            return ask_at_symbol(method, place, self.timeout, **more)
        return method(at.file, at.line, at.column, symbol=symbol, timeout=self.timeout, **more)


class Query(msgspec.Struct, frozen=True):
    """One row: how a command asks, and how its result is shown."""

    ask: Callable[[Workspace, Question], Any]
    lines: Callable[[Any, SourceLines], Iterator[Line]]
    #: What is said if nothing was found.
    nothing: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Ask, print the answer, and return the exit status."""
    limit = TimeLimit.after(arguments.began, arguments.timeout)
    at = _position_of(arguments)
    _check_exists(at.file)
    root = arguments.root or workspace_of([at.file] if at.file else [])
    query = _query_of(arguments)
    with limit.enforced("the servers could be started"):
        ws = open_workspace(root, service=uses_service(arguments), limit=limit)
    with ws:
        placed = msgspec.structs.replace(at, file=_path_in(ws, at.file))
        try:
            result = query.ask(ws, Question(ws, arguments, placed, limit))
        except RequestTimeoutError:
            if limit.is_over:
                # No time is left to wait for servers that still work.
                ws.close(at_once=True)
            raise
        # Before the servers are stopped, which may take some seconds.
        return _print_answer(ws, query, result, as_data=arguments.json)


def _print_answer(ws: Workspace, query: Query, result: Any, *, as_data: bool) -> int:
    nothing = result is None or result == [] or result == WorkspaceEdit()
    if as_data:
        print_result(as_json(to_plain(result)))
    elif nothing:
        print_message(query.nothing)
    else:
        print_lines(query.lines(result, SourceLines(ws.config.boundary(str(ws.root)))))
    # Those of an applied edit are among what is not checked.
    for caveat in getattr(result, "caveats", ()):
        print_message(f"perhaps not all: {caveat}")
    if nothing:
        return NOTHING_FOUND
    return UNKNOWN if isinstance(result, Change) and result.unchecked else FOUND


def _position_of(arguments: argparse.Namespace) -> FilePosition:
    """The file and the position that the command is about; no file for the whole workspace."""
    word: str = getattr(arguments, "target", None) or ""
    if arguments.command == "symbols" and not word and arguments.query is None:
        raise UsageError("give a FILE for its outline, or --query NAME for the whole workspace")
    if not hasattr(arguments, "symbol"):
        return FilePosition(word)
    at = parse_position(word)
    if arguments.symbol is not None or at.column is not None:
        return at
    name = one_line(at.file)
    if at.line is None:
        if arguments.command != "rename" and _is_name(word):
            return FilePosition("", name=word)
        raise UsageError(f"which position in {name}? Give {name}:LINE:COL, or --symbol NAME")
    place = f"{name}:{at.line}"
    raise UsageError(f"which column of {place}? Give {place}:COL, or --symbol WORD on that line")


def _is_name(word: str) -> bool:
    """Whether a word is the name of a symbol, and no file."""
    parts = word.split(".")
    return all(map(str.isidentifier, parts)) and not os.path.lexists(given_path(word))


def _check_exists(file: str) -> None:
    """Raise if the file does not exist: no workspace is found by its path then.

    The workspace reports all other faults. It also knows `@` before a path, as models write it.
    """
    if not file or file.startswith("@"):
        return
    try:
        os.lstat(given_path(file))
    except (FileNotFoundError, NotADirectoryError):
        message = not_there(file, os.getcwd())
        raise PathError(message, code="ENOENT", path=file) from None
    except (OSError, ValueError):
        return


def _path_in(ws: Workspace, file: str) -> str:
    """The file as the user wrote it if the workspace is the current folder, for error messages."""
    here = os.path.realpath(os.curdir) == str(ws.root)
    return file if here or not file else given_path(file)


def _query_of(arguments: argparse.Namespace) -> Query:
    if arguments.command == "symbols" and arguments.query is not None:
        return WORKSPACE_SYMBOLS
    if arguments.command == "calls" and arguments.outgoing:
        return OUTGOING_CALLS
    return QUERIES[arguments.command]


def _references(ws: Workspace, question: Question) -> Any:
    declared = not question.arguments.no_declaration
    return question.ask(ws.references, include_declaration=declared)


def _outline(ws: Workspace, question: Question) -> Any:
    return ws.document_symbols(question.at.file, timeout=question.timeout)


def _workspace_symbols(ws: Workspace, question: Question) -> Any:
    file = question.at.file or None
    return ws.workspace_symbols(question.arguments.query, file, timeout=question.timeout)


def _rename(ws: Workspace, question: Question) -> WorkspaceEdit | Change:
    edit: WorkspaceEdit = question.ask(ws.rename, new_name=question.arguments.new_name)
    if not question.arguments.apply or not edit.changes:
        return edit
    force: bool = question.arguments.force
    return ws.apply(edit, check="project", force=force, timeout=question.timeout)


def _rename_lines(result: WorkspaceEdit | Change, sources: SourceLines) -> Iterator[Line]:
    if isinstance(result, WorkspaceEdit):
        yield from edit_lines(result, sources)
        return
    yield from edit_lines(result.edit, sources)
    for file in result.files:
        yield [("changed ", ""), (display_path(file), "path")]
    for why in result.unchecked:
        yield [("not checked: ", ""), (why, "")]


#: By command.
QUERIES = {
    "definition": Query(
        lambda ws, at: at.ask(ws.definition), location_lines, "no definition was found"
    ),
    "references": Query(_references, location_lines, "no reference was found"),
    "hover": Query(lambda ws, at: at.ask(ws.hover), hover_lines, "there is no description of it"),
    "implementation": Query(
        lambda ws, at: at.ask(ws.implementation), location_lines, "no implementation was found"
    ),
    "symbols": Query(_outline, outline_lines, "the file has no symbols"),
    "calls": Query(lambda ws, at: at.ask(ws.incoming_calls), incoming_lines, "no caller was found"),
    "rename": Query(_rename, _rename_lines, "there is nothing to rename"),
}
WORKSPACE_SYMBOLS = Query(_workspace_symbols, symbol_lines, "no such symbol was found")
OUTGOING_CALLS = Query(
    lambda ws, at: at.ask(ws.outgoing_calls), outgoing_lines, "no call was found"
)
