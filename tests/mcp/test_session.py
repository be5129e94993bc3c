"""One MCP client, on the scripted server in this process."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import threading
from pathlib import Path

import mcp.types as types
import pytest
from mcp.shared.exceptions import MCPError

import lspkit
from lspkit import operations as ops
from lspkit.agent import tool_schemas
from lspkit.mcp.mcp_process import McpChannel
from lspkit.mcp.wire_streams import Descriptors
from lspkit.runtime.process.child import readable
from lspkit.testing import Fault, Log, Script
from lspkit.testing.script import progress
from tests import scripted as scripted_server
from tests.mcp.mcp_client import PATIENCE, TIMING, McpClient, served, text_of
from tests.mcp.raw_mcp import RawWire
from tests.scripted import SOURCE, comes_true

workspace = functools.partial(scripted_server.workspace, timing=TIMING)
AT = {"filePath": "a.scr", "line": 2, "character": 4}


@pytest.fixture(params=[True, False], ids=["handshake", "2026"])
def legacy(request: pytest.FixtureRequest) -> bool:
    """Both forms of the protocol."""
    return bool(request.param)


def test_the_tools_are_the_rows_of_the_table(tmp_path: Path, scripted, legacy: bool) -> None:
    with workspace(tmp_path, scripted(Script())) as ws, served(ws, legacy=legacy) as client:
        tools = client.ask("list_tools").tools
        declared = tool_schemas("mcp", "per-operation", output=True)
        assert [one.name for one in tools] == [one["name"] for one in declared]
        for tool, row in zip(tools, declared, strict=True):
            assert (tool.title, tool.description) == (row["title"], row["description"])
            assert (tool.input_schema, tool.output_schema) == (
                row["inputSchema"],
                row["outputSchema"],
            )
            assert tool.annotations.read_only_hint is (tool.name != "lsp_rename")
            assert tool.annotations.open_world_hint is False
        assert text_of(client.tool("lsp_goto_definition", **AT)) == "a.scr:1:5  def greet"


def test_every_tool_answers_with_text_and_data(tmp_path: Path, scripted) -> None:
    (tmp_path / "bad.scr").write_text("ERROR\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script())) as ws, served(ws) as client:
        at_place = {name for name in client.names() if name not in NOT_AT_PLACE}
        for name in sorted(at_place - {"lsp_rename"}):
            result = client.tool(name, **AT)
            assert set(result.structured_content) == {"ok", "operation", "data", "errors", "meta"}
        assert client.text("lsp_goto_definition", **AT) == "a.scr:1:5  def greet"
        assert "a.scr:2:3" in client.text("lsp_find_references", **AT)
        assert "greet" in client.text("lsp_hover", **AT)
        assert "greet" in client.text("lsp_document_symbols", filePath="a.scr")
        assert "greet" in client.text("lsp_workspace_symbols", query="greet")
        assert "ERROR" in client.text("lsp_diagnostics", filePath="bad.scr")
        assert "bad.scr" in client.text("lsp_diagnostics")
        assert "hello" in client.text("lsp_rename", **AT, newName="hello")
        assert (tmp_path / "a.scr").read_text(encoding="utf-8") == SOURCE


#: Tools whose arguments are no position.
NOT_AT_PLACE = {"lsp_document_symbols", "lsp_workspace_symbols", "lsp_diagnostics"}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("lsp_hover", {"filePath": "a.scr", "line": "two"}, "line is"),
        ("lsp_hover", {"filePath": "a.scr", "line": 1, "charakter": 1}, "charakter"),
        ("lsp_hover", {}, "filePath is missing"),
        ("lsp_hover", {"filePath": "/etc/passwd", "line": 1, "character": 1}, "outside"),
        ("lsp_hover", {"filePath": "none.scr", "line": 1, "character": 1}, "does not exist"),
        ("lsp_diagnostics", {"filePath": "a\0b"}, "NUL"),
        ("lsp_rename", {**AT, "newName": "x", "apply": True}, "apply is not allowed"),
        ("lsp_rename", {**AT, "newName": "x", "apply": True}, "lspkit mcp --allow-apply"),
        ("lsp_definition", AT, "there is no tool lsp_definition"),
        ("nonsense", {}, "there is no tool nonsense"),
    ],
)
def test_a_mistake_is_a_text_for_the_model(
    shared: McpClient, name: str, arguments: dict[str, object], words: str
) -> None:
    assert words in shared.error(name, **arguments)


def test_an_unknown_tool_is_not_a_fault_of_lspkit(shared: McpClient) -> None:
    [error] = shared.tool("nonsense").structured_content["errors"]
    assert error["code"] == "EINVAL"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    """A client for all tests that change nothing. Its server runs before they begin."""
    folder = tmp_path_factory.mktemp("shared")
    argv = Script().command(folder / "server")
    (folder / "project").mkdir()
    with workspace(folder / "project", argv) as ws, served(ws) as client:
        client.text("lsp_diagnostics", filePath="a.scr")
        yield client


def test_a_rename_is_written_if_that_is_allowed(tmp_path: Path, scripted) -> None:
    with workspace(tmp_path, scripted(Script())) as ws, served(ws, allow_apply=True) as client:
        client.text("lsp_rename", **AT, newName="hello", apply=True)
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == SOURCE.replace("greet", "hello")


def test_a_cancelled_call_is_cancelled_in_the_server(
    tmp_path: Path, scripted, legacy: bool
) -> None:
    argv = scripted(Script(faults=[Fault("textDocument/hover", "hang")]))
    with workspace(tmp_path, argv) as ws, served(ws, legacy=legacy) as client:
        call = client.begin("lsp_hover", AT)
        Log.of(argv).wait_for_message("textDocument/hover")
        call.cancel()
        Log.of(argv).wait_for_message("$/cancelRequest")
        assert client.text("lsp_goto_definition", **AT)


def test_a_client_that_is_gone_has_its_calls_cancelled(tmp_path: Path, scripted) -> None:
    argv = scripted(Script(faults=[Fault("textDocument/hover", "hang")]))
    with workspace(tmp_path, argv) as ws:
        with served(ws) as client:
            call = client.begin("lsp_hover", AT)
            Log.of(argv).wait_for_message("textDocument/hover")
        Log.of(argv).wait_for_message("$/cancelRequest")
        assert call.done()


def test_progress_tells_what_the_servers_do(tmp_path: Path, scripted, legacy: bool) -> None:
    script = Script(say=progress("Indexing"), faults=[Fault("textDocument/hover", "hang")])
    with workspace(tmp_path, scripted(script)) as ws, served(ws, legacy=legacy) as client:
        call = client.begin("lsp_hover", AT, progress=True)
        told = {client.progress.get(timeout=PATIENCE) for _ in range(4)}
        states = {"scripted: starting", "scripted: active"}
        assert told == {*states, "scripted: Indexing", "scripted: Indexing is done"}
        call.cancel()


def test_a_call_tells_what_the_servers_do_already_without_the_status_of_all_of_them(
    tmp_path: Path, scripted, monkeypatch
) -> None:
    endless = progress("Indexing")[:-1]
    script = Script(say=endless, faults=[Fault("textDocument/hover", "hang")])
    with workspace(tmp_path, scripted(script)) as ws, served(ws) as client:
        client.text("lsp_goto_definition", **AT)
        run, requests = ws._engine.run, []

        def record(request, limits):
            requests.append(type(request))
            return run(request, limits)

        monkeypatch.setattr(ws._engine, "run", record)
        call = client.begin("lsp_hover", AT, progress=True)
        assert client.progress.get(timeout=PATIENCE) == "scripted: Indexing"
        call.cancel()
    assert ops.FileServersRequest in requests
    assert not {ops.StatusRequest, ops.StatusTextRequest} & set(requests)


def test_without_a_token_there_is_no_progress(tmp_path: Path, scripted) -> None:
    with workspace(tmp_path, scripted(Script())) as ws, served(ws) as client:
        client.text("lsp_hover", **AT)
        assert client.progress.empty()


# Roots


def test_roots_narrow_the_workspace(tmp_path: Path, scripted) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "b.scr").write_text(SOURCE, encoding="utf-8")
    argv = scripted(Script())
    roots = [inner.as_uri(), Path("/somewhere/else").as_uri()]
    with workspace(tmp_path, argv) as ws, served(ws, roots=roots) as client:
        at = {"line": 2, "character": 4}
        assert client.text("lsp_goto_definition", filePath="inner/b.scr", **at)
        assert client.text("lsp_goto_definition", filePath="b.scr", **at)
        assert "outside the roots" in client.error("lsp_hover", **AT)
        level, text = client.logged.get(timeout=PATIENCE)
        assert level == "warning" and "file:///somewhere/else" in text and "ignored" in text


def test_a_rename_writes_only_in_the_roots(tmp_path: Path, scripted) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "b.scr").write_text("def greet\n", encoding="utf-8")
    argv = scripted(Script())
    with (
        workspace(tmp_path, argv) as ws,
        served(ws, roots=[inner.as_uri()], allow_apply=True) as client,
    ):
        ws.check("a.scr")  # so that the server knows of the use
        place = {"filePath": "inner/b.scr", "line": 1, "character": 5, "newName": "hello"}
        assert "a.scr" in client.text("lsp_rename", **place)
        assert "outside the roots" in client.error("lsp_rename", **place, apply=True)
        client.roots[:] = [tmp_path.as_uri()]
        client.ask("send_roots_list_changed")
        assert comes_true(lambda: not client.tool("lsp_rename", **place, apply=True).is_error)
    assert "hello" in (tmp_path / "a.scr").read_text(encoding="utf-8")


def test_a_root_around_the_workspace_allows_all_of_it(tmp_path: Path, scripted) -> None:
    roots = [tmp_path.as_uri()]
    (tmp_path / "inner").mkdir()
    with workspace(tmp_path / "inner", scripted(Script())) as ws, served(ws, roots=roots) as client:
        assert client.text("lsp_hover", **AT)


# What cannot be started


def test_no_tools_are_offered_without_a_workspace(legacy: bool) -> None:
    with served(None, reason="the configuration is broken", legacy=legacy) as client:
        assert client.names() == []
        level, text = client.logged.get(timeout=PATIENCE)
        assert level == "error" and "the configuration is broken" in text
        assert "the configuration is broken" in client.error("lsp_hover", **AT)


@pytest.mark.parametrize(
    ("config", "names"),
    [({"navigationTools": False}, ["lsp_diagnostics"]), ({"lsp": False}, [])],
)
def test_the_configuration_takes_tools_away(
    tmp_path: Path, config: dict[str, object], names: list[str]
) -> None:
    with lspkit.Workspace(tmp_path, config=config) as ws, served(ws) as client:
        assert client.names() == names
        assert client.error("lsp_hover", **AT)


def test_a_closed_workspace_is_an_error_text(tmp_path: Path) -> None:
    with lspkit.Workspace(tmp_path) as ws, served(ws) as client:
        ws.close()
        assert "closed" in client.error("lsp_diagnostics")
        assert "closed" in client.error("lsp_hover", **AT)
        with pytest.raises(MCPError, match="closed"):
            client.ask("list_tools")


def test_many_calls_at_once_are_all_answered(shared: McpClient) -> None:
    calls = [shared.begin("lsp_goto_definition", AT) for _ in range(100)]
    done, waiting = concurrent.futures.wait(calls, PATIENCE)
    assert not waiting
    assert {text_of(one.result()) for one in done} == {"a.scr:1:5  def greet"}
    assert all(isinstance(one.result(), types.CallToolResult) for one in done)


def test_a_client_that_does_not_read_does_not_delay_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lspkit.mcp.mcp_process.FLUSH_TIMEOUT", 0.1)
    there, here = os.pipe(), os.pipe()
    over = threading.Event()
    with lspkit.Workspace(tmp_path) as ws:
        channel = McpChannel(Descriptors(there[0], here[1]), ws, on_over=over.set)
        channel.start()
        wire = RawWire(here[0], there[1])
        wire.begin()
        for number in range(900, 920):  # more than a pipe holds
            wire.send("tools/list", number=number)
        assert readable(here[0], PATIENCE)
        os.close(there[1])
        assert over.wait(PATIENCE)
        channel.close()
        os.close(here[0])
