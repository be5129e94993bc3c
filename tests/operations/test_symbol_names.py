"""Names of symbols: where they are in a text, which is nearest, which comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.operations.symbol_names import find_name, name_parts, nearest, rank, split_number
from lspkit.protocol.text import Text
from lspkit.types import Position, Range, Symbol

TEXT = Text(
    "@weight.setter\n    def weight(self): ...\nexport async function lift() {}\n"
    "  // run is here\n  virtual void run();\n"
)


def at(line: int, column: int, end_line: int, end_column: int) -> Range:
    return Range(Position(line, column), Position(end_line, end_column))


@pytest.mark.parametrize(
    ("name", "whole", "place"),
    [
        ("weight", at(1, 1, 2, 26), Position(2, 9)),  # after a decorator with the same word
        ("weight", at(2, 5, 2, 26), Position(2, 9)),  # after a keyword
        ("weight", at(2, 9, 2, 15), Position(2, 9)),  # it is there already
        ("lift()", at(3, 1, 3, 32), Position(3, 23)),
        ("Crane::run(int)", at(4, 3, 5, 22), Position(5, 16)),  # not in a comment
        ("missing", at(3, 1, 3, 32), Position(3, 1)),
        ("run", at(3, 1, 3, 32), Position(3, 1)),  # outside of the symbol
        ("weight", at(99, 1, 99, 2), Position(99, 1)),
    ],
)
def test_the_position_of_a_symbol_is_that_of_its_name(
    name: str, whole: Range, place: Position
) -> None:
    assert find_name(TEXT, name, whole, whole).start == place


def test_without_a_text_the_position_is_what_the_server_says() -> None:
    whole = at(1, 1, 2, 26)
    assert find_name(None, "weight", whole, whole) == whole


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("feed", ("feed",)),
        ("feed(char *)", ("feed",)),
        ("ns::Parser::feed", ("ns", "Parser", "feed")),
        ("Parser.feed", ("Parser", "feed")),
        ("List<T>", ("List",)),
        ("", ("",)),
    ],
)
def test_a_name_has_parts(name: str, parts: tuple[str, ...]) -> None:
    assert name_parts(name) == parts


@pytest.mark.parametrize(
    ("given", "name", "number"),
    [
        ("feed", "feed", None),
        ("feed[0]", "feed", 0),
        ("P.feed[12]", "P.feed", 12),
        ("[1]", "[1]", None),
    ],
)
def test_a_name_may_have_an_index(given: str, name: str, number: int | None) -> None:
    assert split_number(given) == (name, number)


def test_exact_names_come_before_beginnings_and_these_before_others() -> None:
    names = ["reload", "loader", "LOAD", "load", "load()"]
    assert sorted(names, key=lambda one: (rank(one, "load"), one)) == [
        *("load", "load()", "LOAD", "loader", "reload")
    ]


def symbols(*names: str) -> list[tuple[tuple[str, ...], Symbol]]:
    here = at(1, 1, 1, 2)
    return [
        (tuple(name.split(".")), Symbol(name, "method", Path("/a"), here, here, "file:///a"))
        for name in names
    ]


def test_the_nearest_names_are_shown_and_not_the_first_ones() -> None:
    others = [f"Other.method{number}" for number in range(30)]
    among = symbols(*others, "AsyncClient.get", "Client.get", "Client.post")
    found = [".".join(chain) for chain, _ in nearest(["Client", "gett"], among)]
    assert found == ["Client.get", "AsyncClient.get"]


def test_no_name_is_near() -> None:
    assert nearest(["xyzzy"], symbols("Client.get", "Client.post")) == []
