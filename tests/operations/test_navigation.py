"""Definition, references and hover, from canned answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.operations import CodeActionsRequest, DefinitionRequest, HoverRequest, ReferencesRequest
from tests.operations.driving import OTHER, PATH, URI, Canned, Engine, at, location

DEFINITION = "textDocument/definition"
ACTIONS = "textDocument/codeAction"
#: Before the word: 1 character, which is 4, 2 or 1 units.
WIDE = "😀 word\n"
UNITS = {"utf-8": 5, "utf-16": 3, "utf-32": 2}


def defined(*servers: Any, text: str = "one\ntwo\n", **files: str) -> list[lspkit.Location]:
    """Where the servers, one answer each, say that it is."""
    canned = [
        one if isinstance(one, Canned) else Canned(str(number), answers={DEFINITION: one})
        for number, one in enumerate(servers)
    ]
    engine = Engine(canned, text=text, others={f"file:///code/{k}.py": v for k, v in files.items()})
    return engine.run(DefinitionRequest(path=PATH, line=1, column=1))


def test_a_place_in_the_file_itself():
    [found] = defined([location(URI, 1, 0, 3)])
    assert found.path == Path(PATH)
    assert str(found.range) == "2:1-2:4"
    assert found.uri == URI


@pytest.mark.parametrize(
    "answer",
    [
        location(OTHER, 1, 0, 3),
        [location(OTHER, 1, 0, 3)],
        [{"targetUri": OTHER, "targetRange": at(0, 0, 9), "targetSelectionRange": at(1, 0, 3)}],
        [{"targetUri": OTHER, "targetRange": at(1, 0, 3)}],
    ],
    ids=["one", "list", "link", "link-without-selection"],
)
def test_every_shape_of_a_location_is_read(answer):
    [found] = defined(answer)
    assert (str(found.path), str(found.range)) == ("/code/b.py", "2:1-2:4")


@pytest.mark.parametrize("answer", [None, []])
def test_no_place_is_an_empty_list(answer):
    assert defined(answer) == []


def test_a_bad_item_does_not_spoil_its_neighbours():
    assert len(defined([{"uri": 3}, location(URI, 0, 0), None])) == 1


def test_answers_of_several_servers_are_merged_without_doubles_in_order():
    first = [location(OTHER, 4, 0), location(URI, 1, 2), location(URI, 0, 1)]
    second = [location(URI, 0, 1), location("file:///code/Z.py", 9, 9), location(URI, 1, 0)]
    found = [str(one) for one in defined(first, second)]
    assert found == [
        "/code/Z.py:10:10",
        "/code/a.py:1:2",
        "/code/a.py:2:1",
        "/code/a.py:2:3",
        "/code/b.py:5:1",
    ]
    assert [str(one) for one in defined(second, first)] == found


def test_the_same_file_in_two_spellings_is_one_place():
    spellings = [location("file:///code/b%2Epy", 0, 0), location(OTHER, 0, 0)]
    assert len(defined(spellings)) == 1


def test_a_uri_that_names_no_file_survives():
    jar = "jdt://contents/rt.jar/String.class?=x"
    found = defined([location(jar, 3, 1), location(OTHER, 0, 0)])
    assert [(one.path, one.uri) for one in found] == [(Path("/code/b.py"), OTHER), (None, jar)]
    assert str(found[1]) == f"{jar}:4:2"


@pytest.mark.parametrize("encoding", UNITS)
def test_a_column_is_sent_in_the_units_of_the_server_and_read_in_them(encoding):
    units = UNITS[encoding]
    answers = {DEFINITION: [location(URI, 0, units, units + 4)]}
    engine = Engine([Canned(encoding=encoding, answers=answers)], text=WIDE)
    [found] = engine.run(DefinitionRequest(path=PATH, line=1, column=3))
    [(_, method, params)] = engine.asked
    assert method == DEFINITION
    assert params == {
        "textDocument": {"uri": URI},
        "position": {"line": 0, "character": units},
    }
    assert str(found.range) == "1:3-1:7"


def test_servers_that_count_differently_agree_on_the_place():
    servers = [
        Canned(encoding, encoding, {DEFINITION: [location(URI, 0, units, units + 4)]})
        for encoding, units in UNITS.items()
    ]
    [found] = defined(*servers, text=WIDE)
    assert str(found.range) == "1:3-1:7"


@pytest.mark.parametrize("encoding", UNITS)
def test_a_column_in_another_file_goes_by_the_text_of_that_file(encoding):
    units = UNITS[encoding]
    server = Canned(encoding=encoding, answers={DEFINITION: [location(OTHER, 0, units)]})
    [found] = defined(server, text="plain\n", b=WIDE)
    assert str(found.range.start) == "1:3"


def test_a_column_in_a_file_that_cannot_be_read_is_shown_in_units():
    answer = [location("file:///library/c.py", 0, 3)]
    assert [str(one) for one in defined(answer)] == ["/library/c.py:1:4"]


def test_texts_are_asked_for_only_where_they_are_needed():
    for encoding in UNITS:
        answers = {DEFINITION: [location(OTHER, 0, 0)]}
        engine = Engine([Canned(encoding=encoding, answers=answers)])
        engine.run(DefinitionRequest(path=PATH, line=1, column=1))
        assert engine.looked_up == [((OTHER,), encoding != "utf-32")]


def test_a_text_of_the_caller_stands_for_the_file():
    engine = Engine([Canned(answers={DEFINITION: [location(URI, 0, 3)]})], text="x\n")
    [found] = engine.run(DefinitionRequest(path=PATH, line=1, column=3, text=WIDE))
    assert engine.asked[0][2]["position"] == {"line": 0, "character": 3}
    assert str(found.range.start) == "1:3"


@pytest.mark.parametrize(
    ("line", "character", "shown"),
    [(-1, -5, "1:1"), (0, 99, "1:4"), (99, 7, "100:8"), (2, 5, "3:1")],
)
def test_a_position_that_is_not_in_the_text_is_bent_to_the_nearest(line, character, shown):
    [found] = defined([location(URI, line, character)])
    assert str(found.range.start) == shown


@pytest.mark.parametrize(
    ("line", "column", "bounds"),
    [(4, 1, "line 1 to 3"), (1, 5, "column 1 to 4"), (3, 2, "column 1 to 1")],
)
def test_a_position_beyond_the_end_is_refused_with_the_bounds(line, column, bounds):
    engine = Engine([Canned(answers={DEFINITION: []})])
    with pytest.raises(lspkit.PositionError) as caught:
        engine.run(DefinitionRequest(path=PATH, line=line, column=column))
    assert caught.value.bounds == bounds
    assert engine.asked == []


def test_just_behind_the_last_character_is_a_position():
    engine = Engine([Canned(answers={DEFINITION: []})])
    assert engine.run(DefinitionRequest(path=PATH, line=1, column=4)) == []
    assert engine.run(DefinitionRequest(path=PATH, line=3, column=1)) == []


@pytest.mark.parametrize(
    "position",
    [
        {"line": 0, "column": 1},
        {"line": 1, "column": 0},
        {"line": -1, "column": 1},
        {"line": 1.0, "column": 1},
        {"line": "1", "column": 1},
        {"line": True, "column": 1},
        {"line": 1},
        {"column": 1},
        {},
        {"symbol": ""},
        {"line": 1, "column": 1, "symbol": "x"},
        {"column": 1, "symbol": "x"},
    ],
    ids=str,
)
def test_what_is_no_position_is_refused_when_the_request_is_made(position):
    with pytest.raises(lspkit.PositionError) as caught:
        DefinitionRequest(path=PATH, **position)
    assert caught.value.bounds


@pytest.mark.parametrize("name", ["end_line", "end_column"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True], ids=repr)
def test_what_is_no_end_of_a_range_is_refused_when_the_request_is_made(name, value):
    with pytest.raises(lspkit.PositionError, match=name) as caught:
        CodeActionsRequest(path=PATH, line=1, column=1, **{name: value})
    assert caught.value.bounds


@pytest.mark.parametrize(
    "end", [{"end_line": 1}, {"end_column": 1}, {"end_line": 1, "end_column": 9}]
)
@pytest.mark.parametrize("place", [{"line": 2, "column": 2}, {"line": 2, "symbol": "wo"}])
def test_a_range_that_ends_before_it_starts_is_refused_before_anything_is_asked(place, end):
    engine = Engine([Canned(answers={ACTIONS: []})], text="one\n wo\n")
    with pytest.raises(lspkit.PositionError) as caught:
        engine.run(CodeActionsRequest(path=PATH, **place, **end))
    assert caught.value.bounds == "2:2 or later"
    assert engine.asked == []


def test_a_range_may_end_where_it_starts():
    engine = Engine([Canned(answers={ACTIONS: []})])
    engine.run(CodeActionsRequest(path=PATH, line=1, column=2, end_line=1, end_column=2))
    engine.run(CodeActionsRequest(path=PATH, line=1, column=2, end_line=2, end_column=1))
    assert [asked[2]["range"]["end"] for asked in engine.asked] == [
        {"line": 0, "character": 1},
        {"line": 1, "character": 0},
    ]


@pytest.mark.parametrize("include", [True, False])
def test_references_say_whether_the_declaration_is_wanted(include):
    method = "textDocument/references"
    engine = Engine([Canned(answers={method: [location(URI, 1, 0), location(URI, 0, 0)]})])
    found = engine.run(ReferencesRequest(path=PATH, line=1, column=1, include_declaration=include))
    assert [str(one.range.start) for one in found] == ["1:1", "2:1"]
    assert engine.asked[0][2]["context"] == {"includeDeclaration": include}


def told(*answers: Any) -> lspkit.Hover | None:
    servers = [
        Canned(str(number), answers={"textDocument/hover": one})
        for number, one in enumerate(answers)
    ]
    return Engine(servers, text=WIDE).run(HoverRequest(path=PATH, line=1, column=3))


@pytest.mark.parametrize(
    ("contents", "texts"),
    [
        ({"kind": "markdown", "value": "*a*"}, ["*a*"]),
        ("a", ["a"]),
        ({"language": "python", "value": "x"}, ["```python\nx\n```"]),
        (["a", {"language": "c", "value": "x"}, ""], ["a", "```c\nx\n```"]),
    ],
)
def test_every_shape_of_a_hover_is_read(contents, texts):
    assert told({"contents": contents}) == lspkit.Hover(texts)


@pytest.mark.parametrize("answer", [None, {"contents": ""}, {"contents": []}, {"contents": " \n"}])
def test_a_hover_that_says_nothing_is_none(answer):
    assert told(answer) is None


def test_what_two_servers_tell_stands_one_after_the_other_without_doubles():
    hover = told(
        {"contents": ["a", "b"]},
        {"contents": ["b", "c"], "range": at(0, 3, 7)},
        {"contents": "d", "range": at(0, 0, 1)},
    )
    assert hover is not None
    assert hover.contents == ["a", "b", "c", "d"]
    assert str(hover.range) == "1:3-1:7"


def test_the_range_is_that_of_a_server_that_tells_something():
    hover = told({"contents": "", "range": at(0, 0, 1)}, {"contents": "a", "range": at(0, 3, 7)})
    assert hover is not None
    assert str(hover.range) == "1:3-1:7"


def test_an_error_of_the_host_reaches_the_caller():
    engine = Engine([], error=lspkit.ServerBrokenError("gone"))
    with pytest.raises(lspkit.ServerBrokenError):
        engine.run(DefinitionRequest(path=PATH, line=1, column=1))
