"""The roots of a client hold for everything that a call names or writes."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lspkit.errors import PathError
from lspkit.mcp.mcp_process import McpChannel
from lspkit.mcp.mcp_session import ClientRoots
from lspkit.mcp.wire_streams import Descriptors
from lspkit.testing import Fault, Log, Script
from tests import scripted as scripted_server
from tests.mcp.mcp_client import TIMING, served
from tests.mcp.raw_mcp import RawWire
from tests.scripted import SOURCE

workspace = functools.partial(scripted_server.workspace, timing=TIMING)
#: In the root of the client; `a.scr` of the workspace is outside.
INSIDE = {"filePath": "inner/b.scr", "line": 1, "character": 5}
RENAME = {**INSIDE, "newName": "hello", "apply": True}
NAME = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    """The root of the client, with a file."""
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "b.scr").write_text("def greet\n", encoding="utf-8")
    return folder


def renamed_in(*files: Path) -> dict[str, Any]:
    """The edit that renames `greet` in the first line of these files."""
    return {"changes": {one.as_uri(): [{"range": NAME, "newText": "hello"}] for one in files}}


def test_an_edit_is_not_applied_without_its_check_if_the_server_fails_at_first(
    tmp_path: Path, inner: Path, scripted
) -> None:
    argv = scripted(
        Script(
            answers={"textDocument/rename": renamed_in(inner / "b.scr", tmp_path / "a.scr")},
            faults=[Fault("textDocument/rename", "error", nth=1)],
        )
    )
    with (
        workspace(tmp_path, argv) as ws,
        served(ws, roots=[inner.as_uri()], allow_apply=True) as client,
    ):
        client.error("lsp_rename", **RENAME)
        assert "outside the roots" in client.error("lsp_rename", **RENAME)
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == SOURCE
    assert (inner / "b.scr").read_text(encoding="utf-8") == "def greet\n"


def test_the_edit_that_is_checked_is_the_one_that_is_applied(
    tmp_path: Path, inner: Path, scripted
) -> None:
    later = renamed_in(inner / "b.scr", tmp_path / "a.scr")
    argv = scripted(
        Script(
            answers={"textDocument/rename": renamed_in(inner / "b.scr")},
            faults=[Fault("textDocument/rename", "result", nth=2, times=0, result=later)],
        )
    )
    with (
        workspace(tmp_path, argv, text="def other\n") as ws,
        served(ws, roots=[inner.as_uri()], allow_apply=True) as client,
    ):
        client.text("lsp_rename", **RENAME)
        assert len(Log.of(argv).messages("textDocument/rename")) == 1
    assert (tmp_path / "a.scr").read_text(encoding="utf-8") == "def other\n"
    assert (inner / "b.scr").read_text(encoding="utf-8") == "def hello\n"


def test_a_new_name_of_a_file_is_not_taken_for_a_name_in_a_root(
    tmp_path: Path, inner: Path, scripted
) -> None:
    (inner / "new.scr").write_text("\n", encoding="utf-8")
    moved = {
        "kind": "rename",
        "oldUri": (inner / "b.scr").as_uri(),
        "newUri": (tmp_path / "new.scr").as_uri(),
    }
    argv = scripted(Script(answers={"textDocument/rename": {"documentChanges": [moved]}}))
    with (
        workspace(tmp_path, argv) as ws,
        served(ws, roots=[inner.as_uri()], allow_apply=True) as client,
    ):
        assert "outside the roots" in client.error("lsp_rename", **RENAME)
    assert not (tmp_path / "new.scr").exists()
    assert (inner / "b.scr").exists()


@pytest.mark.parametrize("as_text", [False, True])
def test_an_item_of_a_file_outside_the_roots_does_not_reach_the_server(
    tmp_path: Path, inner: Path, scripted, as_text: bool
) -> None:
    outside, inside = (tmp_path / "a.scr").as_uri(), (inner / "b.scr").as_uri()
    methods = ("textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls")
    argv = scripted(Script(answers={one: [] for one in methods}))

    def item(uri: str) -> dict[str, Any]:
        return {"name": "greet", "kind": 12, "uri": uri, "range": NAME, "selectionRange": NAME}

    def raw(uri: str, via: str) -> dict[str, Any]:
        return {"raw": {"serverId": "scripted", "via": via, "item": item(uri)}}

    with workspace(tmp_path, argv) as ws, served(ws, roots=[inner.as_uri()]) as client:

        def ask(given: dict[str, Any]) -> str:
            passed = json.dumps(given) if as_text else given
            asked = client.tool("lsp_incoming_calls", callHierarchyItem=passed)
            return asked.content[0].text if asked.is_error else ""

        for given in (item(outside), raw(outside, "inner/b.scr"), raw(inside, "a.scr")):
            assert "outside the roots" in ask(given)
        assert Log.of(argv).messages("callHierarchy/incomingCalls") == []
        for given in (item(inside), raw(inside, "inner/b.scr")):
            assert not ask(given)


def test_nothing_is_allowed_if_all_roots_lie_outside(tmp_path: Path, inner: Path, scripted) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with (
        workspace(project, scripted(Script()), text="ERROR\n") as ws,
        served(ws, roots=[inner.as_uri()]) as client,
    ):
        assert ws.check("a.scr").verdict.dirty
        for name, arguments in (
            ("lsp_diagnostics", {"filePath": "a.scr"}),
            ("lsp_workspace_symbols", {"query": "greet"}),
        ):
            assert "none of the roots of the client" in client.error(name, **arguments)


def test_a_call_waits_for_the_roots(tmp_path: Path, inner: Path, scripted) -> None:
    there, here = os.pipe(), os.pipe()
    with workspace(tmp_path, scripted(Script())) as ws:
        channel = McpChannel(Descriptors(there[0], here[1]), ws)
        channel.start()
        wire = RawWire(here[0], there[1])
        wire.begin(roots={})
        call = {"name": "lsp_diagnostics", "arguments": {"filePath": "a.scr"}}
        wire.send("tools/call", call, number=900)
        while (message := wire.receive()).get("method") != "roots/list":
            assert message.get("id") != 900
        wire.answer(message["id"], {"roots": [{"uri": inner.as_uri()}]})
        while (message := wire.receive()).get("id") != 900:
            pass
        assert message["result"]["isError"]
        os.close(there[1])
        channel.close()
        os.close(here[0])


def test_a_link_outside_the_roots_is_outside_wherever_it_leads(tmp_path: Path, inner: Path) -> None:
    (tmp_path / "link.scr").symlink_to(inner / "b.scr")
    (inner / "link.scr").symlink_to(tmp_path / "a.scr")
    roots = ClientRoots((str(inner),))
    roots.check_absolute(str(inner / "b.scr"))
    roots.check_absolute(str(inner / "new" / "file.scr"))
    links = (f"{tmp_path}/link.scr", f"{tmp_path}/link.scr/", f"{inner}/link.scr")
    for path in (*links, f"{inner}/../a.scr", f"{inner}2/a.scr"):
        with pytest.raises(PathError, match="outside the roots"):
            roots.check_absolute(path)
    with pytest.raises(PathError, match="NUL"):
        roots.check_absolute(f"{inner}/a\0b")
    ClientRoots().check_absolute("/anywhere")
