"""Cells as one Python file, which servers are shown but which is never written.

The cells stand one below the other, after a line with the names that every notebook has. A line of
the document belongs to one cell; answers of servers are mapped back to the cells.
"""

from __future__ import annotations

import ast
import bisect
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from IPython.core import inputtransformer2 as transformer

from lspkit.diagnostics.report import Report, verdict_of
from lspkit.types import Diagnostic, Location, Position, Range

#: Cell magics whose cell is Python.
PYTHON_CELLS = frozenset({"capture", "debug", "lsp", "prun", "time", "timeit"})
#: Stands for a value that only the shell knows: a type checker takes it for anything.
ANYTHING = 'eval("")'
#: `%time STATEMENT`.
_TIME = "%time "

_ASSIGNMENTS: tuple[Any, ...] = (transformer.MagicAssign, transformer.SystemAssign)
_COMMANDS: tuple[Any, ...] = (transformer.EscapedCommand, transformer.HelpEnd)


def python_of(cell: str) -> str:
    """The cell as Python, with the same number of lines; it ends with a line break.

    Magics and shell commands are replaced, lines and columns are kept. IPython's own functions find
    them, so that a line in a string that begins with `%` is no magic.
    """
    lines = [f"{line}\n" for line in cell.split("\n")]
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        words = lines[first][2:].split()
        if not words or words[0] not in PYTHON_CELLS:
            return "\n" * len(lines)
        lines[first] = "\n"
    # Each round replaces at least one command, on a line that has no other then.
    for _ in range(2 * len(lines)):
        if not _replace_one(lines):
            break
    return "".join(lines)


def _replace_one(lines: list[str]) -> bool:
    """Replace one magic or shell command; False if there is none."""
    try:
        tokens = transformer.make_tokens_by_line(lines)
        for kind in (*_ASSIGNMENTS, *_COMMANDS):
            command: Any = kind.find(tokens)
            if command is not None:
                _replace(lines, command, ANYTHING if kind in _ASSIGNMENTS else "pass")
                return True
    except (SyntaxError, IndexError, ValueError):
        # A cell with such a mistake is for the server to judge.
        return False
    return False


def _replace(lines: list[str], command: Any, instead: str) -> None:
    first, column = command.start_line, command.start_col
    last: int = transformer.find_end_of_continued_line(lines, first)
    rest = lines[first][column:]
    if instead == "pass" and rest.startswith(_TIME) and last == first:
        # The statement stays in its column.
        start = len(rest) - len(rest[len(_TIME) :].lstrip())
        lines[first] = lines[first][:column] + "pass".ljust(start - 1) + ";" + rest[start:]
        return
    lines[first] = f"{lines[first][:column]}{instead}\n"
    for number in range(first + 1, min(last + 1, len(lines))):
        lines[number] = "\n"


def tree_of(python: str) -> ast.Module | None:
    """The syntax tree of a cell, in which `await` may be outside of functions; None if invalid."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(python, "<cell>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Module) else None


def await_lines(python: str) -> set[int]:
    """The lines, from 1, with an `await` outside of functions, which only a notebook allows."""
    tree = tree_of(python)
    lines: set[int] = set()
    left: list[ast.AST] = [tree] if tree is not None else []
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            lines.add(node.lineno)
        if isinstance(node, ast.comprehension) and node.is_async:
            lines.add(node.iter.lineno)
        left.extend(ast.iter_child_nodes(node))
    return lines


#: The name of the file, in the folder of the workspace.
NAME = "lspkit_notebook_cells.py"
#: Names that every notebook has. One line.
_PRELUDE = (
    "from IPython import get_ipython; from IPython.display import display; "
    "In: list[str] = []; Out: dict[int, object] = {}; "
    '_ = __ = ___ = _i = _ii = _iii = _ih = _oh = _dh = eval("")'
)
#: Valid only at the beginning of a file.
_FUTURE = re.compile(r"^from __future__ import [^\n;#(]*", re.M)


class Cell(NamedTuple):
    """A cell: its number in the notebook, and its Python."""

    number: int
    python: str

    @property
    def path(self) -> Path:
        """How the cell is shown: `In[3]`."""
        return Path(f"In[{self.number}]")


class VirtualDocument:
    """A text made of cells, with the places of the cells in it."""

    def __init__(self, cells: list[Cell]) -> None:
        self._cells = cells
        futures = [future for cell in cells for future in _FUTURE.findall(cell.python)]
        head = "; ".join(dict.fromkeys([*(future.strip() for future in futures), _PRELUDE]))
        #: Lines of the document before each cell.
        self._before: list[int] = []
        parts, number = [f"{head}\n"], 1
        for cell in cells:
            self._before.append(number)
            parts.append(_FUTURE.sub(lambda future: "pass".ljust(len(future[0])), cell.python))
            number += cell.python.count("\n")
        self.text = "".join(parts)
        self.line_count = number

    def cell_at(self, line: int) -> tuple[Cell, int] | None:
        """The cell to which a line of the document belongs, and the lines before that cell."""
        index = bisect.bisect_left(self._before, line) - 1
        if index < 0 or line > self.line_count:
            return None
        return self._cells[index], self._before[index]

    def locations(self, locations: list[Location], path: Path) -> list[Location]:
        """Locations, with those in the document mapped to cells, and without those in none."""
        mapped = [
            self._location(location) if location.path == path else location
            for location in locations
        ]
        return [location for location in mapped if location is not None]

    def _location(self, location: Location) -> Location | None:
        at = self.cell_at(location.range.start.line)
        if at is None:
            return None
        return Location(at[0].path, _shifted(location.range, at[1]), location.uri)

    def report(self, report: Report) -> Report:
        """A report about the document, as one about its last cell."""
        cell, before = self._cells[-1], self._before[-1]
        awaits = await_lines(cell.python)
        mapped = [
            msgspec.structs.replace(
                finding, path=cell.path, range=_shifted(finding.range, before), related=()
            )
            for finding in report.diagnostics
            if finding.range.start.line > before
        ]
        findings = [finding for finding in mapped if not _is_notebook_await(finding, awaits)]
        counted = [finding for finding in findings if finding.severity.counts(report.severity)]
        return Report(
            path=cell.path,
            verdict=verdict_of(counted, report.servers),
            diagnostics=findings,
            servers=report.servers,
            duration=report.duration,
            severity=report.severity,
            max_per_file=report.max_per_file,
        )


def _is_notebook_await(finding: Diagnostic, awaits: set[int]) -> bool:
    """Whether a finding only says that `await` is outside of a function."""
    words = finding.message.lower()
    return (
        finding.range.start.line in awaits
        and ("await" in words or "async" in words)
        and ("outside" in words or "within" in words or "only" in words)
    )


def _shifted(span: Range, by: int) -> Range:
    start, end = span.start, span.end
    return Range(Position(start.line - by, start.column), Position(end.line - by, end.column))
