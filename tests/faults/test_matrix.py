"""Every fault and every operation: a structured error or an answer in time, the other server
unharmed, the next call right, nothing left. The tables are in table.py and operations.py.

`make check` and `make test` run a diagonal through the matrix, `make test-long` the rest of it.
"""

from __future__ import annotations

import runpy
from functools import partial
from pathlib import Path

import pytest

from tests.faults.cells import Cell, all_cells, quick_cells, run
from tests.faults.operations import OPERATIONS
from tests.faults.table import ROWS
from tests.side_by_side import SideBySide, selected

ROOT = Path(__file__).resolve().parents[2]
QUICK = quick_cells()
REST = pytest.mark.long(reason="the fault matrix in full")


def is_quick(cell: Cell) -> bool:
    return cell.row.shared or cell.name in QUICK


CELLS = [
    pytest.param(cell, id=cell.name, marks=() if is_quick(cell) else REST) for cell in all_cells()
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return SideBySide(tmp_path_factory.mktemp("matrix"), at_once=4)


@pytest.mark.parametrize("cell", CELLS)
def test_a_fault_harms_nothing_but_the_call_that_meets_it(cell: Cell, results, request):
    """The cells of a row are run at the same time, each in a workspace of its own."""
    cells = [one for one in selected(request, "cell") if one.row is cell.row]
    results.result(cell.name, {one.name: partial(run, one) for one in cells})


def test_the_quick_selection_has_every_fault_and_every_operation():
    met = [(row, one) for row in ROWS for one in OPERATIONS if Cell(row, (one,)).name in QUICK]
    assert {row.name for row, _ in met} == {row.name for row in ROWS if not row.shared}
    assert {one.name for _, one in met} == {one.name for one in OPERATIONS}


def test_the_page_about_faults_is_up_to_date():
    page = runpy.run_path(str(ROOT / "tools" / "write_fault_matrix.py"))
    committed = page["PAGE"].read_text(encoding="utf-8")
    assert committed == page["page"](), "run: python tools/write_fault_matrix.py"
