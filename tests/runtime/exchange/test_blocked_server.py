"""A server that has blocked itself, and one that merely takes its time."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.exchange import ask_server
from lspkit.servers.adapters.python_adapters import Ty
from lspkit.testing import Diagnostics, Fault, Log, Script
from tests.runtime.server_log import PULL, define
from tests.scripted import ask, workspace

ASKED = ProofRule(how="pull")
BY_PULL = Diagnostics(how="pull")
DEFINITION = "textDocument/definition"


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch):
    monkeypatch.setattr(ask_server, "LOOK_EVERY", 0.3)


def starts(argv: list[str]) -> int:
    return len(Log.of(argv).messages("initialize"))


def test_a_check_is_done_by_a_new_process(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED, adapter=Ty())
    argv = scripted(Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang", nth=2, run=1)]))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        assert ws.check("a.scr").verdict.dirty
        assert ws.write("a.scr", "ok\n", timeout=60).verdict.clean
    assert starts(argv) == 2


def test_so_is_a_question_also_without_a_thread_of_its_own(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED, adapter=Ty())
    argv = scripted(Script(faults=[Fault(DEFINITION, "hang", run=1)]))
    with workspace(tmp_path, argv) as ws:
        (place,) = ws.submit(ws.definition, "a.scr", 2, 4, timeout=60).result(60)
        assert place.range.start.line == 1
    assert starts(argv) == 2


def test_so_are_the_questions_of_many(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED, adapter=Ty())
    argv = scripted(Script(faults=[Fault(DEFINITION, "hang", run=1)]))
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(8) as threads:
        callers = [threads.submit(ask, ws, timeout=60) for _ in range(8)]
        assert {one.result() for one in callers} == {"1:5"}
    assert starts(argv) == 2


def test_one_that_blocks_itself_again_at_once_is_not_replaced_without_end(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ASKED, adapter=Ty())
    argv = scripted(Script(faults=[Fault(DEFINITION, "hang")]))
    broken = pytest.raises(lspkit.ServerBrokenError, match="it has blocked itself")
    with workspace(tmp_path, argv) as ws, broken:
        ask(ws, timeout=60)
    assert starts(argv) == 2


def test_one_that_still_speaks_is_not_blocked(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED, adapter=Ty())
    argv = scripted(Script(faults=[Fault(DEFINITION, "hang")]))
    with workspace(tmp_path, argv) as ws:
        waiting = ws.submit(ws.definition, "a.scr", 2, 4, timeout=3)
        while not waiting.done():
            assert ws.hover("a.scr", 1, 5)
        problem = waiting.exception()
    assert isinstance(problem, lspkit.RequestTimeoutError)
    told = re.search(r"did not answer textDocument/definition within ([\d.]+) s", str(problem))
    # Of the three seconds, some are the start of the server.
    assert told and 1.0 < float(told[1]) <= 3.1, "the last look alone takes 0.3 s"
    assert starts(argv) == 1


def test_a_call_that_waits_for_another_one_says_how_long(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang")]))
    with workspace(tmp_path, argv) as ws:
        first = ws.submit(ws.check, "a.scr", timeout=60, cancel=(cancel := lspkit.CancelToken()))
        Log.of(argv).wait_for_message(PULL)
        [server] = ws.check("a.scr", timeout=1.3).servers
        cancel.set()
        assert first.exception(60) is None or isinstance(first.exception(), lspkit.CancelledError)
    told = re.search(r"within ([\d.]+) s", server.reason)
    assert told and 1.0 < float(told[1]) <= 1.4, server.reason


def test_others_may_keep_an_answer_back(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ASKED)
    argv = scripted(Script(faults=[Fault(DEFINITION, "delay", seconds=1.5)]))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=60) == "1:5"
    assert starts(argv) == 1
