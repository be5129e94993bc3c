"""What the documentation shows is true: its code runs, its pictures are drawn from the code."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(match[1], id=f"{page.name}-{number}")
    for page in PAGES
    for number, match in enumerate(
        re.finditer(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S), 1
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS)
def test_every_block_of_python_runs(code):
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_pictures_show_what_the_code_does():
    spec = importlib.util.spec_from_file_location("draw", ROOT / "tools" / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    for name, picture in draw.PICTURES.items():
        drawn = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert drawn == picture(), f"run: python tools/draw.py ({name} is out of date)"


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
