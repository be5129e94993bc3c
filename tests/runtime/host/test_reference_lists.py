"""Lists from several servers: without declarations, and without the results of a failed one."""

from __future__ import annotations

from typing import Any

import pytest

import lspkit
from lspkit.protocol.uris import path_to_uri
from lspkit.testing import Fault, Log, Script
from tests.runtime.server_log import define, finding
from tests.scripted import config_for, workspace

REFERENCES, DECLARATION = "textDocument/references", "textDocument/declaration"
RENAME, ACTIONS = "textDocument/rename", "textDocument/codeAction"


#: Where the words of the files are, by line, in units of UTF-16: `greet`, and `two`.
GREET, TWO = {0: (4, 9), 1: (3, 8)}, {1: (0, 3)}


def at(path: Any, line: int, words: dict[int, tuple[int, int]] = GREET) -> dict[str, Any]:
    first, last = words[line]
    return {"uri": path_to_uri(str(path)), "range": finding("", line, first, last)["range"]}


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


def test_a_request_with_declarations_before_it_changes_nothing(tmp_path, scripted, monkeypatch):
    define(monkeypatch, confuses_declarations=True)
    path = tmp_path / "a.scr"
    answers = {REFERENCES: [at(path, 0), at(path, 1)], DECLARATION: at(path, 0)}
    argv = scripted(Script(answers=answers, capabilities={"declarationProvider": True}))
    with workspace(tmp_path, argv) as ws:
        for _ in range(3):  # so that it is known which server answers the method
            assert lines(ws) == [1, 2]
        assert lines(ws, include_declaration=False) == [2]
        assert lines(ws) == [1, 2]


def test_an_answer_that_cannot_be_read_is_an_error(tmp_path, scripted, monkeypatch):
    define(monkeypatch, confuses_declarations=True)
    answers = {REFERENCES: 5, DECLARATION: None}
    argv = scripted(Script(answers=answers, capabilities={"declarationProvider": True}))
    with workspace(tmp_path, argv) as ws, pytest.raises(lspkit.LspkitError, match="cannot be read"):
        lines(ws, include_declaration=False)


def beside(folder: Any, well: list[str], failing: list[str]) -> lspkit.Workspace:
    """A workspace whose one file has two servers."""
    (folder / "a.scr").write_text("one\ntwo\n", encoding="utf-8")
    config = config_for(well)
    config["lsp"]["second"] = {"command": failing, "extensions": [".scr"]}
    return lspkit.Workspace(folder, config=config)


@pytest.mark.parametrize("fault", ["error", "crash"])
def test_a_list_without_the_results_of_a_failed_server_says_so(tmp_path, scripted, fault):
    well = scripted(Script(answers={REFERENCES: [at(tmp_path / "a.scr", 1, TWO)]}))
    failing = scripted(Script(faults=[Fault(REFERENCES, fault)]))
    with beside(tmp_path, well, failing) as ws:
        found = ws.references("a.scr", 2, 1)
    assert [one.line for one in found] == [2]
    assert not found.complete
    assert [(one.kind, one.server) for one in found.caveats] == [("server failed", "second")]


@pytest.mark.parametrize("fault", ["error", "crash"])
def test_code_actions_without_those_of_a_failed_server_say_so(tmp_path, scripted, fault):
    offer = [{"title": "one"}, {"title": "two", "isPreferred": True}]
    capabilities = {"codeActionProvider": True}
    well = scripted(Script(answers={ACTIONS: offer}, capabilities=capabilities))
    failing = scripted(Script(faults=[Fault(ACTIONS, fault)], capabilities=capabilities))
    with beside(tmp_path, well, failing) as ws:
        found = ws.code_actions("a.scr", 1, 1)
    assert [one.title for one in found] == ["two", "one"]
    assert [(one.kind, one.server) for one in found.caveats] == [("server failed", "second")]


def test_an_edit_comes_from_one_server_so_the_failure_of_another_does_not_concern_it(
    tmp_path, scripted
):
    place = at(tmp_path / "a.scr", 1, TWO)
    edit = {"changes": {place["uri"]: [{"range": place["range"], "newText": "three"}]}}
    well = scripted(Script(answers={RENAME: edit}))
    failing = scripted(Script(faults=[Fault(RENAME, "error")]))
    with beside(tmp_path, well, failing) as ws:
        renamed = ws.rename("a.scr", 2, 1, new_name="three")
    assert renamed.files
    assert renamed.complete
