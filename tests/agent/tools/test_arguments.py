"""Calls that cannot be answered or are not allowed: always an envelope, never an exception."""

from __future__ import annotations

import os
import threading
import time

import pytest

import lspkit
from lspkit import Workspace
from lspkit.agent import Toolbox
from lspkit.testing import Fault, Log, Script
from tests.agent.tools.calling import GREP, PLACE, able, alone, check_form, codes, served
from tests.scripted import config_for


def test_a_closed_workspace_is_an_answer(tmp_path):
    with alone(tmp_path) as toolbox:
        pass
    envelope = toolbox.call({"operation": "hover", "filePath": "a.xyz", "line": 1, "character": 1})
    check_form(envelope)
    assert codes(envelope) == ["ECLOSED"]
    text = toolbox.execute("lsp_hover", {"filePath": "a.xyz", "line": 1, "character": 5})
    assert text.splitlines() == [
        "this workspace was closed",
        "No LSP tool works here any more.",
        f"Suggested alternative: search for the name: {GREP} 'greet' .",
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "operation is missing"),
        ([], "the arguments are a list: expected an object"),
        ("{", "the arguments are not valid JSON"),
        ("[1]", "the arguments are a list"),
        ({"operation": 5}, "operation is no text"),
        ({"operation": "gotoDefinition"}, "did you mean goToDefinition?"),
        ({"operation": "lsp_hover"}, "operation is lsp_hover"),
        ({"operation": "hover"}, "filePath is missing: expected a path"),
        ({"operation": "hover", "filePath": ""}, "filePath is missing"),
        ({"operation": "hover", "filePath": 3}, "filePath is 3: expected a path"),
        ({"operation": "hover", "filePath": "a"}, "the position is missing: expected line and"),
        ({"operation": "hover", "filePath": "a", "line": 1}, "character is missing"),
        ({"operation": "hover", "filePath": "a", "character": 1}, "line is missing"),
        ({"operation": "hover", **PLACE, "line": 0}, "line is 0: expected a whole number from 1"),
        ({"operation": "hover", **PLACE, "line": True}, "line is true: expected a whole number"),
        ({"operation": "hover", **PLACE, "line": "2"}, 'line is "2": expected a whole number'),
        ({"operation": "hover", **PLACE, "line": 2.5}, "line is 2.5: expected a whole number"),
        ({"operation": "hover", **PLACE, "line": 10**5000}, "far too large"),
        ({"operation": "hover", **PLACE, "line": float("inf")}, "line is Infinity"),
        ({"operation": "hover", **PLACE, "symbol": "x"}, "exclude each other"),
        ({"operation": "hover", **PLACE, "column": 9}, "character and column mean the same"),
        ({"operation": "hover", **PLACE, "lines": 9}, "lines is unknown; hover takes filePath"),
        (
            {"operation": "findReferences", **PLACE, "includeDeclaration": 1},
            "expected true or false",
        ),
        ({"operation": "workspaceSymbol"}, "query is missing"),
        ({"operation": "workspaceSymbol", "query": ["x"]}, "query is a list"),
        ({"operation": "documentSymbol"}, "filePath is missing"),
        ({"operation": "incomingCalls"}, "callHierarchyItem or filePath is missing"),
        ({"operation": "rename", **PLACE}, "newName is missing"),
        ({"operation": "rename", **PLACE, "newName": ""}, "newName is missing"),
        ({"operation": "rename", **PLACE, "newName": "x", "apply": "yes"}, 'apply is "yes"'),
    ],
)
def test_what_makes_no_sense_is_named_with_what_was_expected(tmp_path, given, words):
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call(given)
    check_form(envelope)
    assert not envelope["ok"]
    assert set(codes(envelope)) == {"EINVAL"}
    assert words in envelope["errors"][0]["message"]


def test_all_faults_of_a_call_are_told_at_once(tmp_path):
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call({"operation": "rename", "line": "x", "foo": 1, "apply": 0})
        text = toolbox.execute("lsp_rename", {"line": "x", "foo": 1, "apply": 0})
    told = [one["message"] for one in envelope["errors"]]
    assert [message.split()[0] for message in told] == [
        "filePath",
        "line",
        "newName",
        "apply",
        "foo",
    ]
    assert text.splitlines() == [one.replace("rename takes", "lsp_rename takes") for one in told]


