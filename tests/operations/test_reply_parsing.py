"""Answers that make no sense: they never stand for nothing, and what is lost of one is told."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.answer import SERVER_FAILED, Answer
from lspkit.operations import (
    CallHierarchyRequest,
    DeclarationRequest,
    DefinitionRequest,
    DocumentSymbolsRequest,
    HoverRequest,
    ImplementationRequest,
    ReferencesRequest,
    RenameRequest,
    Request,
    SignatureHelpRequest,
    TypeDefinitionRequest,
)
from tests.operations.driving import PATH, URI, Canned, Engine, at, location

HERE = {"path": PATH, "line": 1, "column": 1}
ITEM = {"name": "greet", "kind": 12, "uri": URI, "range": at(0, 0, 3)}
PREPARED = {"textDocument/prepareRename": at(0, 0, 3)}
EDIT = {"changes": {URI: [{"range": at(0, 0, 3), "newText": "x"}]}}

#: Method, request, a good answer, and the same with a part that makes no sense.
ASKED: dict[str, tuple[Request[Any], Any, Any]] = {
    f"textDocument/{name}": (request(**HERE), [location(URI, 0, 0)], [location(URI, 0, 0), {}])
    for name, request in (
        ("definition", DefinitionRequest),
        ("declaration", DeclarationRequest),
        ("typeDefinition", TypeDefinitionRequest),
        ("implementation", ImplementationRequest),
        ("references", ReferencesRequest),
    )
}
ASKED |= {
    "textDocument/hover": (HoverRequest(**HERE), {"contents": ["a"]}, {"contents": ["a", 1]}),
    "textDocument/signatureHelp": (
        SignatureHelpRequest(**HERE),
        {"signatures": [{"label": "f()"}]},
        {"signatures": [{"label": "f()"}, {}]},
    ),
    "textDocument/documentSymbol": (
        DocumentSymbolsRequest(path=PATH),
        [{"name": "C"}],
        [{"name": "C", "children": [{}]}],
    ),
    "textDocument/prepareCallHierarchy": (CallHierarchyRequest(**HERE), [ITEM], [ITEM, 1]),
}
EVERY = pytest.mark.parametrize(("method", "asked"), [(key, ASKED[key]) for key in ASKED])


def engine(method: str, *answers: Any) -> Engine:
    """One server for each answer."""
    return Engine(
        [Canned(str(n), answers={**PREPARED, method: one}) for n, one in enumerate(answers)]
    )


def items_of(found: Any) -> str:
    """The results without what a list says about itself."""
    return str(list(found)) if isinstance(found, Answer) else str(found)


def assert_told(found: Any, server: str) -> None:
    """A list says that results of a server are missing."""
    if isinstance(found, Answer):
        assert [(one.kind, one.server) for one in found.caveats] == [(SERVER_FAILED, server)]


@EVERY
@pytest.mark.parametrize("bad", [42, "error", [17, "?"], {"status": "busy"}, [[]]])
def test_nothing_but_nonsense_is_an_error_of_the_server(method, asked, bad):
    canned = engine(method, bad)
    with pytest.raises(
        lspkit.RequestFailedError, match=f"answer of 0 to {method} cannot be read"
    ) as at:
        canned.run(asked[0])
    assert at.value.server == "0"
    assert [failed for _, failed in canned.misread] == [["0"]]


@EVERY
def test_a_server_that_makes_sense_answers_for_all(method, asked):
    request, good, _ = asked
    alone, beside = engine(method, good), engine(method, 42, good)
    expected = alone.run(request)
    found = beside.run(request)
    assert alone.misread == []
    assert [failed for _, failed in beside.misread] == [["0"]]
    assert items_of(found).replace("'1'", "'0'") == items_of(expected)
    assert_told(found, "0")


@EVERY
def test_what_makes_sense_of_an_answer_is_kept_and_the_rest_is_told(method, asked):
    request, good, spoilt = asked
    canned = engine(method, spoilt)
    found = canned.run(request)
    assert items_of(found) == items_of(engine(method, good).run(request))
    assert_told(found, "0")
    [([problem], failed)] = canned.misread
    assert failed == []
    assert "1 part of the answer of 0" in problem.message


@pytest.mark.parametrize(
    ("method", "bad"),
    [
        ("textDocument/hover", {"contents": [1, 2]}),
        ("textDocument/signatureHelp", {"signatures": [{}]}),
    ],
)
def test_an_answer_of_which_only_the_frame_is_left_is_nonsense(method, bad):
    with pytest.raises(lspkit.RequestFailedError):
        engine(method, bad).run(ASKED[method][0])


@pytest.mark.parametrize("empty", [None, {}, {"contents": ""}, {"contents": []}])
def test_a_hover_that_says_nothing_is_nothing(empty):
    canned = engine("textDocument/hover", empty)
    assert canned.run(HoverRequest(**HERE)) is None
    assert canned.misread == []


def test_the_name_of_a_symbol_is_not_looked_up_in_nonsense():
    with pytest.raises(lspkit.RequestFailedError):
        engine("textDocument/documentSymbol", 42).run(DefinitionRequest(path=PATH, symbol="greet"))


# Edits


RENAME = "textDocument/rename"
HALF = {"documentChanges": [{"textDocument": {"uri": URI}, "edits": [{"range": 1}]}]}


@pytest.mark.parametrize("bad", [42, "error", {"status": "busy"}, HALF, {"changes": {URI: [1]}}])
def test_half_an_edit_is_none(bad):
    with pytest.raises(lspkit.RequestFailedError, match="cannot be read"):
        engine(RENAME, bad).run(RenameRequest(**HERE, new_name="x"))


def test_the_whole_edit_of_another_server_is_taken():
    canned = engine(RENAME, HALF, EDIT)
    edit = canned.run(RenameRequest(**HERE, new_name="x"))
    assert (edit.server, len(edit.changes)) == ("1", 1)
    assert [failed for _, failed in canned.misread] == [["0"]]


def test_an_empty_edit_is_no_error():
    assert engine(RENAME, {}).run(RenameRequest(**HERE, new_name="x")).changes == ()
