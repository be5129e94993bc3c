"""Which declarations an edit has changed: the cases of several languages, as tables."""

from __future__ import annotations

import pytest

from lspkit.operations.checks.changed_declarations import (
    Outline,
    changed_declarations,
    infers_types,
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
        ("    name: str\n\n", "\n", ["name", "Shop"]),
        ("def close(self)", "def close(self, now: bool)", ["close", "Shop"]),
        ("__init__(self, name: str)", "__init__(self)", ["__init__", "Shop"]),
        ("self.name = name", "self.title = name", ["name", "Shop"]),
        ("print(self.name)\n", "print(self.name)\n\n    def more(self) -> int: ...\n", ["Shop"]),
        ("self.name)\n", "self.name)\n\n    @abstractmethod\n    def more(self): ...\n", ["Shop"]),
        ("    name: str\n\n", "    name: str\n\n    def more(self): ...\n\n", ["Shop"]),
        ("print(self.name)\n", "print(self.name)\n        print(1)\n", []),
        (", rate", "", ["rate"]),
        ("import os\n", "", ["os"]),
        ("y = x + 1", "y = x + 2", ["guess"]),
        ("y = x + 1", "# why\n    y = x + 1\n", []),
        ("return y\n", "return y\n    return x\n", ["guess"]),
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
    assert [one.name for one in found.symbols] == names


LISTS = """\
from prices import (
    price_of,
    rate as tax,
)
from more import *

__all__ = [
    "price_of",
    "tax",
]


class Basket:
    def __init__(self, items):
        self.size = max(
            len(items),
            1,
        )
        self.items = items

    def total(self, limit=lambda x: [x]) -> int:
        return 1
"""
BASKET = outline(
    LISTS,
    "class",
    "Basket",
    "class",
    10,
    outline(LISTS, "__init__", "__init__", "method", 6),
    outline(LISTS, "total", "total", "method", 2),
)
LIST = outline(LISTS, "__all__", "__all__", "variable", 4)


@pytest.mark.parametrize(
    ("old", "new", "names", "words"),
    [
        ("    price_of,\n", "", ["price_of"], []),
        ("rate as tax", "rate as duty", ["tax"], []),
        ("rate as tax", "rate", ["tax"], []),
        ("from prices", "from shop.prices", ["price_of", "tax"], []),
        ("from more import *\n", "", [], []),
        ('    "tax",\n', "", ["__all__"], ["tax"]),
        ("            1,\n", "            1.5,\n", ["__init__", "size", "Basket"], []),
        ("        )\n", "        ) or 2\n", ["__init__", "size", "Basket"], []),
        ("lambda x: [x]", "lambda x: x", ["total", "Basket"], []),
        ("return 1", "return 2", [], []),
    ],
)
def test_what_changes_in_lists_and_statements_of_several_lines(
    old: str, new: str, names: list[str], words: list[str]
) -> None:
    changed = changed_declarations(LISTS, LISTS.replace(old, new, 1), [LIST, BASKET], inferred=True)
    assert sorted(one.name for one in changed.symbols) == sorted(names)
    assert [word for word in changed.words if word not in names] == words
    assert changed.has_star is ("*" in old)


@pytest.mark.parametrize("line", ["    *,\n", "    **options: int,\n", "    *names: str,\n"])
def test_a_star_among_parameters_is_no_comment(line: str) -> None:
    old = "def total(\n    a: int,\n    b: int,\n) -> int:\n    return 1\n"
    total = outline(old, "def total", "total", "function", 5)
    new = old.replace("    b: int,\n", f"{line}    b: int,\n")
    assert [one.name for one in changed_declarations(old, new, [total]).symbols] == ["total"]


def test_a_function_that_only_moved_has_not_changed() -> None:
    guess = PYTHON[PYTHON.index("def guess") :]
    moved = PYTHON.replace(guess, "").replace("LIMIT = 3\n", f"LIMIT = 3\n\n\n{guess}")
    assert changed_declarations(PYTHON, moved, SYMBOLS).symbols == []


def test_all_declarations_of_a_text_that_is_gone_have_changed() -> None:
    names = [one.name for one in changed_declarations(PYTHON, "", SYMBOLS).symbols]
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
export function each(f = (x: number): number => x) {
  return f(1)
}
export function pair(): {
  a: number
} {
  return { a: 1 }
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
    outline(TYPESCRIPT, "each", "each", "function", 3),
    outline(TYPESCRIPT, "pair", "pair", "function", 5),
]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 2", []),
        ("): number", "): string", ["priceOf"]),
        ("name: string\n", "name: string\n  size: number\n", ["Item"]),
        ("name: string", "name?: string", ["name", "Item"]),
        ("(x: number)", "(x: string)", ["twice"]),
        ("export function", "function", ["priceOf"]),
        ("return f(1)", "return [f(1)]", ["each"]),
        ("  a: number", "  a: string", ["pair"]),
        ("a: 1", "a: 2", []),
    ],
)
def test_what_changes_in_typescript(old: str, new: str, names: list[str]) -> None:
    text = TYPESCRIPT.replace(old, new, 1)
    found = changed_declarations(TYPESCRIPT, text, TYPESCRIPT_SYMBOLS, inferred=True)
    assert [one.name for one in found.symbols] == names


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
    assert [one.name for one in found.symbols] == names


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
    text = PYTHON.replace(old, new, 1)
    assert changed_declarations(PYTHON, text, SYMBOLS).is_internal is inside


def test_a_part_of_a_namespace_is_changed_without_it():
    text = "namespace shop {\nint price_of(int item);\nint tax();\n}\n"
    price = outline(text, "int price_of", "price_of", "function", 1)
    space = outline(text, "namespace", "shop", "namespace", 4, price)
    new = text.replace("int item", "char item")
    assert changed_declarations(text, new, [space]).symbols == [price]
    renamed = text.replace("namespace shop", "namespace store")
    assert changed_declarations(text, renamed, [space]).symbols == [space]


@pytest.mark.parametrize(
    ("old", "new"),
    [("-> int", "-> float"), ("a: str,", "a: bytes,"), ("@overload\n", "@overload\n@final\n")],
)
def test_an_overload_that_the_server_does_not_list_belongs_to_its_function(old: str, new: str):
    text = (
        "def other(): ...\n\n\n@overload\ndef f(\n    a: str,\n) -> int: ...\n\n"
        "# the other one\n@overload\n@deprecated(\n    'it'\n)\ndef f(a: None) -> None: ...\n\n"
        "def f(a=None):\n    return a\n"
    )
    listed = [
        outline(text, "def other", "other", "function", 1),
        outline(text, "def f(a=None)", "f", "function", 2),
    ]
    edited = text.replace(old, new, 1)
    assert changed_declarations(text, edited, listed).symbols == listed[1:]
    overload = outline(text, "def f(", "f", "function", 3)
    assert changed_declarations(text, edited, [*listed, overload]).symbols == [overload]
