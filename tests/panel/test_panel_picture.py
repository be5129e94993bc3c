"""The picture of the panel in docs/command-line.md shows the panel as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the extra is not installed: pip install 'lspkit[panel]'")

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "draw_panel.py"


def words_of(picture: str) -> str:
    """What is written in a picture. Its drawing may change with each version of textual."""
    return "\n".join(re.findall(r"<text [^>]*>([^<]*)<", picture))


@pytest.mark.slow
def test_the_picture_is_up_to_date(tmp_path):
    subprocess.run([sys.executable, TOOL, tmp_path], cwd=ROOT, check=True, timeout=60)
    committed = (ROOT / "docs" / "panel.svg").read_text(encoding="utf-8")
    drawn = (tmp_path / "panel.svg").read_text(encoding="utf-8")
    assert words_of(committed) == words_of(drawn), f"run: python {TOOL}"


def test_the_picture_takes_nothing_from_elsewhere():
    committed = (ROOT / "docs" / "panel.svg").read_text(encoding="utf-8")
    assert "@font-face" not in committed
    assert all(one.startswith("#") for one in re.findall(r"url\(([^)]*)\)", committed))
