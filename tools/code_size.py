"""Prints lines of code and modules of each folder, beside their budget: python tools/code_size.py

Comments, docstrings and blank lines do not count: theory is never saved on. The budget is in
`pyproject.toml`; above it the exit status is 1. Who raises it defends that line of the diff.
"""

from __future__ import annotations

import ast
import functools
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: What may have a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Size(NamedTuple):
    """The size of some folders together."""

    lines: int
    modules: int


def code_lines(source: str) -> int:
    """How many lines hold code."""
    lines = {
        number
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr | ast.Constant):  # a long string may look like a comment
            lines.update(_span(node))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(_span(node.body[0]))
    return len(lines - docstrings)


def _span(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def size_of(folders: Iterable[Path]) -> Size:
    """The size of these folders and files."""
    files = [
        path
        for folder in folders
        for path in ([folder] if folder.is_file() else folder.rglob("*.py"))
    ]
    return Size(sum(map(_lines_of, files)), len(files))


@functools.cache
def _lines_of(path: Path) -> int:
    return code_lines(path.read_text(encoding="utf-8"))


def budgets(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Folders, joined by `+`: the most lines and, for some, the most modules."""
    with (root / "pyproject.toml").open("rb") as stream:
        table: dict[str, dict[str, int]] = tomllib.load(stream)["tool"]["lspkit-size"]
    return table


def report(root: Path = ROOT) -> tuple[list[str], list[str]]:
    """The lines to print, and what is above its budget."""
    known = budgets(root)
    inner = sorted(path for path in (root / "lspkit").iterdir() if (path / "__init__.py").exists())
    names = [*known, *(f"lspkit/{path.name}" for path in inner)]
    lines = [f"{'':30}{'lines':>8}{'budget':>8}{'modules':>9}{'budget':>8}"]
    above: list[str] = []
    for name in dict.fromkeys(names):
        size = size_of(root / folder for folder in name.split("+"))
        budget = known.get(name, {})
        row = f"{name:30}"
        for kind, number, width in (("lines", size.lines, 8), ("modules", size.modules, 9)):
            most = budget.get(kind)
            row += f"{number:>{width}}{most if most is not None else '':>8}"
            if most is not None and number > most:
                above.append(f"{name} has {number} {kind}, {number - most} more than its budget")
        lines.append(row.rstrip())
    return lines, above


def main() -> int:
    """Print the table; 1 if something is above its budget."""
    lines, above = report()
    print("\n".join(lines))
    for problem in above:
        print(f"{problem}: make it smaller, or raise [tool.lspkit-size] in pyproject.toml")
    return bool(above)


if __name__ == "__main__":
    sys.exit(main())
