"""Servers that go by files which are no source: when these change, no verdict is from before."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import log_line
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.exchange import preparation
from lspkit.runtime.pool import pool
from lspkit.runtime.server import shutdown
from lspkit.runtime.server.diagnostics_record import BARRIER
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    HARMLESS,
    Admission,
    Caveats,
    ConfigFiles,
    DiskReactions,
    Launch,
    Roots,
)
from lspkit.servers.selection import choose
from lspkit.testing import Diagnostics, Fault, Log, Say, Script, watchers
from tests.runtime.server_log import (
    OPEN,
    POKE,
    PULL,
    WATCHED,
    define,
    outside,
    told,
    written_outside,
)
from tests.scripted import ask, comes_true, lives, workspace

DEFINITION = "textDocument/definition"
BY_PULL = Diagnostics(how="pull")
ANEW = ConfigFiles(files=("conf.ini",))
SAYS = ConfigFiles(files=("conf.ini",), says=(log_line("has read conf"),))
#: Servers that are slow to end.
SLOW = 5
REREAD = {"method": "window/logMessage", "params": {"type": 3, "message": "it has read conf.ini"}}


def runs(argv: list[str]) -> int:
    return len(Log.of(argv).pids())


# Started anew


def test_a_server_that_reads_a_file_only_once_is_started_anew_when_it_changes(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("b.scr").verdict.clean
        for number, text in enumerate(("one", "two"), 2):
            written_outside(tmp_path / "conf.ini", text)
            assert ws.check("a.scr").verdict.clean
            assert runs(argv) == number
        written_outside(tmp_path / "other.ini", "")
        assert ws.check("a.scr").verdict.clean
        outside("paths[0].unlink()", tmp_path / "conf.ini")
        assert ask_anything(ws) == []
        assert runs(argv) == 4
        # What was open is so again, in each of them.
        Log.of(argv).wait_for(lambda _: told(Log.of(argv)).count("didOpen b.scr") == 4)


def ask_anything(ws: lspkit.Workspace) -> list[Any]:
    return ws.definition("a.scr", 1, 1)


def test_also_when_lspkit_itself_has_changed_it(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        ws.write("conf.ini", "")
        assert ws.check("a.scr").verdict.clean
    assert runs(argv) == 2


def test_a_file_that_counts_only_in_the_root_does_so(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ConfigFiles(files=("/conf.ini",))))
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "deep").mkdir()
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "deep" / "conf.ini", "")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 1
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 2


def test_what_the_configuration_imports_counts_too(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ConfigFiles(imports=("conf.js",))))
    argv = scripted(Script(diagnostics=BY_PULL))
    (tmp_path / "deep").mkdir()
    (tmp_path / "conf.js").write_text("import x from './deep/one.js'", encoding="utf-8")
    (tmp_path / "deep" / "one.js").write_text("require('./two')", encoding="utf-8")
    (tmp_path / "deep" / "two.js").write_text("", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "unrelated.js", "")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 1
        written_outside(tmp_path / "deep" / "two.js", "changed")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 2
        written_outside(tmp_path / "conf.js", "nothing any more")
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "deep" / "two.js", "")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 3
        written_outside(tmp_path / "conf.js", "import y from './unrelated.js'")
        written_outside(tmp_path / "unrelated.js", "changed")
        assert ws.check("a.scr").verdict.clean
        assert runs(argv) == 4


def test_who_waits_for_an_answer_of_the_old_process_gets_it(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    slow = Fault("textDocument/definition", "delay", seconds=1.0, run=1)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[slow]))
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(1) as callers:
        waiting = callers.submit(ask, ws)
        Log.of(argv).wait_for_message("textDocument/definition")
        written_outside(tmp_path / "conf.ini", "")
        ws.check("a.scr")
        assert runs(argv) == 2
        assert waiting.result(30) == "1:5"


def test_who_waits_for_his_turn_with_the_old_process_is_answered_by_the_new_one(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(pool, "LAST_ANSWERS", 120.0)
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    never = Fault(PULL, "hang", nth=2, run=1)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[never]))
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    cancel = lspkit.CancelToken()
    with workspace(tmp_path, argv, timing={"requestTimeoutMs": 120_000}) as ws:
        ws.check("a.scr")
        [old] = ws._engine.pool.servers()
        guest = ws.submit(ws.check, "b.scr", "only for one\n", timeout=None, cancel=cancel)
        Log.of(argv).wait_for_message(PULL, count=2)
        behind = [ws.submit(ws.definition, "a.scr", 2, 4), ws.submit(ws.check, "a.scr")]
        assert comes_true(lambda: len(old.channel.queue._queue) == 3)
        written_outside(tmp_path / "conf.ini", "")
        assert ask(ws) == "1:5"
        [place] = behind[0].result(30)
        assert str(place.range.start) == "1:5"
        assert behind[1].result(30).verdict.clean
        assert not guest.done()
        cancel.set()
        guest.result(30)
    assert runs(argv) == 2


def test_who_has_no_answer_when_the_old_process_is_ended_gets_it_from_the_new_one(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(pool, "LAST_ANSWERS", 0.2)
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    faults = [Fault(one, "hang", run=1) for one in (DEFINITION, POKE)]
    argv = scripted(Script(diagnostics=BY_PULL, faults=faults, answers={POKE: None}))
    with workspace(tmp_path, argv) as ws:
        waiting = ws.submit(ws.definition, "a.scr", 2, 4)
        raw = ws.submit(ws.request, "a.scr", POKE)
        Log.of(argv).wait_for_message(DEFINITION)
        Log.of(argv).wait_for_message(POKE)
        written_outside(tmp_path / "conf.ini", "")
        ws.check("a.scr")
        [place] = waiting.result(30)
        assert str(place.range.start) == "1:5"
        # What it may have done to the old one is not done to the new one as well.
        assert isinstance(raw.exception(30), lspkit.ServerBrokenError)
        assert len(Log.of(argv).messages(POKE)) == 1
    assert runs(argv) == 2


def test_those_that_are_slow_to_end_do_not_keep_others_from_starting(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(shutdown, "RUNGS", (("shutdown", 120.0), *shutdown.RUNGS[1:]))
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL, ignore=["shutdown"]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        for number in range(SLOW):
            assert ws.check("a.scr").verdict.clean
            written_outside(tmp_path / "conf.ini", str(number))
        assert ws.check("a.scr").verdict.clean
        Log.of(argv).wait_for_message("shutdown", count=SLOW)
        written_outside(tmp_path / "conf.ini", "once more")
        assert ws.check("a.scr", timeout=20).verdict.clean
        ws._engine._closing.hurried = True


def test_nothing_is_kept_of_those_that_were_replaced(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        for number in range(3):
            assert ws.check("a.scr").verdict.clean
            written_outside(tmp_path / "conf.ini", str(number))
        assert ws.check("a.scr").verdict.clean
        assert comes_true(lambda: not ws._engine.pool.retirement.servers())
        assert [lives(pid) for pid in Log.of(argv).pids()] == [False, False, False, True]


def test_one_that_is_outdated_ends_with_a_reload(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        [server] = ws._engine.pool.servers()
        written_outside(tmp_path / "conf.ini", "")
        assert comes_true(lambda: server.state.value == "outdated")
        ws.reload()
        assert not lives(Log.of(argv).pids()[0])


# By its own word


def test_a_server_that_says_when_it_has_read_its_configuration_is_waited_for(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=SAYS))
    says = Say(WATCHED, notification=REREAD, seconds=0.3)
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/conf.ini"), says]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr").verdict.clean
    log = [one.get("method") for one in Log.of(argv).messages()]
    assert runs(argv) == 1
    assert log.index(WATCHED) < len(log) - 1 - log[::-1].index(PULL)


def test_one_that_does_not_say_so_is_started_anew(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(preparation, "PATIENCE", 0.2)
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=SAYS))
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/conf.ini")]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr").verdict.clean
    assert runs(argv) == 2


def test_a_line_from_before_it_was_told_counts_for_nothing(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(preparation, "PATIENCE", 0.5)
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=SAYS))
    says = Say(BARRIER, notification=REREAD)
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/conf.ini"), says]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr").verdict.clean
    assert runs(argv) == 2


def test_a_caller_with_less_time_is_told_nothing_from_before(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=SAYS))
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/conf.ini")]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr", timeout=0.3).verdict.unknown


# What a server writes


GIVES_UP = Admission(says=log_line("too much"), means="it does not look any more")
AFRESH = Admission(says=log_line("too much"), means="it does not look any more", afresh=True)
LINE = {"method": "window/showMessage", "params": {"type": 2, "message": "That is too much."}}


def test_a_server_that_says_that_it_does_not_look_proves_nothing_until_a_reload(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), caveats=Caveats(admissions=(GIVES_UP,)))
    argv = scripted(Script(diagnostics=BY_PULL, say=[Say(PULL, notification=LINE, run=1)]))
    (tmp_path / "b.scr").write_text("ERROR\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        report = ws.check("a.scr")
        assert report.verdict.unknown
        assert report.why == "scripted: it does not look any more"
        assert ws.check("b.scr").verdict.dirty
        ws.reload()
        assert ws.check("a.scr").verdict.clean
    assert runs(argv) == 2


def test_one_that_looked_before_it_was_told_of_a_file_is_started_anew(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), caveats=Caveats(admissions=(AFRESH,)))
    says = Say(PULL, notification=LINE, nth=2, run=1)
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/*.scr"), says]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "new.scr", "")
        assert ws.check("a.scr").verdict.clean
    assert runs(argv) == 2


def test_but_not_one_that_never_looked(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), caveats=Caveats(admissions=(AFRESH,)))
    says = Say(OPEN, notification=LINE)
    argv = scripted(Script(diagnostics=BY_PULL, say=[watchers("**/*.scr"), says]))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.unknown
        written_outside(tmp_path / "new.scr", "")
        assert ws.check("a.scr").verdict.unknown
    assert runs(argv) == 1


# Which servers there are


def test_a_server_that_a_new_file_calls_for_is_asked_at_once(tmp_path, scripted, monkeypatch):
    blind = scripted(Script(diagnostics=BY_PULL, answers={PULL: {"kind": "full", "items": []}}))
    row = Definition(
        id="second",
        family="second",
        role="lint",
        languages={".scr": "scripted"},
        launch=Launch(commands=(tuple(scripted(Script(diagnostics=BY_PULL))),)),
        roots=Roots(only_with=("second.toml",)),
        trust=HARMLESS,
    )
    monkeypatch.setattr(choose, "BUILT_IN", (*choose.BUILT_IN, row))
    with workspace(tmp_path, blind, text="ERROR\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "second.toml", "")
        assert ws.check("a.scr").verdict.dirty
        outside("paths[0].unlink()", tmp_path / "second.toml")
        assert ws.check("a.scr").verdict.clean


def test_a_root_that_a_new_file_makes_gets_its_server_at_once(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(), roots=Roots(markers=("project.toml",)))
    argv = scripted(Script(diagnostics=BY_PULL))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "b.scr").write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("inner/b.scr").verdict.clean
        written_outside(inner / "project.toml", "")
        assert ws.check("inner/b.scr").verdict.clean
    roots = [one["params"]["rootUri"] for one in Log.of(argv).messages("initialize")]
    assert roots == [path_to_uri(str(tmp_path)), path_to_uri(str(inner))]


def test_many_who_check_while_it_changes_again_and_again_are_all_told_the_truth(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ANEW))
    argv = scripted(Script(diagnostics=BY_PULL))
    over = threading.Event()

    def checks() -> set[str]:
        found = set()
        while not over.is_set():
            found.add(str(ws.check("a.scr", timeout=60).verdict))
        return found

    with workspace(tmp_path, argv, text="ERROR\n") as ws, ThreadPoolExecutor(4) as callers:
        waiting = [callers.submit(checks) for _ in range(4)]
        try:
            for number in range(5):
                written_outside(tmp_path / "conf.ini", str(number))
        finally:
            over.set()
        found = set().union(*(one.result(60) for one in waiting))
    assert "clean" not in found
    assert "dirty" in found
