"""Which declarations an edit has changed: the cases of several languages, as tables."""

from __future__ import annotations

import pytest

from lspkit.operations.checks.changed_declarations import (
    Outline,
    changed_declarations,
    infers_types,
    only_bodies_changed,
)

PYTHON = """\
import os
from prices import price_of, rate

LIMIT = 3


@cached
def total(items: list[str],
          tax: int) -> int:
    result = 0
    return result


class Shop(Base):
    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def close(self) -> None:
        print(self.name)


def guess(x):
    y = x + 1
    return y
"""


def _at(text: str, words: str, name: str) -> tuple[int, int]:
    for number, line in enumerate(text.split("\n")):
        if words in line:
            return number, line.index(name)
    raise AssertionError(words)


def outline(text: str, words: str, name: str, kind: str, size: int, *children: Outline) -> Outline:
    line, column = _at(text, words, name)
    return Outline(name, kind, line, line + size - 1, line, column, children)


SYMBOLS = [
    outline(PYTHON, "LIMIT", "LIMIT", "variable", 1),
    outline(PYTHON, "def total", "total", "function", 4),
    outline(
        PYTHON,
        "class Shop",
        "Shop",
        "class",
        8,
        outline(PYTHON, "name: str", "name", "field", 1),
        outline(PYTHON, "def __init__", "__init__", "method", 2),
        outline(PYTHON, "def close", "close", "method", 2),
    ),
    outline(PYTHON, "def guess", "guess", "function", 3),
]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("result = 0", "result = 1\n    print(result)", []),
        ("print(self.name)", "print(self.name, 1)", []),
        ("tax: int) -> int", "tax: int, more: int) -> int", ["total"]),
        ("tax: int) -> int", "tax: int) -> str", ["total"]),
        ("list[str],", "list[int],", ["total"]),
        ("list[str],\n", "list[str],\n          more: int,\n", ["total"]),
        ("@cached\n", "", ["total"]),
        ("@cached\n", "@cached\n@other\n", ["total"]),
        ("def total", "def totals", ["total"]),
        ("LIMIT = 3", 'LIMIT = "3"', ["LIMIT"]),
        ("LIMIT = 3\n", "", ["LIMIT"]),
        ("(Base)", "", ["Shop"]),
        ("name: str\n\n", "name: str\n    size: int\n\n", ["Shop"]),
        ("    name: str\n\n", "\n", ["Shop", "name"]),
        ("def close(self)", "def close(self, now: bool)", ["close", "Shop"]),
        ("__init__(self, name: str)", "__init__(self)", ["Shop", "__init__"]),
        ("self.name = name", "self.title = name", ["name", "Shop"]),
        ("print(self.name)\n", "print(self.name)\n\n    def more(self) -> int: ...\n", []),
        (", rate", "", ["rate"]),
        ("import os\n", "", ["os"]),
        ("y = x + 1", "y = x + 2", []),
        ("return y", "return str(y)", ["guess"]),
        ("return result", "return result + 1", []),
        ("import os\n", "import os\nimport sys\n", []),
        ("LIMIT = 3", "LIMIT = 3\nMORE = 4", []),
        ("", "", []),
    ],
)
def test_what_changes_in_python(old: str, new: str, names: list[str]) -> None:
    assert old in PYTHON
    found = changed_declarations(
        PYTHON, PYTHON.replace(old, new, 1), SYMBOLS, inferred=infers_types("a.py")
    )
    assert [one.name for one in found] == names


def test_a_function_that_only_moved_has_not_changed() -> None:
    guess = PYTHON[PYTHON.index("def guess") :]
    moved = PYTHON.replace(guess, "").replace("LIMIT = 3\n", f"LIMIT = 3\n\n\n{guess}")
    assert changed_declarations(PYTHON, moved, SYMBOLS) == []


def test_all_declarations_of_a_text_that_is_gone_have_changed() -> None:
    names = [one.name for one in changed_declarations(PYTHON, "", SYMBOLS)]
    assert {"LIMIT", "total", "Shop", "name", "__init__", "close", "guess", "rate"} <= {*names}


TYPESCRIPT = """\
export interface Item {
  name: string
}
export function priceOf(item: Item): number {
  return 1
}
export const twice = (x: number) => {
  return 2 * x
}
"""
TYPESCRIPT_SYMBOLS = [
    outline(
        TYPESCRIPT,
        "Item {",
        "Item",
        "interface",
        3,
        outline(TYPESCRIPT, "name:", "name", "property", 1),
    ),
    outline(TYPESCRIPT, "priceOf", "priceOf", "function", 3),
    outline(TYPESCRIPT, "twice", "twice", "constant", 3),
]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 2", []),
        ("): number", "): string", ["priceOf"]),
        ("name: string\n", "name: string\n  size: number\n", ["Item"]),
        ("name: string", "name?: string", ["Item", "name"]),
        ("(x: number)", "(x: string)", ["twice"]),
        ("export function", "function", ["priceOf"]),
    ],
)
def test_what_changes_in_typescript(old: str, new: str, names: list[str]) -> None:
    text = TYPESCRIPT.replace(old, new, 1)
    found = changed_declarations(TYPESCRIPT, text, TYPESCRIPT_SYMBOLS, inferred=True)
    assert [one.name for one in found] == names


GO = "package x\n\nfunc F(\n\tx int,\n) int {\n\treturn x\n}\n"
C = "#pragma once\nint f(int);\n\nstatic int g(int x)\n{\n  return x;\n}\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "names"),
    [
        (GO, "return x", "return x + 1", []),
        (GO, "x int,", "x string,", ["F"]),
        (GO, ") int {", ") string {", ["F"]),
        (C, "f(int)", "f(int, int)", ["f"]),
        (C, "return x", "return 2 * x", []),
        (C, "static int", "static long", ["g"]),
    ],
)
def test_what_changes_in_languages_with_braces(
    text: str, old: str, new: str, names: list[str]
) -> None:
    symbols = (
        [outline(GO, "func F", "F", "function", 5)]
        if text == GO
        else [outline(C, "f(int)", "f", "function", 1), outline(C, "g(int", "g", "function", 4)]
    )
    found = changed_declarations(text, text.replace(old, new, 1), symbols)
    assert [one.name for one in found] == names


@pytest.mark.parametrize(
    ("old", "new", "inside"),
    [
        ("result = 0", "result = 1\n    print(result)", True),
        ("import os\n", "# why\nimport os\n", True),
        ("print(self.name)", "print(1)", True),
        ("def guess(x)", "def guess(x, y)", False),
        ("import os\n", "import os\nimport sys\n", False),
        ("LIMIT = 3", "LIMIT = 3\nMORE = 4", False),
        ("    return y\n", "    return y\n\n\ndef more(): ...\n", False),
        ("name: str\n\n", "name: str\n    size: int\n\n", False),
    ],
)
def test_whether_only_bodies_have_changed(old: str, new: str, inside: bool) -> None:
    assert old in PYTHON
    assert only_bodies_changed(PYTHON, PYTHON.replace(old, new, 1), SYMBOLS) is inside


def test_a_part_of_a_namespace_is_changed_without_it():
    text = "namespace shop {\nint price_of(int item);\nint tax();\n}\n"
    price = outline(text, "int price_of", "price_of", "function", 1)
    space = outline(text, "namespace", "shop", "namespace", 4, price)
    new = text.replace("int item", "char item")
    assert changed_declarations(text, new, [space]) == [price]
    renamed = text.replace("namespace shop", "namespace store")
    assert changed_declarations(text, renamed, [space]) == [space]
