"""Findings of the toy language that depend on another document."""

from __future__ import annotations

import pytest

from lspkit.testing import Diagnostics, Script, watchers
from tests.testing.raw import URI, span

OTHER = "file:///code/b.toy"
PULL = "textDocument/diagnostic"


@pytest.fixture
def client(connect):
    return connect(Script(diagnostics=Diagnostics(how="pull")))


def pulled(client, **more):
    return client.result(PULL, {"textDocument": {"uri": URI}, **more})


def test_what_is_needed_and_defined_nowhere_is_an_error(client):
    client.open("def here\nNEED here\nxx NEED beta please\n")
    [found] = pulled(client)["items"]
    assert (found["message"], found["severity"]) == ("NEED beta please", 1)
    assert found["range"] == span(2, 3, 12)


def test_another_open_document_may_define_it(client):
    client.open("NEED beta\n")
    client.open("def beta\n", uri=OTHER)
    assert pulled(client)["items"] == []


def test_a_report_is_unchanged_only_while_nothing_else_is_missing(client):
    client.open("NEED beta\n")
    first = pulled(client)
    assert pulled(client, previousResultId=first["resultId"])["kind"] == "unchanged"
    client.open("def beta\n", uri=OTHER)
    second = pulled(client, previousResultId=first["resultId"])
    assert (second["kind"], second["items"]) == ("full", [])
    client.notify("textDocument/didClose", {"textDocument": {"uri": OTHER}})
    assert pulled(client, previousResultId=second["resultId"])["items"] != []


def test_a_whole_watcher_is_registered_as_it_is(connect):
    whole = {"globPattern": {"baseUri": "file:///code", "pattern": "*.toy"}, "kind": 4}
    client = connect(Script(say=[watchers("**/*.py", whole)]), initialize=False)
    client.initialize()
    [registration] = client.called("client/registerCapability")["params"]["registrations"]
    assert registration["registerOptions"]["watchers"] == [{"globPattern": "**/*.py"}, whole]
