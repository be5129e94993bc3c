"""A server that may still begin to load its project: who waits for it keeps his own time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import lspkit
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Outcome, Steps
from lspkit.runtime.exchange.preparation import wait_for_project
from lspkit.runtime.server.server import Server
from lspkit.servers.definition_parts import DocumentMessages, Exceptions, Readiness
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


def waiting(ws: lspkit.Workspace, server: Server, call: CallContext) -> Steps[None]:
    return wait_for_project(ws._engine._context, server, call)


def test_a_call_ends_at_its_deadline_after_one_wait(tmp_path, argv):
    with loading(tmp_path, argv) as (ws, server):
        call = CallContext(WITHIN / 2)
        steps = waiting(ws, server, call)
        _, until = next(steps)
        assert until == call.deadline
        with pytest.raises(lspkit.RequestTimeoutError, match="scripted was not ready within"):
            steps.send(Outcome.TIMED_OUT)


@pytest.mark.parametrize("timeout", [WITHIN / 2, None])
def test_a_call_that_is_cancelled_ends_after_one_wait(tmp_path, argv, timeout):
    with loading(tmp_path, argv) as (ws, server):
        steps = waiting(ws, server, CallContext(timeout))
        next(steps)
        with pytest.raises(lspkit.CancelledError):
            steps.send(Outcome.CANCELLED)


def test_a_call_with_more_time_waits_until_the_server_would_have_begun(tmp_path, argv):
    with loading(tmp_path, argv) as (ws, server):
        steps = waiting(ws, server, CallContext())
        activity, until = next(steps)
        assert until < math.inf
        server.activity.tell()
        assert activity.done
        _, again = steps.send(Outcome.DONE)  # it waits on, and no longer than before
        assert again == until
        steps.close()


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
        assert isinstance(call.exception(WITHIN / 2), lspkit.RequestTimeoutError)


def test_the_symbols_of_a_file_do_not_wait_for_the_project(tmp_path, scripted, rules):
    symbols = "textDocument/documentSymbol"
    early = Exceptions(messages=DocumentMessages(answers_before=(symbols,)))
    rules(readiness=Readiness(load_begins_within=WITHIN), exceptions=early)
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
