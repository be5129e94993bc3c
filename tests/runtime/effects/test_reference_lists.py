"""References without declarations, from a server that leaves out others when it is asked so."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.protocol.uris import path_to_uri
from lspkit.testing import Log, Script
from tests.runtime.server_log import define, finding
from tests.scripted import workspace

REFERENCES, DECLARATION = "textDocument/references", "textDocument/declaration"


def at(path: Any, line: int) -> dict[str, Any]:
    return {"uri": path_to_uri(str(path)), "range": finding(line=line)["range"]}


def lines(ws: lspkit.Workspace, **more: Any) -> list[int]:
    return [one.range.start.line for one in ws.references("a.scr", 2, 4, **more)]


def sent(log: Log) -> list[tuple[str, object]]:
    return [
        (one["method"], one["params"].get("context"))
        for one in log.messages()
        if one.get("method") in (REFERENCES, DECLARATION)
    ]


@pytest.mark.parametrize("form", ["location", "list", "null"])
def test_it_is_asked_for_all_and_the_declarations_are_taken_away(
    tmp_path, scripted, monkeypatch, form
):
    define(monkeypatch, confuses_declarations=True)
    path = tmp_path / "a.scr"
    declared: Any = {"location": at(path, 0), "list": [at(path, 0)], "null": None}[form]
    answers = {REFERENCES: [at(path, 0), at(path, 1)], DECLARATION: declared}
    capabilities = {"declarationProvider": True}
    argv = scripted(Script(answers=answers, capabilities=capabilities))
    every = (REFERENCES, {"includeDeclaration": True})
    with workspace(tmp_path, argv) as ws:
        log = Log.of(argv)
        assert lines(ws, include_declaration=False) == ([1, 2] if form == "null" else [2])
        assert sent(log) == [every, (DECLARATION, None)]
        assert lines(ws) == [1, 2]
        assert sent(log) == [every, (DECLARATION, None), every]


def test_an_answer_that_cannot_be_read_is_an_error(tmp_path, scripted, monkeypatch):
    define(monkeypatch, confuses_declarations=True)
    answers = {REFERENCES: 5, DECLARATION: None}
    argv = scripted(Script(answers=answers, capabilities={"declarationProvider": True}))
    with workspace(tmp_path, argv) as ws, pytest.raises(lspkit.LspkitError, match="cannot be read"):
        lines(ws, include_declaration=False)
