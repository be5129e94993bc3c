"""The cells that were run, in order, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lspkit.notebook.magic.cell_text import python_of, tree_of
from lspkit.notebook.magic.virtual_document import Cell

#: The last cells that are kept.
MOST = 1000


class CellRecord:
    """What was run. A cell that is run again replaces its former text, and is then the last one."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        #: By the identity of the cell, or by its number where the frontend gives none.
        self._cells: dict[object, Cell] = {}
        self._current: Cell | None = None
        # Those before `%load_ext`.
        for number, text in enumerate(shell.history_manager.input_hist_raw):
            self._add(number, number, text)

    def cell_was_run(self, result: Any) -> None:
        """Called by IPython after each cell."""
        info = result.info
        number = result.execution_count
        if info is None or not info.store_history or result.error_before_exec is not None:
            return
        if isinstance(info.raw_cell, str) and number is not None:
            self._add(getattr(info, "cell_id", None) or number, number, info.raw_cell)

    def _add(self, key: object, number: int, text: str) -> None:
        """A cell that only `%%lsp` has seen was not run; one that is no Python defines nothing."""
        if text.lstrip().startswith("%%lsp"):
            return
        python = python_of(text)
        self._cells.pop(key, None)
        if python.strip() and tree_of(python) is not None:
            self._cells[key] = Cell(number, python)
        if len(self._cells) > MOST:
            del self._cells[next(iter(self._cells))]

    def cells(self) -> list[Cell]:
        """The cells, in the order in which they were run."""
        return list(self._cells.values())

    def with_current(self, body: str) -> list[Cell]:
        """The cells, and the one that is running, which begins with a line for `%%lsp`."""
        # The history has it already; the counter of the shell may be ahead.
        number = len(self._shell.history_manager.input_hist_raw) - 1
        self._current = Cell(number, f"\n{python_of(body)}")
        key = self._cell_id()
        return [*(one for of, one in self._cells.items() if of != key), self._current]

    def _cell_id(self) -> object:
        """The identity of the cell that is running; None where the frontend gives none."""
        ask = getattr(self._shell, "get_parent", None)  # only a kernel has it
        message = ask() if ask is not None else None
        return message.get("metadata", {}).get("cellId") if message else None

    def line(self, path: Path, number: int) -> str:
        """A line of a cell, for a table; empty if it is not known."""
        for cell in (self._current, *self._cells.values()):
            if cell is not None and cell.path == path:
                lines = cell.python.split("\n")
                return lines[number - 1] if 0 < number <= len(lines) else ""
        return ""
