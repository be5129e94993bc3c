"""A file that is no text: whoever asks is told so, and nothing is started for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import lspkit
from lspkit.agent.hooks.edit_hooks import EditHooks
from lspkit.testing import Log, Script
from tests.scripted import config_for

CONTENTS = {"nul": b"def a\n\0\0\n", "latin": b"def caf\xe9\n"}

QUESTIONS: dict[str, Callable[[lspkit.Workspace], object]] = {
    "check": lambda ws: ws.check("a.scr"),
    "hover": lambda ws: ws.hover("a.scr", 1, 1),
    "document_symbols": lambda ws: ws.document_symbols("a.scr"),
    "workspace_symbols": lambda ws: ws.workspace_symbols("a", path="a.scr"),
    "sync": lambda ws: ws.sync("a.scr"),
    "request": lambda ws: ws.request("a.scr", "test/any"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("content", CONTENTS)
def test_nothing_is_started_for_it(tmp_path: Path, scripted, question, content) -> None:
    (tmp_path / "a.scr").write_bytes(CONTENTS[content])
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        with pytest.raises(lspkit.PathError) as caught:
            QUESTIONS[question](ws)
        assert caught.value.code == "EBINARY"
    assert Log.of(argv).pids() == []


def test_the_servers_that_the_files_of_a_workspace_call_for_are_not_started_by_it(
    tmp_path: Path, scripted
) -> None:
    (tmp_path / "a.scr").write_bytes(CONTENTS["nul"])
    argv = scripted(Script())
    with (
        lspkit.Workspace(tmp_path, config=config_for(argv)) as ws,
        pytest.raises(lspkit.NoServerError),
    ):
        ws.workspace_symbols("a")
    assert Log.of(argv).pids() == []


def test_a_text_in_its_place_is_one(tmp_path: Path, scripted) -> None:
    (tmp_path / "a.scr").write_bytes(CONTENTS["nul"])
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        assert ws.check("a.scr", text="fine\n").verdict.clean
        with ws.overlay({"a.scr": "ERROR\n"}):
            assert ws.check("a.scr").verdict.dirty
    assert len(Log.of(argv).pids()) == 1


def test_a_file_that_no_server_is_for_is_not_read(tmp_path: Path, scripted) -> None:
    (tmp_path / "a.png").write_bytes(CONTENTS["nul"])
    config = config_for(scripted(Script()))
    with lspkit.Workspace(tmp_path, config=config) as ws, pytest.raises(lspkit.NoServerError):
        ws.check("a.png")


@pytest.mark.parametrize("tool", ["edit", "read"])
def test_the_hooks_pass_over_it(tmp_path: Path, scripted, tool) -> None:
    argv = scripted(Script())
    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws:
        hooks = EditHooks(ws)
        (tmp_path / "a.scr").write_bytes(CONTENTS["nul"])
        assert hooks.tool_result(tool, {"path": "a.scr"}, "Done.") == "Done."
    assert Log.of(argv).pids() == []
