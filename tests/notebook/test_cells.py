"""Cells become one Python file: what is no Python is replaced, lines and columns are kept."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("IPython", reason="IPython is not installed: pip install 'lspkit[notebook]'")

from lspkit.diagnostics.report import Evidence, Report
from lspkit.notebook.virtual_document import Cell, VirtualDocument, await_lines, python_of, tree_of
from lspkit.types import Diagnostic, Location, Position, Range, Severity, Verdict

DOCUMENT = Path("/w/cells.py")


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1", "x = 1\n"),
        ("", "\n"),
        ("%pwd", "pass\n"),
        ("if x:\n    %pwd", "if x:\n    pass\n"),
        ("!ls -l", "pass\n"),
        ("!ls \\\n -l\ny", "pass\n\ny\n"),
        ("x?", "pass\n"),
        ("?x", "pass\n"),
        ("x = !ls", 'x = eval("")\n'),
        ("x = %pwd", 'x = eval("")\n'),
        ("x, y = %pwd\n%cd ..", 'x, y = eval("")\npass\n'),
        ("%time x = f()", "pass ;x = f()\n"),
        ("%%time\nx = 1", "\nx = 1\n"),
        ("\n%%time\nx = 1", "\n\nx = 1\n"),
        ("%%bash\nls\nls", "\n\n\n"),
        ("%%html\n<b>", "\n\n"),
        ("%%", "\n"),
        ('x = """\n%pwd\n!ls\n"""', 'x = """\n%pwd\n!ls\n"""\n'),
        ("x = [\n1 %\n2]", "x = [\n1 %\n2]\n"),
        ("x = 5 % 3", "x = 5 % 3\n"),
        ("def f(:", "def f(:\n"),
        ("'''", "'''\n"),
    ],
)
def test_what_is_no_python_is_replaced(cell, python):
    assert python_of(cell) == python


def test_a_statement_with_its_time_stays_in_its_column():
    assert python_of("%time   x = f()").index("x") == "%time   x = f()".index("x")


def test_await_outside_of_functions_is_known():
    cell = "await a\nasync def f():\n    await b\nx = [\n  i async for i in c]\nasync with d: pass"
    assert await_lines(cell) == {1, 5, 6}
    assert await_lines("await (") == set()


def test_a_document_is_valid_python_also_with_a_future_import():
    cells = [Cell(1, "x = 1\n"), Cell(3, "from __future__ import annotations\ny = 2\n")]
    document = VirtualDocument(cells)
    assert document.text.startswith("from __future__ import annotations; ")
    assert tree_of(document.text) is not None
    ast.parse(document.text)


def span(line: int, column: int = 1) -> Range:
    return Range(Position(line, column), Position(line, column + 1))


def test_every_line_of_a_document_is_mapped_to_its_cell():
    document = VirtualDocument([Cell(1, "a\nb\n"), Cell(5, "c\n"), Cell(7, "d\ne\n")])
    lines = document.text.splitlines()
    for number in range(2, len(lines) + 1):
        found = document.cell_at(number)
        assert found is not None
        cell, before = found
        assert cell.python.splitlines()[number - before - 1] == lines[number - 1]
    assert document.cell_at(1) is None
    assert document.cell_at(len(lines) + 1) is None


def test_locations_are_mapped_and_others_are_kept():
    document = VirtualDocument([Cell(1, "a\nb\n"), Cell(5, "c\n")])
    elsewhere = Location(Path("/w/other.py"), span(1), "file:///w/other.py")
    found = [Location(DOCUMENT, span(line), "") for line in (1, 3, 4, 5)]
    mapped = document.locations([*found, elsewhere], DOCUMENT)
    assert [str(one) for one in mapped] == ["In[1]:2:1", "In[5]:1:1", "/w/other.py:1:1"]


def report(*findings: Diagnostic) -> Report:
    proof = Evidence("s", 1, "pull", 0.1)
    return Report(DOCUMENT, Verdict.DIRTY, list(findings), [proof], 0.1)


def error(line: int, message: str = "wrong") -> Diagnostic:
    return Diagnostic(DOCUMENT, span(line), Severity.ERROR, message, "")


def test_a_report_is_about_the_last_cell_only():
    document = VirtualDocument([Cell(1, "a\n"), Cell(5, "\nb\nawait c\n")])
    mapped = document.report(report(error(2), error(4), error(5, "`await` outside of a function")))
    assert [str(one) for one in mapped.diagnostics] == ["In[5]:2:1 error wrong"]
    assert mapped.verdict is Verdict.DIRTY
    assert document.report(report(error(2))).verdict is Verdict.CLEAN
    kept = document.report(report(error(5, "c is not awaitable")))
    assert len(kept.diagnostics) == 1
