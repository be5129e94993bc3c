"""The page of promises: its words stand in the pages that it quotes, and its tests exist."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "promises.md"
#: The pages that promise something.
PAGES = {"README.md", "SECURITY.md", "docs/command-line.md", "docs/guide.md", "docs/trust.md"}
SECTION = re.compile(r"^## (\S+\.md)$(.*?)(?=^## )", re.M | re.S)
ROW = re.compile(r"^\| \"(.+)\" \| `(tests/\S+?)::(\S+)` \|$", re.M)


def rows() -> list[tuple[str, str, str, str]]:
    """Page, words, file and name of a test."""
    found = SECTION.findall(PAGE.read_text(encoding="utf-8"))
    return [(page, *row) for page, text in found for row in ROW.findall(text)]


@functools.cache
def names_of_tests(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = set[str]()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{one.name}" for one in node.body if hasattr(one, "name")}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return frozenset(names)


@functools.cache
def words_of(page: str) -> str:
    return re.sub(r"[\s*]+", " ", (ROOT / page).read_text(encoding="utf-8"))


def test_every_line_of_the_tables_is_understood() -> None:
    lines = re.findall(r"^\| \".*$", PAGE.read_text(encoding="utf-8"), re.M)
    assert len(lines) == len(rows())
    assert {page for page, *_ in rows()} == PAGES


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[1][:40])
def test_a_promise_stands_in_its_page_and_its_test_exists(row: tuple[str, str, str, str]) -> None:
    page, words, file, name = row
    assert re.sub(r"[\s*]+", " ", words) in words_of(page)
    assert name in names_of_tests(file)
