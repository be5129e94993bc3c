"""The code stays within its budget of lines and modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''"""What this is about.

More about it."""

import os  # counts once

# no code
TEXT = """
# part of a string

"""


def run() -> str:
    """A docstring."""
    return (
        TEXT
    )
'''


@pytest.fixture(scope="module")
def code_size() -> ModuleType:
    spec = importlib.util.spec_from_file_location("code_size", ROOT / "tools" / "code_size.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["code_size"] = module
    spec.loader.exec_module(module)
    return module


def test_comments_docstrings_and_blank_lines_do_not_count(code_size: ModuleType) -> None:
    assert code_size.code_lines(SOURCE) == 9


def test_nothing_is_above_its_budget(code_size: ModuleType) -> None:
    _, above = code_size.report()
    assert above == [], "see `make size`"


def test_what_is_above_its_budget_is_named(code_size: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "lspkit").mkdir()
    (tmp_path / "lspkit" / "a.py").write_text("a = 1\nb = 2\n")
    table = '[tool.lspkit-size]\n"lspkit" = { lines = 1, modules = 1 }\n'
    (tmp_path / "pyproject.toml").write_text(table)
    _, above = code_size.report(tmp_path)
    assert above == ["lspkit has 2 lines, 1 more than its budget"]
