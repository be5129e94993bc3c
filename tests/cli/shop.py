"""A small Python project for tests of the commands, and a scripted server for their faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PRICES = """\
PRICES = {"tea": 320}


def price_of(item: str) -> int:
    return PRICES[item]
"""
SHOP = """\
from prices import price_of


class Basket:
    items: list[str]

    def total(self) -> int:
        return sum(price_of(item) for item in self.items)
"""


def write_shop(folder: Path) -> Path:
    """Write the project into a folder."""
    (folder / "prices.py").write_text(PRICES, encoding="utf-8")
    (folder / "shop.py").write_text(SHOP, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    return folder


def configured(folder: Path, server: str, **entry: Any) -> dict[str, str]:
    """The variables with which the user has configured this server, and trusts every project."""
    file = folder.parent / f"{folder.name}.json"
    file.write_text(json.dumps({"lsp": {server: entry}}), encoding="utf-8")
    return {"LSPKIT_CONFIG": str(file), "LSPKIT_TRUST": "always"}


def scripted_project(folder: Path, argv: list[str]) -> dict[str, str]:
    """Write `a.scr`, and return the variables with which this server serves it."""
    (folder / "a.scr").write_text("def greet\n😀 greet ok\n", encoding="utf-8")
    return configured(folder, "scripted", command=argv, extensions=[".scr"])