@pytest.mark.parametrize("tool", ["lsp_definition", "lsp_goto_definition"])
def test_a_tool_is_named_in_messages_as_it_was_called(tmp_path, tool):
    denied = {"permissions": {"goToDefinition": "deny"}}
    with alone(tmp_path) as toolbox:
        assert f"x is unknown; {tool} takes filePath" in toolbox.execute(tool, {**PLACE, "x": 1})
    with alone(tmp_path, config=denied) as toolbox:
        assert toolbox.execute(tool, PLACE).startswith(f"{tool} is denied by the configuration")


def test_fields_of_other_operations_are_passed_over_by_the_single_tool_alone(tmp_path, scripted):
    with served(tmp_path, scripted(able(tmp_path))) as toolbox:
        given = {**PLACE, "query": "x", "newName": None}
        envelope = toolbox.call({"operation": "hover", **given})
        own = toolbox.answer("lsp_hover", given).envelope
    assert envelope["ok"]
    assert envelope["meta"]["warnings"] == ["hover does not use query"]
    assert codes(own) == ["EINVAL", "EINVAL"]


@pytest.mark.parametrize("name", ["lsp_nothing", "", "goToDefinition ", 7, None, ["lsp"]])
def test_a_tool_that_nobody_knows_is_answered_with_those_there_are(tmp_path, name):
    with alone(tmp_path) as toolbox:
        assert "lsp_definition" in toolbox.execute(name, {})


def test_a_file_without_a_server_is_told_in_the_usual_words(tmp_path):
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call({"operation": "documentSymbol", "filePath": "a.xyz"})
    check_form(envelope)
    assert codes(envelope) == ["ENOSERVER"]
    assert envelope["errors"][0]["message"] == "No LSP server configured for .xyz files."


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("missing.scr", "ENOENT"),
        ("../outside.scr", "EOUTSIDE"),
        ("/etc/passwd", "EOUTSIDE"),
        ("link.scr", "EOUTSIDE"),
        ("~/x.scr", "ENOENT"),
        ("a\0.scr", "ENOENT"),
        ("\ud800.scr", "ENOENT"),
        ("node_modules/x.scr", "EEXCLUDED"),
        ("binary.scr", "EBINARY"),
        (".", "ENOENT"),
        ("pipe.scr", "ENOENT"),
    ],
)
def test_a_path_that_may_not_be_used_is_refused_in_every_tool(tmp_path, scripted, path, code):
    inside = tmp_path / "inside"
    (inside / "node_modules").mkdir(parents=True)
    (inside / "node_modules" / "x.scr").write_text("x", encoding="utf-8")
    (tmp_path / "outside.scr").write_text("x", encoding="utf-8")
    (inside / "link.scr").symlink_to(tmp_path / "outside.scr")
    (inside / "binary.scr").write_bytes(b"\0\1")
    os.mkfifo(inside / "pipe.scr")
    with served(inside, scripted(Script())) as toolbox:
        for operation in ("hover", "documentSymbol", "diagnostics"):
            given = {"operation": operation, "filePath": path}
            if operation == "hover":
                given |= {"line": 1, "character": 1}
            envelope = toolbox.call(given)
            check_form(envelope)
            assert codes(envelope) == [code]


def test_a_missing_program_is_told_with_the_command_that_gets_it(tmp_path):
    (tmp_path / "a.scr").write_text("x", encoding="utf-8")
    config = config_for(["no-such-program-anywhere"])
    with lspkit.Workspace(tmp_path, config=config) as ws:
        envelope = Toolbox(ws).call({"operation": "hover", **PLACE})
    check_form(envelope)
    assert codes(envelope) == ["EUNAVAILABLE"]
    assert envelope["errors"][0]["serverId"] == "scripted"
    assert "no-such-program-anywhere" in envelope["errors"][0]["message"]


def test_a_slow_server_is_a_timeout(tmp_path, scripted):
    script = Script(faults=[Fault("textDocument/hover", "hang")])
    with served(tmp_path, scripted(script)) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE}, timeout=0.3)
    check_form(envelope)
    assert codes(envelope) == ["ETIMEDOUT"]
    assert envelope["meta"]["timedOut"]
    assert envelope["errors"][0]["serverId"] == "scripted"


