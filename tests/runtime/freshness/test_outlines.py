"""The symbols of an answer as a tree: what lies inside of another symbol is a part of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lspkit.operations.checks.changed_declarations import Outline
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.wire.results import WireSymbol
from lspkit.runtime.freshness.dependents import DEEPEST, outline_of
from lspkit.testing import Script
from tests.scripted import workspace

SYMBOLS = "textDocument/documentSymbol"


def lines(first: int, last: int) -> dict[str, Any]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 1}}


def flat(name: str, first: int, last: int, kind: int = 5) -> dict[str, Any]:
    location = {"uri": "file:///a.scr", "range": lines(first, last)}
    return {"name": name, "kind": kind, "location": location}


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for level in range(depth, 0, -1):
        whole = {"range": lines(0, 9), "selectionRange": lines(0, 0)}
        found = {"name": f"s{level}", "kind": 5, **whole, "children": [found] if found else []}
    return found


def names(outline: list[Outline] | tuple[Outline, ...]) -> list[Any]:
    return [(one.name, names(one.children)) if one.children else one.name for one in outline]


def test_a_flat_list_becomes_a_tree() -> None:
    given = [
        flat("after", 12, 13),
        flat("method", 1, 4),
        flat("inner", 2, 3),
        flat("same lines", 1, 4),
        flat("class", 0, 9),
        flat("field", 5, 5),
        flat("on that line", 5, 5),
        flat("overlaps", 8, 10),
    ]
    view = View("file:///a.scr", Text("\n" * 20), 1, "utf-16")
    assert names(outline_of(msgspec.convert(given, list[WireSymbol]), view)) == [
        ("class", [("method", [("same lines", ["inner"])]), "field", "on that line"]),
        "overlaps",
        "after",
    ]


@pytest.mark.parametrize(
    "given",
    [[flat(f"s{number}", 0, 9) for number in range(DEEPEST + 1)], [nested(DEEPEST + 1)]],
    ids=["flat", "nested"],
)
def test_a_tree_has_a_limited_depth(given: list[dict[str, Any]]) -> None:
    view = View("file:///a.scr", Text("\n" * 20), 1, "utf-16")
    level, depth = outline_of(msgspec.convert(given, list[WireSymbol]), view), 0
    while level:
        level, depth = list(level[-1].children), depth + 1
    assert depth == DEEPEST


def test_many_symbols_with_one_range_do_not_fail_a_check(tmp_path, scripted) -> None:
    symbols = [flat(f"s{number}", 0, 9) for number in range(1000)]
    argv = scripted(Script(answers={SYMBOLS: symbols}))
    with workspace(tmp_path, argv, text="fine\n" * 10) as ws:
        ws.check("a.scr", scope="project")
        (tmp_path / "a.scr").write_text("other\n" * 10, encoding="utf-8")
        report = ws.check("a.scr", scope="project")
    assert report.own_verdict.clean
