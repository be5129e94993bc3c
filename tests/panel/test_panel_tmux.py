"""The panel in a real terminal, by key presses, at several sizes: `tmux` shows and types."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from lspkit.testing import Fault, Script
from tests.notebook.kernels import ROOT
from tests.panel.tmux import ENDED, TmuxWindow
from tests.scripted import SOURCE, comes_true

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

pytestmark = pytest.mark.slow  # a terminal each

SIZES = [(40, 12), (80, 24), (200, 50)]
each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
#: What a server prints before it ends.
LAST_WORDS = f"世界 {'long ' * 60}"
#: Servers besides those of the catalogue: more than 60 in all.
NUMBER = 20


#: Keys, what is on the screen after them, and what is not. A key right after Escape is another one:
#: terminals send Alt that way.
STEPS = (
    (["Enter"], "error ", "no rows"),
    (["Enter"], "● active", "error "),
    (["j"], "● active", "› ✗ broken"),
    (["k", "G"], "› △ unavail", "› ✗ broken"),
    (["g"], "› ✗ broken", "› △ unavail"),
    (["/", "幅"], "› △ unavail", "› ✗ broken"),
    (["Enter", "Enter"], "error     幅", "no rows"),
    (["Escape"], "› △ unavail", "│ 幅"),
    (["g"], "› ✗ broken", "› △ unavail"),
    (["?"], "↑ ↓  j k", "no rows"),
    (["Escape"], "q quit", "Esc closes"),
    (["t"], "held back", "no rows"),
    (["Escape"], "q quit", "Esc closes"),
    (["r"], "› ✗ broken", "no rows"),
    (["/", "zzz"], "no rows match filter", "› ✗ broken"),
    (["Escape"], "› ✗ broken", "no rows"),
)


def config_of(good: list[str], broken: list[str]) -> dict[str, Any]:
    """Servers that answer, that break and that do not start, and many that are not used."""
    wont = ["/bin/sh", "-c", f"echo '{LAST_WORDS}' >&2; exit 3"]
    servers = {
        "good": {"command": good, "extensions": [".good"]},
        "broken": {"command": broken, "extensions": [".broken"]},
        "幅の広い-server": {"command": wont, "extensions": [".wont"]},
    }
    more = {f"server-{at:02}{'界' * (at % 7)}": [f".x{at}"] for at in range(NUMBER)}
    servers |= {id: {"command": good, "extensions": ends} for id, ends in more.items()}
    return {"lsp": servers, "restart": {"policy": "never"}}


@pytest.fixture
def command(tmp_path: Path, scripted) -> list[str]:
    """The program with a panel of such servers."""
    folder = tmp_path / "幅の広いフォルダ"
    folder.mkdir()
    for name in ("a.good", "b.broken", "c.wont"):
        (folder / name).write_text(SOURCE, encoding="utf-8")
    crash = Fault("textDocument/definition", "crash")
    config = config_of(scripted(Script()), scripted(Script(faults=[crash])))
    program = [sys.executable, "-m", "tests.panel.embedded_panel", str(folder)]
    return [*program, json.dumps(config)]


@each_size
def test_no_key_makes_a_line_too_wide_and_it_quits_clean(command, size):
    with TmuxWindow(command, size, ROOT, {}) as window:
        window.until("✗ broken", "› ", "q quit")
        window.until_framed()
        for keys, shown, gone in STEPS:
            window.press(*keys)
            window.until(shown)
            window.until_gone(gone)
            window.until_framed()
        window.press("q")
        window.until(ENDED)
        assert window.text().split() == [*ENDED.split(), "0"]
        assert window.settings_are_restored()


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
