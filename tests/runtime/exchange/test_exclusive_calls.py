"""What one caller shows a server is not asked about by another, however long that one waits."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import lspkit
from lspkit.testing import Fault, Log, Script
from tests.runtime.host.test_hierarchy import PREPARE_CALLS, item
from tests.runtime.host.test_run_command import COMMAND, asks_for, commanded
from tests.runtime.server_log import name_of
from tests.scripted import ask, comes_true, workspace

DEFINITION, HOVER = "textDocument/definition", "textDocument/hover"
SYMBOLS, CALLS = "workspace/symbol", "callHierarchy/incomingCalls"
#: The guest, from his text to the one on disk.
VISIT = ["didOpen", "hover", "didChange"]


@contextmanager
def visited(ws: lspkit.Workspace, log: Log) -> Iterator[None]:
    """Meanwhile somebody asks about a text of his own in b.scr, and it takes a while."""
    guest = threading.Thread(target=lambda: ws.hover("b.scr", 1, 5, text="def mine\n"))
    guest.start()
    try:
        assert comes_true(lambda: log.messages(HOVER))
        yield
    finally:
        guest.join()


def order(log: Log, method: str) -> list[str]:
    """The questions of both, and what the server was told of the guest's file, in order."""
    words = []
    for message in log.messages():
        said = str(message.get("method"))
        about_guest = said.startswith("textDocument/did") and name_of(message) == "b.scr"
        if said in (method, HOVER) or (about_guest and not said.endswith("didSave")):
            words.append(said.rpartition("/")[2])
    return words


def slow(*faults: Fault) -> Script:
    return Script(
        faults=[Fault(HOVER, "delay", seconds=1.0, nth=1), *faults],
        capabilities={"callHierarchyProvider": True},
        answers={CALLS: []},
    )


def test_a_question_that_is_asked_again_waits_for_the_guest(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    moved_on = Fault(DEFINITION, "error", code=-32801, message="content modified", nth=1)
    argv = scripted(slow(moved_on, Fault(DEFINITION, "delay", seconds=0.3, nth=1)))
    answers = []
    with workspace(tmp_path, argv) as ws:
        log = Log.of(argv)
        host = threading.Thread(target=lambda: answers.append(ask(ws)))
        host.start()
        assert comes_true(lambda: log.messages(DEFINITION))
        with visited(ws, log):
            host.join()
    assert answers == ["1:5"]
    assert order(log, DEFINITION) == ["definition", *VISIT, "definition"]


def test_so_does_a_question_about_the_project(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    argv = scripted(slow())
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        log = Log.of(argv)
        with visited(ws, log):
            assert ws.workspace_symbols("greet")
    assert order(log, SYMBOLS) == [*VISIT, "symbol"]


def test_so_does_a_question_about_an_item(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    prepared = Fault(PREPARE_CALLS, "result", result=[item(tmp_path, "greet", 0)])
    argv = scripted(slow(prepared))
    with workspace(tmp_path, argv) as ws:
        [greet] = ws.prepare_call_hierarchy("a.scr", 1, 5)
        log = Log.of(argv)
        with visited(ws, log):
            assert ws.incoming_calls(greet) == []
    assert order(log, CALLS) == [*VISIT, "incomingCalls"]


def test_so_does_a_command(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("def other\n", encoding="utf-8")
    edit = asks_for(tmp_path / "a.scr", "new\n")
    script = commanded(edit, form="command", faults=slow().faults)
    argv = scripted(script)
    with workspace(tmp_path, argv) as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        log = Log.of(argv)
        with visited(ws, log):
            ws.apply(action)
        assert (tmp_path / "a.scr").read_text(encoding="utf-8").startswith("new\ndef greet")
    assert order(log, COMMAND) == [*VISIT, "executeCommand"]


def test_questions_about_the_project_do_not_wait_for_each_other(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(SYMBOLS, "delay", seconds=0.5)]))
    with workspace(tmp_path, argv) as ws:
        ws.document_symbols("a.scr")
        futures = [ws.submit(ws.workspace_symbols, "greet") for _ in range(3)]
        log = Log.of(argv)
        assert comes_true(lambda: len(log.messages(SYMBOLS)) == 3)
        assert not any(one.done() for one in futures)
        assert all(one.result() for one in futures)


def leads_elsewhere(folder: Path) -> None:
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


def is_no_text(folder: Path) -> None:
    (folder / "b.scr").write_bytes(b"\0" * 100)


@pytest.mark.parametrize("changed", [leads_elsewhere, is_no_text, shutil.rmtree])
def test_his_text_is_taken_back_whatever_has_become_of_the_file(tmp_path, scripted, changed):
    """Else other files would be compared with it until somebody asks about this one."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.scr").write_text("def other\n", encoding="utf-8")
    argv = scripted(slow())
    with workspace(tmp_path, argv) as ws:
        log = Log.of(argv)
        asked = ws.submit(ws.hover, "folder/b.scr", 1, 5, text="def mine\n")
        log.wait_for_message(HOVER)
        changed(folder)
        asked.result(30)
        uri = (folder / "b.scr").as_uri()
        ws.document_symbols("a.scr")
        told = [one for one in log.messages() if f'"{uri}"' in json.dumps(one)]
    words = [one["method"].rpartition("/")[2] for one in told]
    assert words == ["didOpen", "hover", "didClose"]
