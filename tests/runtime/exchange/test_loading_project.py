"""A server that may still begin to load its project: who waits for it keeps his own time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import lspkit
from lspkit.runtime.server.server import Server
from lspkit.servers.adapters.systems_adapters import RustAnalyzer
from lspkit.servers.definition_parts import Readiness
from lspkit.testing import Fault, Log, Script
from tests.runtime.server_log import OPEN
from tests.scripted import workspace

#: Longer than any test waits, and short enough for one that fails.
WITHIN = 20.0


@pytest.fixture
def argv(scripted, rules) -> list[str]:
    """A server that never begins to load, which is known only after a while."""
    rules(readiness=Readiness(load_begins_within=WITHIN))
    return scripted(Script())


@contextmanager
def loading(tmp_path, argv) -> Iterator[tuple[lspkit.Workspace, Server]]:
    """A workspace with the server that is ready, and has loaded nothing so far."""
    with workspace(tmp_path, argv) as ws:
        ws.sync("a.scr")
        Log.of(argv).wait_for_message(OPEN)
        [server] = ws._engine.pool.servers()
        yield ws, server


def test_a_caller_with_time_waits_until_the_server_would_have_begun(tmp_path, scripted, rules):
    rules(readiness=Readiness(load_begins_within=0.5))
    argv = scripted(Script())
    with loading(tmp_path, argv) as (ws, server):
        began = server.record.loading.begins_within + time.monotonic()
        call = ws.submit(ws.definition, "a.scr", 2, 4)
        while not call.done():
            server.activity.tell()  # it looks, and waits on
            threading.Event().wait(0.01)
        assert time.monotonic() >= began
        assert [str(place.range.start) for place in call.result()] == ["1:5"]


def test_a_caller_who_cancels_does_not_wait_for_the_project(tmp_path, argv):
    cancel = lspkit.CancelToken()
    with workspace(tmp_path, argv) as ws:
        call = ws.submit(ws.definition, "a.scr", 2, 4, cancel=cancel)
        Log.of(argv).wait_for_message(OPEN)
        cancel.set()
        assert isinstance(call.exception(WITHIN / 2), lspkit.CancelledError)


def test_a_caller_whose_time_is_up_does_not_wait_for_the_project(tmp_path, argv):
    with loading(tmp_path, argv) as (ws, _):
        call = ws.submit(ws.definition, "a.scr", 2, 4, timeout=0.2)
        problem = call.exception(WITHIN / 2)
    assert isinstance(problem, lspkit.RequestTimeoutError)
    assert "scripted was not ready within" in str(problem)


def test_the_symbols_of_a_file_do_not_wait_for_the_project(tmp_path, scripted, rules):
    rules(readiness=Readiness(load_begins_within=WITHIN), adapter=RustAnalyzer())
    with workspace(tmp_path, scripted(Script())) as ws:
        assert [each.name for each in ws.document_symbols("a.scr", timeout=WITHIN / 2)] == ["greet"]
        with pytest.raises(lspkit.RequestTimeoutError):
            ws.definition("a.scr", 2, 4, timeout=0.2)


@pytest.mark.parametrize("answer", [None, []])
def test_a_file_without_symbols_right_after_it_was_opened_is_asked_about_once_more(
    tmp_path, scripted, answer
):
    symbols = "textDocument/documentSymbol"
    argv = scripted(Script(faults=[Fault(symbols, "result", result=answer, nth=1)]))
    with workspace(tmp_path, argv) as ws:
        assert [each.name for each in ws.document_symbols("a.scr")] == ["greet"]
        assert len(Log.of(argv).messages(symbols)) == 2
