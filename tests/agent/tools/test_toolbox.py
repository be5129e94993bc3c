"""Calls of tools, from what a model writes to what it is told; on the scripted server, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lspkit.agent import TABLE
from lspkit.agent.tools.tool_table import spec_of
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.agent.tools.calling import PLACE, TEXT, able, alone, check_form, codes, served

#: For every operation: input, and the data that comes back, short enough to read.
ANSWERED = {
    "goToDefinition": (PLACE, "a.scr:1:5"),
    "goToTypeDefinition": (PLACE, "a.scr:1:5"),
    "goToImplementation": (PLACE, "a.scr:1:5"),
    "findReferences": (PLACE, "a.scr:1:5 a.scr:2:3"),
    "hover": (PLACE, "def greet"),
    "documentSymbol": ({"filePath": "a.scr"}, "greet 1:5"),
    "workspaceSymbol": ({"query": "gr", "filePath": "a.scr"}, "greet 1:5"),
    "prepareCallHierarchy": (PLACE, "greet 1:5"),
    "incomingCalls": (PLACE, "greet 1:5 from 2:3"),
    "outgoingCalls": (PLACE, "greet 1:5 from 2:3"),
    "diagnostics": ({"filePath": "a.scr"}, "a.scr:2:9"),
    "rename": ({**PLACE, "newName": "meet"}, "1:5 meet 2:3 meet"),
}


def start(range):
    return f"{range['start']['line']}:{range['start']['character']}"


def brief(data):
    """The data of any operation as a few words."""
    if isinstance(data, dict) and "contents" in data:
        return " ".join(data["contents"])
    if isinstance(data, dict) and "changes" in data:
        edits = [one for change in data["changes"] for one in change["edits"]]
        return " ".join(f"{start(one['range'])} {one['newText']}" for one in edits)
    if isinstance(data, dict):
        found = [(path, one) for path, all in data.items() for one in all]
        return " ".join(f"{path}:{start(one['range'])}" for path, one in found)
    return " ".join(brief_of(one) for one in data)


def brief_of(one):
    if "item" in one:
        return f"{brief_of(one['item'])} from {', '.join(map(start, one['ranges']))}"
    if "name" in one:
        return f"{one['name']} {start(one['selectionRange'])}"
    return f"{one['filePath']}:{start(one['range'])}"


def test_every_operation_is_answered_in_both_shapes(tmp_path, scripted):
    assert list(ANSWERED) == [row.operation for row in TABLE]
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        for operation, (given, expected) in ANSWERED.items():
            envelope = toolbox.call({"operation": operation, **given})
            check_form(envelope)
            assert (envelope["ok"], envelope["operation"]) == (True, operation)
            assert brief(envelope["data"]) == expected
            assert envelope["meta"]["serverHits"] == 1
            assert not envelope["meta"]["empty"]
            row = spec_of(operation)
            for name in (row.tool, row.mcp):
                answer = toolbox.answer(name, json.dumps(given))
                assert answer.envelope["data"] == envelope["data"]
                assert "a.scr:" in answer.text or operation == "hover"


def test_the_single_tool_is_executed_to_its_envelope_as_json(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        text = toolbox.execute("lsp", json.dumps({"operation": "hover", **PLACE}))
        envelope = toolbox.call({"operation": "hover", **PLACE})
    told = json.loads(text)
    check_form(told)
    assert {**told, "meta": None} == {**envelope, "meta": None}


def test_a_place_is_given_in_three_ways_and_by_other_names(tmp_path, scripted):
    ways = [
        {"filePath": "a.scr", "line": 2, "character": 4},
        {"path": "a.scr", "line": 2, "column": 4},
        {"path": "@a.scr", "line": 2, "symbol": "greet"},
        {"filePath": str(tmp_path / "a.scr"), "symbol": "greet"},
        {"filePath": "a.scr", "line": 2.0, "character": 4, "symbol": None},
    ]
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        for way in ways:
            assert brief(toolbox.answer("lsp_definition", way).envelope["data"]) == "a.scr:1:5"


def test_references_leave_the_declaration_out_by_either_name(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        for name in ("includeDeclaration", "include_declaration"):
            answer = toolbox.answer("lsp_references", {**PLACE, name: False})
            assert brief(answer.envelope["data"]) == "a.scr:2:3"


# Items of a call hierarchy


def test_an_item_goes_back_to_its_server_as_the_server_gave_it(tmp_path, scripted):
    uri = (tmp_path / "a.scr").as_uri()
    name = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    own = {
        "data": {"z": 1, "a": [None, 1.5, "ü", 12345678901234567890123]},
        "name": "greet",
        "kind": 12,
        "uri": uri,
        "range": name,
        "selectionRange": name,
        "unheardOf": True,
    }
    argv = scripted(able(tmp_path, answers={"textDocument/prepareCallHierarchy": [own]}))
    with served(tmp_path, argv) as toolbox:
        (item,) = toolbox.call({"operation": "prepareCallHierarchy", **PLACE})["data"]
        assert item["raw"] == {"serverId": "scripted", "via": "a.scr", "item": own}
        assert item["filePath"] == "a.scr"
        # Whatever else became of it on its way does not count.
        handed = {"raw": item["raw"], "name": "another", "uri": "file:///elsewhere"}
        for given in (handed, json.dumps(handed)):
            call = {"operation": "incomingCalls", "callHierarchyItem": given}
            assert brief(toolbox.call(call)["data"]) == "greet 1:5 from 2:3"
        asked = Log.of(argv).messages("callHierarchy/incomingCalls")
    assert [one["params"]["item"] for one in asked] == [own, own]
    assert list(asked[0]["params"]["item"]) == list(own)


def test_an_item_of_the_protocol_is_taken_as_it_is(tmp_path, scripted):
    range = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
    item = {
        "uri": (tmp_path / "a.scr").as_uri(),
        "range": range,
        "selectionRange": range,
        "name": "greet",
        "kind": 12,
        "detail": "mine",
        "data": [1],
    }
    argv = scripted(able(tmp_path))
    with served(tmp_path, argv) as toolbox:
        call = {"operation": "outgoingCalls", "callHierarchyItem": item}
        assert brief(toolbox.call(call)["data"]) == "greet 1:5 from 2:3"
        (asked,) = Log.of(argv).messages("callHierarchy/outgoingCalls")
    assert asked["params"]["item"] == item


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (7, "callHierarchyItem is 7"),
        ("no item", "callHierarchyItem is null"),
        ({}, "neither raw nor the uri"),
        ({"uri": "untitled:1", "name": "x"}, "neither raw nor the uri"),
        ({"uri": "file:///a.scr"}, "is not a valid item"),
        ({"raw": "x"}, "raw was changed"),
        ({"raw": {"serverId": "s", "via": "a.scr"}}, "raw.item is not a valid item"),
        ({"raw": {"serverId": "", "via": "a.scr", "item": {}}}, "raw was changed"),
        (
            {"raw": {"serverId": "s", "via": "a.scr", "item": {"name": float("nan")}}},
            "is not a valid item",
        ),
    ],
)
def test_an_item_that_makes_no_sense_is_refused(tmp_path, item, words):
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call({"operation": "incomingCalls", "callHierarchyItem": item})
    check_form(envelope)
    assert codes(envelope) == ["EINVAL"]
    assert words in envelope["errors"][0]["message"]


def test_an_item_of_a_file_outside_is_refused(tmp_path):
    item = {"uri": Path("/etc/passwd").as_uri(), "name": "x", "kind": 12}
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call({"operation": "incomingCalls", "callHierarchyItem": item})
    assert codes(envelope) == ["EOUTSIDE"]


def test_no_function_at_a_place_is_a_structured_error(tmp_path, scripted):
    argv = scripted(able(tmp_path, answers={"textDocument/prepareCallHierarchy": None}))
    with served(tmp_path, argv) as toolbox:
        envelope = toolbox.call({"operation": "incomingCalls", **PLACE})
    check_form(envelope)
    assert codes(envelope) == ["EPOSITION"]


# Diagnostics


def test_diagnostics_are_of_this_very_text(tmp_path, scripted):
    with served(tmp_path, scripted(Script())) as toolbox:
        call = {"operation": "diagnostics", "filePath": "a.scr"}
        assert brief(toolbox.call(call)["data"]) == "a.scr:2:9"
        (tmp_path / "a.scr").write_text("def greet\n", encoding="utf-8")
        envelope = toolbox.call(call)
    check_form(envelope)
    assert envelope["data"] == {"a.scr": []}
    assert envelope["ok"]
    assert envelope["meta"]["empty"]


def test_diagnostics_without_a_file_are_those_of_all_files_in_order(tmp_path, scripted):
    for name in ("c.scr", "b.scr"):
        (tmp_path / name).write_text("ERROR\n", encoding="utf-8")
    (tmp_path / "clean.scr").write_text("def fine\n", encoding="utf-8")
    with served(tmp_path, scripted(Script())) as toolbox:
        assert toolbox.call({"operation": "diagnostics"})["meta"]["empty"]
        for name in ("c.scr", "clean.scr", "a.scr", "b.scr"):
            toolbox.call({"operation": "diagnostics", "filePath": name})
        envelope = toolbox.call({"operation": "diagnostics"})
    check_form(envelope)
    assert list(envelope["data"]) == ["a.scr", "b.scr", "c.scr"]


def test_only_severities_that_count_are_told(tmp_path, scripted):
    counting = {"diagnostics": {"severity": "warning"}}
    for config, expected in (({}, ""), (counting, "a.scr:2:1")):
        argv = scripted(Script())
        with served(tmp_path, argv, text="fine\nWARN\n", config=config) as toolbox:
            given = {"operation": "diagnostics", "filePath": "a.scr"}
            assert brief(toolbox.call(given)["data"]) == expected
            assert brief(toolbox.call({"operation": "diagnostics"})["data"]) == expected


def test_a_server_that_says_nothing_is_not_taken_for_a_clean_file(tmp_path, scripted):
    script = Script(faults=[Fault("textDocument/publishDiagnostics", "hang")])
    with served(tmp_path, scripted(script), text="fine\n") as toolbox:
        given = {"operation": "diagnostics", "filePath": "a.scr"}
        envelope = toolbox.call(given, timeout=0.5)
    check_form(envelope)
    assert not envelope["ok"]
    assert envelope["meta"]["timedOut"]
    assert codes(envelope) == ["ETIMEDOUT"]
    assert envelope["errors"][0]["serverId"] == "scripted"


def test_the_first_check_waits_longer_and_only_once(tmp_path, scripted):
    timing = {"firstTouchTimeoutMs": 700, "diagnosticsWaitTimeoutMs": 100}
    script = Script(faults=[Fault("initialize", "hang")])
    with served(tmp_path, scripted(script), config={"timing": timing}) as toolbox:
        given = {"operation": "diagnostics", "filePath": "a.scr"}
        took = [toolbox.call(given)["meta"]["durationMs"] for _ in range(2)]
    assert took[0] >= 700
    assert took[1] < 600


# Renaming


def test_a_rename_is_a_preview(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path)), allow_apply=True) as toolbox:
        envelope = toolbox.call({"operation": "rename", **PLACE, "newName": "meet"})
        assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT
    assert envelope["data"]["applied"] is False


def test_apply_is_refused_where_the_host_has_not_allowed_it(tmp_path, scripted):
    argv = scripted(able(tmp_path))
    with served(tmp_path, argv) as toolbox:
        given = {**PLACE, "newName": "meet", "apply": True}
        envelope = toolbox.call({"operation": "rename", **given})
        text = toolbox.execute("lsp_rename", given)
        assert Log.of(argv).entries() == []
    check_form(envelope)
    assert codes(envelope) == ["EPERM"]
    assert "apply is not allowed here" in text
    assert "--allow-apply" not in text  # the host may have no command line
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == TEXT


def test_apply_writes_the_files_where_the_host_has_allowed_it(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path)), allow_apply=True) as toolbox:
        given = {**PLACE, "new_name": "meet", "apply": True}
        answer = toolbox.answer("lsp_rename", given)
    check_form(answer.envelope)
    assert answer.envelope["data"]["applied"] is True
    assert "2 changes in 1 file made:" in answer.text
    written = (tmp_path / "a.scr").read_text(encoding="utf-8")
    assert written == TEXT.replace("greet", "meet")


def test_the_timeout_of_a_call_holds_for_its_edit_as_well(tmp_path, scripted):
    faults = [
        Fault("textDocument/rename", "delay", seconds=1.0),
        Fault("textDocument/diagnostic", "hang"),
    ]
    script = able(tmp_path, diagnostics=Diagnostics(how="pull"), faults=faults)
    with served(tmp_path, scripted(script), allow_apply=True) as toolbox:
        given = {"operation": "rename", **PLACE, "newName": "meet", "apply": True}
        envelope = toolbox.call(given, timeout=4)
    check_form(envelope)
    assert envelope["ok"]
    assert any(
        one.startswith("applied, but not checked: a.scr: ") for one in envelope["meta"]["warnings"]
    )
    # Much less than the time for a check that is not limited.
    assert envelope["meta"]["durationMs"] < 20_000
