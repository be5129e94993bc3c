"""`%lsp` and `%%lsp`.

    %lsp check FILE...         the findings in files
    %lsp hover WHAT            also definition, references
    %lsp symbols FILE          the outline of a file; or of the workspace: symbols NAME
    %lsp status                the servers
    %%lsp                      check this cell, together with the cells run before it

WHAT is a NAME in the cells or in the workspace, FILE NAME, or FILE:LINE:COLUMN. The workspace is
the one that was opened last; if there is none, the current folder.
"""

from __future__ import annotations

import builtins
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from IPython.core.error import UsageError

import lspkit
from lspkit.notebook.open_workspaces import last_open, line_readers
from lspkit.notebook.virtual_document import NAME, Cell, VirtualDocument, python_of, tree_of
from lspkit.workspace.named_symbol import ask_at_symbol, named_symbol

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
        return [*(cell for of, cell in self._cells.items() if of != key), self._current]

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


#: `FILE:LINE:COLUMN`, or a line with a word on it: `FILE:LINE NAME`.
_POSITION = re.compile(r"(.+?):([0-9]{1,12})(?::([0-9]{1,12}))?")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
#: Errors after which a name is searched in the workspace instead of the cells.
_NO_ANSWER = (lspkit.NoServerError, lspkit.ServerUnavailableError, lspkit.UnsupportedError)
#: Questions about a symbol: names of methods of a workspace.
QUESTIONS = ("hover", "definition", "references")
COMMANDS = ("check", *QUESTIONS, "symbols", "status")


class LspMagic:
    """The magic of one shell, with the cells that were run and the workspace that it has opened."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.cells = CellRecord(shell)
        self._own: lspkit.Workspace | None = None
        line_readers.append(self.cells.line)

    def close(self) -> None:
        """Close the workspace that it has opened, and forget the cells."""
        line_readers.remove(self.cells.line)
        if self._own is not None:
            self._own.close()

    def workspace(self) -> lspkit.Workspace:
        """The workspace that was opened last, or one of the current folder."""
        ws: lspkit.Workspace | None = last_open()
        if ws is None:
            ws = self._own = lspkit.Workspace(".")
        return ws

    def run(self, line: str, cell: str | None = None) -> Any:
        """Ask language servers about files, names and cells; see `%lsp?`."""
        if cell is not None:
            if line.strip():
                raise UsageError(f"%%lsp takes no words: {line.strip()}")
            return self._check_cell(cell)
        try:
            words = shlex.split(line)
        except ValueError as problem:
            raise UsageError(f"%lsp {line}: {problem}") from None
        if not words or words[0] not in COMMANDS:
            raise UsageError(f"%lsp COMMAND: one of {', '.join(COMMANDS)}; or %%lsp above a cell")
        return self._command(words[0], words[1:])

    run.__doc__ = __doc__

    def _command(self, command: str, words: list[str]) -> Any:
        if command == "status":
            _expect(not words, "%lsp status")
            return self.workspace().status()
        if command == "check":
            _expect(bool(words), "%lsp check FILE...")
            ws = self.workspace()
            return ws.check(words[0]) if len(words) == 1 else list(ws.check_all(words).values())
        if command == "symbols":
            _expect(len(words) == 1, "%lsp symbols FILE, or %lsp symbols NAME")
            return self._symbols(words[0])
        _expect(len(words) in (1, 2), f"%lsp {command} NAME, FILE NAME, or FILE:LINE:COLUMN")
        return self._ask(command, words)

    def _symbols(self, word: str) -> list[lspkit.Symbol]:
        ws = self.workspace()
        is_file = (ws.root / word).is_file()
        return ws.document_symbols(word) if is_file else ws.workspace_symbols(word)

    def _check_cell(self, body: str) -> lspkit.Report:
        document = VirtualDocument(self.cells.with_current(body))
        return document.report(self.workspace().check(NAME, text=document.text))

    def _ask(self, question: str, words: list[str]) -> Any:
        ws = self.workspace()
        method: Callable[..., Any] = getattr(ws, question)
        position = _POSITION.fullmatch(words[0])
        if position is not None and (position[3] or len(words) == 2):
            line, column = int(position[2]), int(position[3]) if position[3] else None
            name = words[1] if len(words) == 2 else None
            return method(position[1], line, column, symbol=name)
        if len(words) == 2:
            return method(words[0], symbol=words[1])
        if not _NAME.fullmatch(words[0]):
            raise UsageError(f"%lsp {question} NAME, FILE NAME, or FILE:LINE:COLUMN")
        return self._ask_cells(ws, method, words[0]) or _ask_symbol(ws, method, words[0])

    def _ask_cells(self, ws: lspkit.Workspace, method: Callable[..., Any], name: str) -> Any:
        """Ask about a name as if it stood in a cell of its own, after all others."""
        if not self._is_defined(name.partition(".")[0]):
            return None
        document = VirtualDocument(self.cells.cells())
        text = f"{document.text}{name}\n"
        column = name.rfind(".") + 2
        try:
            answer = method(NAME, document.line_count + 1, column, text=text)
        except _NO_ANSWER:
            return None
        if isinstance(answer, list):
            return document.locations(answer, ws.root / NAME)
        # The range is that of the line that no cell has.
        return answer if answer is None else msgspec.structs.replace(answer, range=None)

    def _is_defined(self, name: str) -> bool:
        """Whether the cells have defined a name, or Python has."""
        return name in self._shell.user_ns or hasattr(builtins, name)


def _ask_symbol(ws: lspkit.Workspace, method: Callable[..., Any], name: str) -> Any:
    """Ask about the symbol of the workspace that has this name."""
    try:
        symbol = named_symbol(ws, name)
    except lspkit.PositionError:
        raise UsageError(f"no cell and no file of {ws.root} defines {name}") from None
    return ask_at_symbol(method, symbol)


def _expect(condition: bool, usage: str) -> None:
    if not condition:
        raise UsageError(usage)
