"""The symbols of a file, and positions by the name of a symbol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.operations import DefinitionRequest, DocumentSymbolsRequest
from tests.operations.driving import OTHER, PATH, URI, Canned, Engine, at, location

SYMBOLS = "textDocument/documentSymbol"
DEFINITION = "textDocument/definition"
CLASS, METHOD, FUNCTION = 5, 6, 12


def node(name: str, line: int, kind: int = FUNCTION, *children: Any, column: int = 0) -> Any:
    """A `DocumentSymbol`."""
    return {
        "name": name,
        "kind": kind,
        "range": at(line, 0, 90),
        "selectionRange": at(line, column, column + len(name)),
        "children": list(children),
    }


def flat(name: str, line: int, kind: int = FUNCTION, container: str | None = None) -> Any:
    """A `SymbolInformation`."""
    more = {} if container is None else {"containerName": container}
    return {"name": name, "kind": kind, "location": location(URI, line, 0, 90), **more}


#: Two classes that both have `feed`, and functions around them.
TREE = [
    node("Parser", 0, CLASS, node("feed", 1, METHOD), node("close", 2, METHOD)),
    node("Lexer", 3, CLASS, node("feed", 4, METHOD)),
    node("main", 5),
]
TEXT = "\n".join(["x" * 99] * 10)


def engine(*answers: Any, text: str = TEXT, **more: Any) -> Engine:
    servers = [
        Canned(str(number), answers={SYMBOLS: one, DEFINITION: []})
        for number, one in enumerate(answers)
    ]
    return Engine(servers, text=text, **more)


def listed(*answers: Any, **more: Any) -> list[lspkit.Symbol]:
    return engine(*answers, **more).run(DocumentSymbolsRequest(path=PATH))


def test_a_tree_stays_a_tree():
    found = listed(TREE)
    assert [str(one) for one in found] == [
        "class Parser /code/a.py:1:1",
        "class Lexer /code/a.py:4:1",
        "function main /code/a.py:6:1",
    ]
    assert [(one.name, one.kind, one.container) for one in found[0].children] == [
        ("feed", "method", "Parser"),
        ("close", "method", "Parser"),
    ]
    assert str(found[0].range) == "1:1-1:91"
    assert str(found[0].selection) == "1:1-1:7"


def test_flat_symbols_have_their_container():
    found = listed([flat("feed", 1, METHOD, "Parser"), flat("Parser", 0, CLASS)])
    assert [(one.name, one.container, one.path) for one in found] == [
        ("Parser", "", Path(PATH)),
        ("feed", "Parser", Path(PATH)),
    ]
    assert found[0].children == ()


def test_flat_symbols_of_another_file_are_read_with_its_text():
    symbol = {"name": "f", "kind": FUNCTION, "location": location(OTHER, 0, 3)}
    [found] = listed([symbol], others={OTHER: "😀 f\n"})
    assert (str(found.path), str(found.selection.start)) == ("/code/b.py", "1:3")


def test_a_symbol_without_a_range_is_kept():
    [found] = listed([{"name": "f", "kind": FUNCTION}])
    assert (found.name, str(found.selection.start)) == ("f", "1:1")


def test_a_kind_that_nobody_knows_is_kept_as_a_number():
    assert [one.kind for one in listed([node("f", 0, 99)])] == ["99"]


@pytest.mark.parametrize("answer", [None, []])
def test_no_symbols_are_an_empty_list(answer):
    assert listed(answer) == []


def test_symbols_of_several_servers_are_merged_without_doubles_in_the_order_of_the_text():
    first, second = [node("b", 1), node("a", 0)], [node("a", 0), node("c", 2)]
    assert [one.name for one in listed(first, second)] == ["a", "b", "c"]
    assert listed(first, second) == listed(second, first)


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
def test_columns_are_characters(encoding, units):
    server = Canned(encoding=encoding, answers={SYMBOLS: [node("f", 0, column=units)]})
    [found] = Engine([server], text="😀 f\n").run(DocumentSymbolsRequest(path=PATH))
    assert str(found.selection) == "1:3-1:4"


def resolved(symbol: str, answer: Any = TREE, line: int | None = None, **more: Any) -> str:
    """The position that is sent for a symbol, counted from 1."""
    driven = engine(answer, **more)
    driven.run(DefinitionRequest(path=PATH, line=line, symbol=symbol))
    position = driven.asked[-1][2]["position"]
    return f"{position['line'] + 1}:{position['character'] + 1}"


def unclear(symbol: str, answer: Any = TREE, **more: Any) -> lspkit.PositionError:
    with pytest.raises(lspkit.PositionError) as caught:
        resolved(symbol, answer, **more)
    return caught.value


@pytest.mark.parametrize(
    ("symbol", "at"),
    [
        ("Parser", "1:1"),
        ("Parser.feed", "2:1"),
        ("Lexer.feed", "5:1"),
        ("close", "3:1"),
        ("main", "6:1"),
    ],
)
def test_a_name_is_found_with_or_without_what_it_is_in(symbol, at):
    assert resolved(symbol) == at


def test_flat_symbols_are_found_by_their_container():
    symbols = [
        flat("feed", 1, METHOD, "Parser"),
        flat("feed", 4, METHOD, "a.Lexer"),
        flat("main", 5),
    ]
    assert resolved("Parser.feed", symbols) == "2:1"
    assert resolved("Lexer.feed", symbols) == "5:1"
    assert resolved("a.Lexer.feed", symbols) == "5:1"


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("feed(char *)", "feed"),
        ("ns::Parser::feed", "Parser.feed"),
        ("List<T>", "List"),
        ("Parser.feed", "Parser.feed"),
        ("operator<", "operator"),
    ],
)
def test_what_servers_add_to_a_name_is_not_asked_for(name, symbol):
    assert resolved(symbol, [node(name, 3)]) == "4:1"


def test_a_name_at_the_top_wins_over_the_same_name_inside():
    assert resolved("feed", [*TREE, node("feed", 7)]) == "8:1"


def test_several_symbols_of_one_name_are_listed():
    problem = unclear("feed")
    assert problem.candidates == ("Parser.feed at 2:1", "Lexer.feed at 5:1")
    for candidate in problem.candidates:
        assert candidate in str(problem)


def test_what_several_servers_have_in_one_place_is_one_symbol():
    nested = [node("Parser", 0, CLASS, node("feed", 1, METHOD))]
    bare, other = [node("feed", 1)], [node("feed", 1, METHOD)]
    for answers in ((nested, bare), (bare, other), (nested, bare, other)):
        driven = engine(*answers)
        driven.run(DefinitionRequest(path=PATH, symbol="feed"))
        assert driven.asked[-1][2]["position"] == {"line": 1, "character": 0}
    with pytest.raises(lspkit.PositionError) as caught:
        engine(bare, other).run(DefinitionRequest(path=PATH, symbol="fee"))
    assert caught.value.candidates == ("feed at 2:1",)


def test_a_name_that_is_not_there_lists_what_is_near():
    assert unclear("Parser.fee").candidates == ("Parser.feed at 2:1", "Lexer.feed at 5:1")


def test_a_name_that_nothing_is_near_to_lists_all():
    candidates = unclear("zzz").candidates
    assert len(candidates) == 6
    assert candidates[0] == "Parser at 1:1"


def test_a_file_without_symbols_says_so():
    problem = unclear("feed", [])
    assert problem.candidates == ()
    assert "no symbols at all" in str(problem)


def test_a_name_that_is_only_used_here_is_told_by_its_lines():
    text = "from a import feed\nfeeder()\nfeed()\n" + "feed\n" * 9
    said = str(unclear("feed", [], text=text))
    assert "defines no symbol feed, but the word is on lines 1, 3, 4, 5, 6, …" in said
    assert "give a line as well" in said
    assert "the word is on line 2: give" in str(unclear("feeder", [], text=text))
    assert "word" not in str(unclear("other", [], text=text))


def test_not_more_candidates_than_a_model_can_read():
    many = [node(f"f{number}", number) for number in range(500)]
    assert len(unclear("zzz", many).candidates) == 20


def test_a_symbol_is_looked_up_in_the_text_of_the_caller():
    driven = engine([node("f", 0, column=3)], text="f\n")
    driven.run(DefinitionRequest(path=PATH, symbol="f", text="😀 f\n"))
    assert driven.asked[-1][2]["position"] == {"line": 0, "character": 3}


LINE = "total = subtotal + total_1 + naïve # 😀 done\n"


@pytest.mark.parametrize(
    ("word", "column"), [("total", 1), ("subtotal", 9), ("total_1", 20), ("naïve", 30)]
)
def test_a_word_on_a_line_is_a_whole_word(word, column):
    assert resolved(word, text=LINE, line=1) == f"1:{column}"


def test_a_word_behind_a_wide_character_is_sent_in_units():
    assert resolved("done", text=LINE, line=1) == f"1:{LINE.index('done') + 2}"


def test_no_symbols_are_asked_for_a_word_on_a_line():
    driven = engine(TREE, text=LINE)
    driven.run(DefinitionRequest(path=PATH, line=1, symbol="total"))
    assert [method for _, method, _ in driven.asked] == [DEFINITION]


def test_a_word_that_stands_more_than_once_lists_the_columns():
    problem = unclear("x", text="x = x + y\n", line=1)
    assert problem.candidates == ("x at 1:1", "x at 1:5")


def test_a_word_that_is_not_on_the_line_lists_the_words_that_are():
    problem = unclear("tota", text=LINE, line=1)
    assert problem.candidates == ("total", "subtotal", "total_1", "naïve", "done")


def test_a_line_beyond_the_end_is_refused_with_the_bounds():
    assert unclear("x", text="x\n", line=3).bounds == "line 1 to 2"


def test_signs_in_a_symbol_mean_themselves():
    assert unclear(".*", text="abc\n", line=1).candidates == ("abc",)
