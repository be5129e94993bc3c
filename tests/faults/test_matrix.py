"""Every fault and every operation: a structured error or an answer in time, the other server
unharmed, the next call right, nothing left. The tables are in table.py and operations.py.

`make check` runs a diagonal through the matrix, `make test` all of it.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.faults.cells import Cell, Matrix, all_cells, quick_cells
from tests.faults.operations import OPERATIONS
from tests.faults.table import ROWS

ROOT = Path(__file__).resolve().parents[2]
QUICK = quick_cells()
CELLS = [
    pytest.param(cell, id=cell.name, marks=() if cell.name in QUICK else pytest.mark.slow)
    for cell in all_cells()
]


@pytest.fixture(scope="module")
def matrix(request, tmp_path_factory):
    """The cells of this run, also where only some were selected."""
    here = [item for item in request.session.items if item.path == request.path]
    cells = [item.callspec.params["cell"] for item in here if hasattr(item, "callspec")]
    return Matrix(cells, tmp_path_factory.mktemp("matrix"))


@pytest.mark.parametrize("cell", CELLS)
def test_a_fault_harms_nothing_but_the_call_that_meets_it(cell: Cell, matrix: Matrix):
    matrix.result(cell)


def test_the_quick_selection_has_every_fault_and_every_operation():
    met = [(row, one) for row in ROWS for one in OPERATIONS if Cell(row, (one,)).name in QUICK]
    assert {row.name for row, _ in met} == {row.name for row in ROWS if not row.shared}
    assert {one.name for _, one in met} == {one.name for one in OPERATIONS}


def test_the_page_about_faults_is_up_to_date():
    page = runpy.run_path(str(ROOT / "tools" / "write_fault_matrix.py"))
    committed = page["PAGE"].read_text(encoding="utf-8")
    assert committed == page["page"](), "run: python tools/write_fault_matrix.py"
