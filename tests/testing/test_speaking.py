"""What the scripted server says without being asked: requests, notifications, diagnostics."""

from __future__ import annotations

import pytest

from lspkit.testing import Diagnostics, Say, Script, configuration, progress, watchers
from tests.testing.raw import URI, at, span

PUBLISH = "textDocument/publishDiagnostics"
NOTHING = Diagnostics("none")


def test_an_unknown_request_is_asked_after_initialized(connect):
    request = {"method": "no/such", "params": {"a": 1}}
    client = connect(Script(say=[Say("initialized", request=request)]))
    asked = client.called("no/such")
    assert asked["params"] == {"a": 1}
    client.send({"id": asked["id"], "error": {"code": -32601, "message": "unknown"}})
    assert client.result("workspace/symbol", {"query": ""}) == []
    assert client.log.complaints() == []


@pytest.mark.parametrize(
    ("when", "act"),
    [
        ("textDocument/didOpen", lambda client: None),
        ("textDocument/didChange", lambda client: client.change([{"text": ""}])),
        ("textDocument/hover", lambda client: client.hover()),
    ],
)
def test_a_notification_is_sent_at_its_moment(connect, when, act):
    note = {"method": "window/logMessage", "params": {"type": 3, "message": "now"}}
    client = connect(Script(say=[Say(when, notification=note)], diagnostics=NOTHING))
    client.open("text")
    act(client)
    assert client.message()["params"]["message"] == "now"


def test_a_request_that_is_waited_for_holds_up_the_answer(connect):
    say = Say("textDocument/hover", request={"method": "workspace/applyEdit"}, wait=True)
    client = connect(Script(say=[say], diagnostics=NOTHING))
    client.open("def name")
    hover = client.hover()
    symbols = client.request("workspace/symbol", {"query": ""})
    asked = client.message()
    client.log.wait_for_message("workspace/symbol")
    client.send({"id": asked["id"], "result": {"applied": False}})
    assert [client.message()["id"], client.message()["id"]] == [hover, symbols]


def test_a_request_may_have_the_id_of_one_of_the_client(connect):
    request = {"id": 2, "method": "workspace/workspaceFolders"}
    client = connect(Script(say=[Say("textDocument/hover", request=request)]))
    hover = client.hover()
    asked = client.message()
    assert asked["method"] == "workspace/workspaceFolders"
    assert asked["id"] == hover == 2


def test_something_is_said_some_time_after_its_moment(connect):
    note = {"method": "late/note"}
    client = connect(Script(say=[Say("initialized", notification=note, seconds=0.4)]))
    assert client.result("workspace/symbol", {"query": ""}) == []
    assert client.seen == []
    assert client.called("late/note")


def test_progress_is_created_begun_and_ended(connect):
    client = connect(Script(say=progress("indexing", seconds=0.02)))
    created = client.called("window/workDoneProgress/create")
    client.send({"id": created["id"], "result": None})
    kinds = [client.called("$/progress")["params"]["value"]["kind"] for _ in range(2)]
    assert kinds == ["begin", "end"]


def test_watchers_are_registered_and_configuration_is_asked_for(connect):
    client = connect(Script(say=[watchers("**/*.py"), configuration("toy.lint")]))
    registered = client.called("client/registerCapability")
    [registration] = registered["params"]["registrations"]
    assert registration["registerOptions"]["watchers"] == [{"globPattern": "**/*.py"}]
    client.send({"id": registered["id"], "result": None})
    asked = client.called("workspace/configuration")
    assert asked["params"] == {"items": [{"section": "toy.lint"}]}


def test_diagnostics_are_pushed_on_open_and_change_and_cleared_on_close(connect):
    client = connect()
    client.open("fine\n\U0001f600 ERROR here\nWARN")
    first = client.called(PUBLISH)["params"]
    assert (first["uri"], first["version"]) == (URI, 1)
    found = [(item["range"], item["severity"], item["message"]) for item in first["diagnostics"]]
    assert found == [(span(1, 3, 8), 1, "ERROR here"), (span(2, 0, 4), 2, "WARN")]
    client.change([{"text": "fine"}])
    second = client.called(PUBLISH)["params"]
    assert (second["version"], second["diagnostics"]) == (2, [])
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.called(PUBLISH)["params"] == {"uri": URI, "diagnostics": []}


def test_pushes_may_come_on_save_only_and_without_a_version(connect):
    client = connect(Script(diagnostics=Diagnostics(version=False, on=["save"])))
    client.open("ERROR")
    client.result("workspace/symbol", {"query": ""})
    assert client.seen == []
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    assert "version" not in client.called(PUBLISH)["params"]


def test_a_pull_has_a_result_id_that_spares_the_next_one(connect):
    client = connect(Script(diagnostics=Diagnostics("pull")), initialize=False)
    assert "diagnosticProvider" in client.initialize()["capabilities"]
    client.open("ERROR")
    document = {"textDocument": {"uri": URI}}
    report = client.result("textDocument/diagnostic", document)
    assert [item["message"] for item in report["items"]] == ["ERROR"]
    known = {**document, "previousResultId": report["resultId"]}
    assert client.result("textDocument/diagnostic", known)["kind"] == "unchanged"
    client.change([{"text": ""}])
    assert client.result("textDocument/diagnostic", known)["items"] == []
    assert client.seen == []


def test_a_pull_for_a_document_that_is_not_open_is_empty(connect):
    client = connect(Script(diagnostics=Diagnostics("pull")))
    report = client.result("textDocument/diagnostic", at(0, 0))
    assert report == {"kind": "full", "items": []}


def test_a_pull_for_the_workspace_covers_the_open_documents(connect):
    client = connect(Script(diagnostics=Diagnostics("pull")))
    client.open("ERROR")
    client.open("fine", uri="file:///code/b.toy")
    report = client.result("workspace/diagnostic", {"previousResultIds": []})
    assert [len(item["items"]) for item in report["items"]] == [1, 0]
