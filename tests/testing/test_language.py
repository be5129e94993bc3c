"""The toy language: what the server answers when the script says nothing."""

from __future__ import annotations

import pytest

from lspkit.testing import Script
from tests.testing.raw import URI, at, span

TEXT = "def alpha\nuse alpha alphabet\n  def beta\nalpha beta\n"


def test_the_answer_to_initialize_offers_the_operations_and_incremental_sync(connect):
    capabilities = connect(initialize=False).initialize()["capabilities"]
    assert capabilities["textDocumentSync"]["change"] == 2
    names = ("definition", "references", "hover", "documentSymbol", "workspaceSymbol")
    assert all(capabilities[f"{name}Provider"] is True for name in names)


def test_capabilities_of_the_script_are_laid_over_and_null_removes(connect):
    script = Script(capabilities={"hoverProvider": None, "foldingRangeProvider": True})
    capabilities = connect(script, initialize=False).initialize()["capabilities"]
    assert "hoverProvider" not in capabilities
    assert capabilities["foldingRangeProvider"] is True
    assert capabilities["definitionProvider"] is True


def test_an_answer_of_the_script_brings_its_capability(connect):
    script = Script(answers={"textDocument/prepareCallHierarchy": []})
    client = connect(script, initialize=False)
    assert client.initialize()["capabilities"]["callHierarchyProvider"] is True
    assert client.result("textDocument/prepareCallHierarchy", at(0, 0)) == []


def test_a_definition_is_found_from_a_reference(connect):
    client = connect()
    client.open(TEXT)
    found = client.result("textDocument/definition", at(3, 1))
    assert found == [{"uri": URI, "range": span(0, 4, 9)}]


def test_references_are_whole_words_and_may_leave_the_declaration_out(connect):
    client = connect()
    client.open(TEXT)
    everything = client.result("textDocument/references", at(0, 4))
    assert [item["range"] for item in everything] == [span(0, 4, 9), span(1, 4, 9), span(3, 0, 5)]
    params = {**at(0, 4), "context": {"includeDeclaration": False}}
    uses = client.result("textDocument/references", params)
    assert [item["range"] for item in uses] == [span(1, 4, 9), span(3, 0, 5)]


def test_references_are_found_in_all_open_documents(connect):
    client = connect()
    client.open(TEXT)
    client.open("beta\n", uri="file:///code/b.toy")
    found = client.result("textDocument/references", at(2, 7))
    assert {item["uri"] for item in found} == {URI, "file:///code/b.toy"}


def test_hover_names_the_symbol_and_is_null_elsewhere(connect):
    client = connect()
    client.open(TEXT)
    assert client.result("textDocument/hover", at(1, 6))["contents"]["value"] == "def alpha"
    assert client.result("textDocument/hover", at(1, 1)) is None


def test_document_symbols_have_ranges_and_the_workspace_is_searched_by_name(connect):
    client = connect()
    client.open(TEXT)
    symbols = client.result("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
    assert [(each["name"], each["selectionRange"]) for each in symbols] == [
        ("alpha", span(0, 4, 9)),
        ("beta", span(2, 6, 10)),
    ]
    found = client.result("workspace/symbol", {"query": "bet"})
    assert [each["name"] for each in found] == ["beta"]


def test_a_rename_edits_every_occurrence(connect):
    client = connect()
    client.open(TEXT)
    edit = client.result("textDocument/rename", {**at(2, 7), "newName": "gamma"})
    assert edit["changes"][URI] == [
        {"range": span(2, 6, 10), "newText": "gamma"},
        {"range": span(3, 6, 10), "newText": "gamma"},
    ]


@pytest.mark.parametrize(
    ("encoding", "before"),
    [("utf-8", 4 + 1 + 2 + 1), ("utf-16", 2 + 1 + 1 + 1), ("utf-32", 1 + 1 + 1 + 1)],
)
def test_positions_are_in_the_negotiated_encoding(connect, encoding, before):
    client = connect(Script(encoding=encoding), initialize=False)
    assert client.initialize()["capabilities"]["positionEncoding"] == encoding
    client.open("def name\n\U0001f600 é name\n")
    found = client.result("textDocument/references", at(1, before + 2))
    assert found[1]["range"] == span(1, before, before + 4)


def test_an_encoding_that_the_client_does_not_offer_is_not_chosen(connect):
    client = connect(Script(encoding="utf-8"), initialize=False)
    capabilities = client.initialize(encodings=["utf-16"])["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_an_incremental_change_moves_what_is_found(connect, line_break):
    client = connect()
    client.open(line_break.join(["\U0001f600def old", "new", ""]))
    # The smiling face takes two units: (0, 2) is behind it.
    client.change([{"range": span(0, 0, 2), "text": f"x{line_break}"}])
    client.change([{"range": span(1, 4, 7), "text": "new"}], version=3)
    found = client.result("textDocument/definition", at(2, 0))
    assert found == [{"uri": URI, "range": span(1, 4, 7)}]
    assert client.log.complaints() == []


def test_a_change_without_a_range_replaces_the_text(connect):
    client = connect()
    client.open("def old")
    client.change([{"text": "def new"}])
    assert client.result("textDocument/hover", at(0, 4))["contents"]["value"] == "def new"


def test_an_unknown_method_is_answered_with_method_not_found(connect):
    client = connect()
    assert client.answer(client.request("no/such"))["error"]["code"] == -32601


def test_an_answer_of_the_script_goes_before_the_computed_one(connect):
    client = connect(Script(answers={"textDocument/hover": {"contents": "mine"}}))
    assert client.result("textDocument/hover", at(0, 0)) == {"contents": "mine"}
