"""Items of a call hierarchy come back only if they lie inside, or were handed out."""

from __future__ import annotations

import copy

import pytest

import lspkit
from lspkit.agent import Toolbox
from lspkit.agent.tools.toolbox import MOST_RECORDED, HierarchyItems
from lspkit.testing import Diagnostics, Log, Say, Script
from lspkit.types import CallItem, Position, Range
from tests.agent.tools.calling import PLACE, able, codes, served
from tests.scripted import comes_true, config_for

NAME = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}


def item_at(uri):
    return {"name": "greet", "kind": 12, "uri": uri, "range": NAME, "selectionRange": NAME}


def test_an_item_that_names_a_file_outside_does_not_reach_the_server(tmp_path, scripted):
    argv = scripted(able(tmp_path))
    with served(tmp_path, argv) as toolbox:
        (item,) = toolbox.call({"operation": "prepareCallHierarchy", **PLACE})["data"]
        forged = copy.deepcopy(item["raw"])
        forged["item"]["uri"] = "file:///etc/passwd"
        for given in ({"raw": forged}, item_at("file:///etc/passwd")):
            for operation in ("incomingCalls", "outgoingCalls"):
                call = {"operation": operation, "callHierarchyItem": given}
                assert codes(toolbox.call(call)) == ["EOUTSIDE"]
    assert Log.of(argv).messages("callHierarchy/incomingCalls") == []
    assert Log.of(argv).messages("callHierarchy/outgoingCalls") == []


@pytest.mark.parametrize(
    "uri",
    [f"file:///{'./' * 10_000}etc/passwd", "FILE://elsewhere/etc/passwd", "file:etc/passwd"],
    ids=["long", "host", "relative"],
)
def test_a_uri_of_a_file_without_a_path_does_not_reach_the_server(tmp_path, scripted, uri):
    argv = scripted(able(tmp_path))
    with served(tmp_path, argv) as toolbox:
        (item,) = toolbox.call({"operation": "prepareCallHierarchy", **PLACE})["data"]
        item["raw"]["item"]["uri"] = uri
        call = {"operation": "incomingCalls", "callHierarchyItem": {"raw": item["raw"]}}
        assert codes(toolbox.call(call)) == ["EOUTSIDE"]
    assert Log.of(argv).messages("callHierarchy/incomingCalls") == []


def test_an_item_of_a_library_may_come_back_to_the_toolbox_that_gave_it(tmp_path, scripted):
    library = item_at("file:///usr/lib/library.scr")
    argv = scripted(able(tmp_path, answers={"textDocument/prepareCallHierarchy": [library]}))
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        (tmp_path / "a.scr").write_text("def greet\n😀 greet\n", encoding="utf-8")
        toolbox = Toolbox(ws)
        (item,) = toolbox.call({"operation": "prepareCallHierarchy", **PLACE})["data"]
        call = {"operation": "incomingCalls", "callHierarchyItem": {"raw": item["raw"]}}
        assert codes(Toolbox(ws).call(call)) == ["EOUTSIDE"]
        assert toolbox.call(call)["ok"]
    (asked,) = Log.of(argv).messages("callHierarchy/incomingCalls")
    assert asked["params"]["item"] == library


def test_the_last_items_are_remembered_and_no_more():
    items, somewhere = HierarchyItems(), Range(Position(1, 1), Position(1, 1))
    items.note(
        [
            CallItem("x", "function", None, somewhere, somewhere, "", raw=f'{{"n": {number}}}')
            for number in range(3 * MOST_RECORDED)
        ]
    )
    assert len(items._known) == MOST_RECORDED


def test_findings_about_files_that_may_not_be_read_are_not_shown(tmp_path, scripted):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "outside.scr").write_text("x\n")
    (work / "node_modules").mkdir()
    (work / "node_modules" / "x.scr").write_text("x\n")
    (work / "a.scr").write_text("def greet\n")
    finding = {"range": NAME, "message": "boo", "severity": 1}
    paths = [tmp_path / "outside.scr", work / "node_modules" / "x.scr", work / "gone.scr"]
    pushes = [
        {
            "method": "textDocument/publishDiagnostics",
            "params": {"uri": path.as_uri(), "diagnostics": [finding]},
        }
        for path in (*paths, work / "a.scr")
    ]
    say = [Say("textDocument/didOpen", notification=push) for push in pushes]
    argv = scripted(Script(say=say, diagnostics=Diagnostics(how="pull")))
    with lspkit.Workspace(work, config=config_for(argv)) as ws:
        ws.document_symbols("a.scr")
        assert comes_true(lambda: ws.diagnostics())
        assert [path.name for path in ws.diagnostics()] == ["a.scr"]
        (data,) = Toolbox(ws).call({"operation": "diagnostics"})["data"].items()
    assert data[0] == "a.scr"


@pytest.fixture(autouse=True)
def source(tmp_path):
    (tmp_path / "a.scr").write_text("def greet\n😀 greet ERROR\n", encoding="utf-8")