def test_a_cancelled_call_is_an_answer(tmp_path, scripted):
    cancel = lspkit.CancelToken()
    argv = scripted(Script(faults=[Fault("textDocument/hover", "hang")]))
    with served(tmp_path, argv) as toolbox:
        log = Log.of(argv)

        def stop():
            log.wait_for_message("textDocument/hover")
            cancel.set()

        stopper = threading.Thread(target=stop)
        stopper.start()
        envelope = toolbox.call({"operation": "hover", **PLACE}, cancel=cancel)
        stopper.join()
        log.wait_for_message("$/cancelRequest")
    check_form(envelope)
    assert codes(envelope) == ["ECANCELLED"]


def test_a_server_that_refuses_is_named(tmp_path, scripted):
    script = Script(faults=[Fault("textDocument/hover", "error", message="not today")])
    with served(tmp_path, scripted(script)) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
    assert codes(envelope) == ["ELSP"]
    assert "not today" in envelope["errors"][0]["message"]


def test_what_no_server_can_do_is_told(tmp_path, scripted):
    with served(tmp_path, scripted(Script())) as toolbox:
        envelope = toolbox.call({"operation": "goToImplementation", **PLACE})
    assert codes(envelope) == ["EUNSUPPORTED"]
    assert envelope["errors"][0]["serverId"] == "scripted"


class Unkind(dict):
    """A mapping that breaks when it is looked at."""

    def items(self):
        raise RuntimeError("broken inside")


def test_not_even_a_broken_argument_raises(tmp_path):
    with alone(tmp_path) as toolbox:
        envelope = toolbox.call(Unkind(operation="hover"))
        assert "RuntimeError" in toolbox.execute("lsp_hover", Unkind())
        late = toolbox.call({"operation": "documentSymbol", "filePath": "a.xyz"}, timeout="soon")
    check_form(envelope)
    assert codes(envelope) == ["ELSPKIT"]
    check_form(late)


# Permissions


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, {"lsp_hover": "allow", "lsp_rename": "ask", "lsp": "ask", "lsp hover": "allow"}),
        ({"lsp_rename": "allow"}, {"lsp_rename": "allow", "rename": "allow", "lsp": "allow"}),
        ({"rename": "deny"}, {"lsp_rename": "deny", "lsp rename": "deny", "lsp hover": "allow"}),
        ({"lsp_goto_definition": "ask"}, {"lsp_definition": "ask", "goToDefinition": "ask"}),
        ({"lsp": "allow"}, {"lsp": "allow", "lsp rename": "allow", "lsp_rename": "ask"}),
        ({"lsp": "allow", "rename": "ask"}, {"lsp": "ask", "lsp rename": "ask"}),
        ({"lsp": "deny"}, {"lsp": "deny", "lsp hover": "deny", "lsp_hover": "allow"}),
    ],
)
def test_permissions_are_those_of_the_configuration_or_of_the_table(tmp_path, said, expected):
    with alone(tmp_path, config={"permissions": said}) as toolbox:
        for name, permission in expected.items():
            tool, _, operation = name.partition(" ")
            arguments = {"operation": operation} if operation else None
            assert toolbox.permission(tool, arguments) == permission, name


def test_what_is_not_known_is_not_allowed(tmp_path):
    with alone(tmp_path, config={"navigationTools": False}) as toolbox:
        assert toolbox.permission("lsp_nothing") == "deny"
        assert toolbox.permission("lsp_hover") == "deny"
        assert toolbox.permission(["lsp"]) == "deny"
        assert toolbox.permission("lsp_diagnostics") == "allow"
    assert toolbox.permission("lsp_diagnostics") == "deny"  # it is closed


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"permissions": {"lsp_hover": "deny"}}, "EPERM"),
        ({"navigationTools": False}, "EPERM"),
        ({"lsp": False}, "ENOSERVER"),
    ],
)
def test_what_is_denied_or_switched_off_is_not_done(tmp_path, scripted, config, code):
    argv = scripted(Script())
    with served(tmp_path, argv, config=config) as toolbox:
        envelope = toolbox.call({"operation": "hover", **PLACE})
        text = toolbox.execute("lsp_hover", PLACE)
        assert Log.of(argv).entries() == []
    check_form(envelope)
    assert codes(envelope) == [code]
    assert envelope["errors"][0]["message"] in text.splitlines()[0]
    assert "configuration" in text


