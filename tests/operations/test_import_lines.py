"""Which lines of a text import a file, by its name."""

from __future__ import annotations

import pytest

from lspkit.operations.checks.import_lines import import_lines, import_word, uses_imports


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/code/prices.py", "prices"),
        ("/code/shop/__init__.py", "shop"),
        ("/code/shop/lib.py", "lib"),
        ("/code/shop/index.d.ts", "shop"),
        ("/code/prices.d.ts", "prices"),
        ("/code/lib/lib.go", "lib"),
        ("/code/prices.h", "prices"),
        ("/code/Makefile", "Makefile"),
    ],
)
def test_a_file_is_imported_by_a_word(path, word):
    assert import_word(path) == word


@pytest.mark.parametrize(
    "line",
    [
        "import prices",
        "from prices import price_of",
        "from .shop.prices import (",
        "from shop import orders, prices",
        "    prices,",
        "    prices as p,",
        'import { priceOf } from "./prices"',
        '} from "../shop/prices.js"',
        'export * from "./prices"',
        'const prices = require("./prices")',
        'await import("./prices")',
        '#include "prices.h"',
        "mod prices;",
        "use crate::prices::price_of;",
    ],
)
def test_an_import_is_found(line):
    assert import_lines(f"first\n{line}\n", ["prices"]) == (2,)


@pytest.mark.parametrize(
    "line",
    [
        "print(prices)",
        "prices = 1",
        "import prices_of",
        "from old_prices import x",
        "# the prices",
        "",
    ],
)
def test_other_lines_are_no_imports(line):
    assert import_lines(f"first\n{line}\n", ["prices"]) == ()


def test_without_a_word_nothing_is_found():
    assert import_lines("import x\n", []) == ()
    assert import_lines("import x\n", [""]) == ()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("import prices\n\nprices.of(1)\nother(1)\n", 1),
        ("from prices import (\n    of,\n)\n\nof(1)\nother(1)\n", 1),
        ('import {\n  of,\n} from "./prices"\n\nof(1)\nother(1)\n', 3),
    ],
)
def test_a_line_uses_an_import_if_it_names_what_is_imported(text, at):
    lines = text.split("\n")
    assert [number for number in range(1, len(lines)) if uses_imports(text, [at], [number])] == [
        number for number, line in enumerate(lines, 1) if "of" in line or "prices" in line
    ]
