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


#: A call of each command that succeeds in a scripted project.
CALLS = {
    "check": ["check", "a.scr"],
    "config": ["config", "show"],
    "trust": ["trust", "add", "--yes"],
    "definition": ["definition", "a.scr:2:3"],
    "references": ["references", "a.scr:2:3"],
    "hover": ["hover", "a.scr:2:3"],
    "implementation": ["implementation", "a.scr:2:3"],
    "symbols": ["symbols", "a.scr"],
    "calls": ["calls", "a.scr:2:3"],
    "rename": ["rename", "a.scr:2:3", "hello"],
    "status": ["status"],
    "panel": ["panel"],
    "tools": ["tools"],
    "completion": ["completion", "bash"],
    "stop": ["stop"],
    "install": ["install", "--list"],
    "servers": ["servers"],
    "doctor": ["doctor"],
}


def scripted_project(folder: Path, argv: list[str]) -> dict[str, str]:
    """Write `a.scr`, and return the variables with which this server serves it."""
    (folder / "a.scr").write_text("def greet\n😀 greet ok\n", encoding="utf-8")
    state = {"LSPKIT_STATE": str(folder.parent / f"{folder.name}.state")}
    return {
        **configured(folder, "scripted", command=argv, extensions=[".scr"], proof="pull"),
        **state,
    }


def all_answers(folder: Path) -> dict[str, Any]:
    """Answers of a scripted server to the questions that it would not answer by itself."""
    place = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    uri = (folder / "a.scr").as_uri()
    item = {"name": "greet", "kind": 12, "uri": uri, "range": place, "selectionRange": place}
    return {
        "textDocument/implementation": [{"uri": uri, "range": place}],
        "textDocument/prepareCallHierarchy": [item],
        "callHierarchy/incomingCalls": [{"from": item, "fromRanges": [place]}],
    }