def test_the_schemas_of_a_toolbox_follow_its_configuration(tmp_path):
    with alone(tmp_path, config={"navigationTools": False}) as toolbox:
        (tool,) = toolbox.schemas("mcp", "per-operation")
    assert tool["name"] == "lsp_diagnostics"


def test_a_warning_about_the_workspace_is_in_every_answer(tmp_path):
    (tmp_path / ".lspkit").mkdir()
    (tmp_path / ".lspkit" / "lsp.json").write_text('{"lsp": {"x": {"command": ["x"]}}}')
    (tmp_path / "a.xyz").write_text("x", encoding="utf-8")
    with lspkit.Workspace(tmp_path, trusted=False) as ws:
        toolbox = Toolbox(ws)
        given = {"filePath": "a.xyz"}
        envelopes = [toolbox.call({"operation": "documentSymbol", **given}) for _ in range(2)]
    for envelope in envelopes:
        check_form(envelope)
        assert any("lsp.x.command" in one for one in envelope["meta"]["warnings"])


def test_what_is_held_back_from_a_project_is_in_every_answer_until_it_is_trusted(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("LSPKIT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("LSPKIT_TRUST")
    program = tmp_path / "project" / ".venv" / "bin" / "ty"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    asked = {"operation": "workspaceSymbol", "query": "x"}
    with lspkit.Workspace(tmp_path / "project", config={"lsp": {}}) as ws:
        toolbox = Toolbox(ws)
        untrusted = [toolbox.call(asked) for _ in range(2)]
        monkeypatch.setenv("LSPKIT_TRUST", "always")
        ws.reload()
        trusted = toolbox.call(asked)
    for envelope in untrusted:
        check_form(envelope)
        [line] = [one for one in envelope["meta"]["warnings"] if "is not trusted" in one]
        assert "held back: .venv/bin/ty" in line
    assert trusted["meta"]["warnings"] == []


def test_a_toolbox_needs_room_for_an_answer(tmp_path):
    with alone(tmp_path) as toolbox:
        ws = toolbox._ws
        with pytest.raises(ValueError, match="at least 4096"):
            Toolbox(ws, max_bytes=100)
        with pytest.raises(ValueError, match="at least 1,"):
            Toolbox(ws, max_items=0)


# Arguments have a length


@pytest.mark.parametrize(
    "path", ["a" * 2_000_000, "a/" * 1_000_000, "../" * 700_000, "/" * 2_000_000], ids=len
)
@pytest.mark.parametrize("tool", ["lsp_hover", "lsp_diagnostics"])
def test_a_path_that_no_file_can_have_is_refused_at_once(tmp_path, tool, path):
    with Workspace(tmp_path) as ws:
        place = {} if tool == "lsp_diagnostics" else {"line": 1, "character": 1}
        began = time.process_time()
        answer = Toolbox(ws).answer(tool, {"filePath": path, **place}, timeout=3)
        assert time.process_time() - began < 10
        assert "filePath is too long" in answer.text
        assert len(answer.text) < 1000
        with pytest.raises(lspkit.PathError, match="4096"):
            ws.hover(path, line=1, column=1)


@pytest.mark.parametrize("field", ["symbol", "query", "newName"])
def test_a_name_that_nobody_has_given_anything_is_refused(tmp_path, field):
    tools = {"symbol": "lsp_hover", "query": "lsp_workspace_symbols", "newName": "lsp_rename"}
    arguments = {"filePath": "a.py", "line": 1, "character": 1, field: "a." * 500_000}
    with Workspace(tmp_path) as ws:
        assert f"{field} is too long" in Toolbox(ws).execute(tools[field], arguments)


def test_arguments_without_end_are_refused(tmp_path):
    with Workspace(tmp_path) as ws:
        toolbox = Toolbox(ws)
        assert "more than" in toolbox.execute("lsp_hover", " " * 2_000_000)
        assert "more than" in toolbox.execute("lsp_hover", {f"a{n}": 1 for n in range(100_000)})
        item = {"raw": {"serverId": "x", "via": "a.py", "item": {"data": "x" * 1_000_000}}}
        told = toolbox.execute("lsp_incoming_calls", {"callHierarchyItem": item})
        assert "too long" in told
