"""`examples/notebook.ipynb` runs from top to bottom, and shows what its text says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.kernels import ROOT, environment

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")

TOUR = ROOT / "examples" / "notebook.ipynb"
#: In a process of its own: nbclient does not close its event loop.
EXECUTE = """if True:
    import sys, nbclient, nbformat
    notebook = nbformat.read(sys.argv[1], 4)
    nbclient.NotebookClient(notebook, timeout=90, kernel_name="python3").execute()
    nbformat.write(notebook, sys.argv[2])
"""


def test_it_is_stored_without_outputs():
    stored = nbformat.read(TOUR, 4)
    nbformat.validate(stored)
    cells = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert len(cells) > 10
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


@pytest.mark.slow
@pytest.mark.server
def test_it_runs_and_shows_what_it_says(tmp_path: Path):
    for needed in ("nbclient", "ty"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    done = tmp_path / "done.ipynb"
    subprocess.run(
        [sys.executable, "-c", EXECUTE, TOUR, done],
        cwd=tmp_path,
        env=environment(tmp_path),
        check=True,
        timeout=100,
    )
    tour = nbformat.read(done, 4)
    shown = {cell.source.strip(): cell.outputs for cell in tour.cells if cell.cell_type == "code"}

    def result(beginning: str) -> str:
        (outputs,) = [found for source, found in shown.items() if source.startswith(beginning)]
        return plain(outputs[-1].data)

    assert "class InfinityType" in result("ws.document_symbols")
    assert "packaging/requirements.py:35:7 class Requirement" in result("ws.definition")
    assert "class InvalidVersion(ValueError):" in result("ws.references")
    assert "def parse(version: str) -> Version" in result("ws.hover")
    assert "packaging/metadata.py" in result("ws.incoming_calls")
    assert re.match("dirty packaging/_structures.py .*missing", result("file ="))
    assert "clean" in result("ws.check(file)")
    assert "+class BadVersion(ValueError):" in result("edit =")
    assert "def newer(" in result("%lsp hover")
    assert "6:5 def newer(first: str, second: str)" in result("%lsp definition")
    assert re.match(r"dirty In\[\d+\] .*In\[\d+\]:3:7.*upper", result("%%lsp"))
    assert re.search(r"active ty python .*pid \d+", result("%lsp status"))


def plain(data: dict[str, Any]) -> str:
    """The words of an output: its HTML without tags, or its Markdown, or its text."""
    if "text/html" not in data:
        return str(data.get("text/markdown", data["text/plain"]))
    blocks = re.sub(r"</?(?:table|tr|td|th|div|br|pre)\b[^>]*>", " ", data["text/html"])
    words = re.sub(r"<[^>]*>", "", blocks).replace("&gt;", ">")
    return " ".join(words.split())
