"""Cells as one Python file, which servers are shown but which is never written.

The cells stand one below the other, after a line with the names that every notebook has. A line of
the document belongs to one cell; answers of servers are mapped back to the cells.
"""

from __future__ import annotations

import bisect
import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from lspkit.diagnostics.report import Report, verdict_of
from lspkit.notebook.magic.cell_text import await_lines
from lspkit.types import Diagnostic, Location, Position, Range

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
        futures = [one for cell in cells for one in _FUTURE.findall(cell.python)]
        head = "; ".join(dict.fromkeys([*(one.strip() for one in futures), _PRELUDE]))
        #: Lines of the document before each cell.
        self._before: list[int] = []
        parts, number = [f"{head}\n"], 1
        for cell in cells:
            self._before.append(number)
            parts.append(_FUTURE.sub(lambda one: "pass".ljust(len(one[0])), cell.python))
            number += cell.python.count("\n")
        self.text = "".join(parts)
        self.line_count = number

    def cell_at(self, line: int) -> tuple[Cell, int] | None:
        """The cell to which a line of the document belongs, and the lines before that cell."""
        index = bisect.bisect_left(self._before, line) - 1
        if index < 0 or line > self.line_count:
            return None
        return self._cells[index], self._before[index]

    def locations(self, found: list[Location], path: Path) -> list[Location]:
        """Locations, with those in the document mapped to cells, and without those in none."""
        mapped = [self._location(one) if one.path == path else one for one in found]
        return [one for one in mapped if one is not None]

    def _location(self, one: Location) -> Location | None:
        at = self.cell_at(one.range.start.line)
        if at is None:
            return None
        return Location(at[0].path, _shifted(one.range, at[1]), one.uri)

    def report(self, found: Report) -> Report:
        """A report about the document, as one about its last cell."""
        cell, before = self._cells[-1], self._before[-1]
        awaits = await_lines(cell.python)
        mapped = [
            msgspec.structs.replace(
                one, path=cell.path, range=_shifted(one.range, before), related=()
            )
            for one in found.diagnostics
            if one.range.start.line > before
        ]
        findings = [one for one in mapped if not _is_notebook_await(one, awaits)]
        counted = [one for one in findings if one.severity.value in found.severities]
        return Report(
            path=cell.path,
            verdict=verdict_of(counted, found.servers),
            diagnostics=findings,
            servers=found.servers,
            duration=found.duration,
            severities=found.severities,
            max_per_file=found.max_per_file,
        )


def _is_notebook_await(one: Diagnostic, awaits: set[int]) -> bool:
    """Whether a finding only says that `await` is outside of a function."""
    words = one.message.lower()
    return (
        one.range.start.line in awaits
        and ("await" in words or "async" in words)
        and ("outside" in words or "within" in words or "only" in words)
    )


def _shifted(found: Range, by: int) -> Range:
    start, end = found.start, found.end
    return Range(Position(start.line - by, start.column), Position(end.line - by, end.column))
