"""The Python of a cell: magics and shell commands are replaced, lines and columns are kept.

IPython's own functions find them, so that a line in a string that begins with `%` is no magic.
"""

from __future__ import annotations

import ast
from typing import Any

from IPython.core import inputtransformer2 as transformer

#: Cell magics whose cell is Python.
PYTHON_CELLS = frozenset({"capture", "debug", "lsp", "prun", "time", "timeit"})
#: Stands for a value that only the shell knows: a type checker takes it for anything.
ANYTHING = 'eval("")'
#: `%time STATEMENT`.
_TIME = "%time "

_ASSIGNMENTS: tuple[Any, ...] = (transformer.MagicAssign, transformer.SystemAssign)
_COMMANDS: tuple[Any, ...] = (transformer.EscapedCommand, transformer.HelpEnd)


def python_of(cell: str) -> str:
    """The cell as Python, with the same number of lines; it ends with a line break."""
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
            found: Any = kind.find(tokens)
            if found is not None:
                _replace(lines, found, ANYTHING if kind in _ASSIGNMENTS else "pass")
                return True
    except (SyntaxError, IndexError, ValueError):
        # A cell with such a mistake is for the server to judge.
        return False
    return False


def _replace(lines: list[str], found: Any, instead: str) -> None:
    first, column = found.start_line, found.start_col
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
    found: set[int] = set()
    left: list[ast.AST] = [tree] if tree is not None else []
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            found.add(node.lineno)
        if isinstance(node, ast.comprehension) and node.is_async:
            found.add(node.iter.lineno)
        left.extend(ast.iter_child_nodes(node))
    return found
