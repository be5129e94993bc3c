"""The cells of docs/notebook.md and README.md run in a kernel, and show the table of the page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.doc_blocks import blocks_of
from tests.notebook.kernels import ROOT, kernel

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "notebook.md"

pytestmark = [pytest.mark.slow, pytest.mark.server]


def test_the_cells_of_the_page_show_what_it_says(tmp_path: Path):
    if importlib.util.find_spec("ty") is None:
        pytest.skip("ty is not installed")
    cells = [block.text for block in blocks_of(PAGE) if block.language == "ipython"]
    with kernel(ROOT, tmp_path) as one:
        shown = [one.run(cell) for cell in cells]
        named = one.run("%lsp hover Basket.total")
        placed = one.run("%lsp definition shop.py:13:20")
        one.run("ws.close()")
        [cell] = [block.text for block in blocks_of(README) if block.language == "ipython"]
        table = one.run(cell)
    assert [output.error for output in shown] == [""] * len(cells)
    assert shown[0].html in PAGE.read_text(encoding="utf-8").splitlines()
    assert shown[0].html.count("<tr>") == 5
    assert not table.error
    assert table.html.count("<tr>") == 5
    assert "dirty In[4]" in shown[-1].text
    assert "In[4]:2:" in shown[-1].text
    assert "def total(self) -> int" in named.result["text/markdown"]
    assert "prices.py:6:5 def price_of" in placed.text
