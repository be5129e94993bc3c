"""The panel in a real terminal that changes its size, as `tmux` shows it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from lspkit.testing import Fault, Script
from tests.notebook.kernels import ROOT
from tests.panel.tmux import TmuxWindow
from tests.scripted import SOURCE, comes_true

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

pytestmark = pytest.mark.slow  # a terminal each


@pytest.fixture
def command(tmp_path: Path, scripted) -> list[str]:
    """The program with a panel of a server that has crashed, in a folder with a wide name."""
    folder = tmp_path / "幅の広いフォルダ"
    folder.mkdir()
    (folder / "b.broken").write_text(SOURCE, encoding="utf-8")
    crash = Fault("textDocument/definition", "crash")
    server = {"command": scripted(Script(faults=[crash])), "extensions": [".broken"]}
    config = {"lsp": {"broken": server}, "restart": {"policy": "never"}}
    program = [sys.executable, "-m", "tests.panel.embedded_panel", str(folder)]
    return [*program, json.dumps(config)]


def test_a_window_that_changes_its_size_is_filled_anew(command):
    with TmuxWindow(command, (200, 50), ROOT, {}) as window:
        window.until("✗ broken", "q quit")
        for size in ((40, 12), (80, 24), (200, 50)):
            window.resize(*size)
            wide = min(82, int(size[0] * 0.95))
            assert comes_true(lambda wide=wide: frame_width(window) == wide), window.text()
            window.until_framed()


def frame_width(window: TmuxWindow) -> int:
    """The cells of the upper side of the panel; 0 while it is not drawn."""
    sides = [one.strip() for one in window.lines() if one.strip().startswith("╭")]
    return cell_len(sides[0]) if sides and sides[0].endswith("╮") else 0
