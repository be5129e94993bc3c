"""A server that ends as soon as it was started, by no fault of anything around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.pool.slot import MOST_STARTS
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.web_adapters import Biome
from lspkit.servers.definition_parts import ConfigFiles, DiskReactions
from lspkit.testing import Fault, Log, Script
from tests.runtime.server_log import define
from tests.scripted import ask, workspace

PUBLISHED = ProofRule(how="version")

AT_ONCE = {"baseMs": 0, "jitter": 0}


def gone_in(*runs: int) -> Script:
    """It ends by itself once it is up, in these starts."""
    return Script(faults=[Fault("initialized", "crash", code=0, run=run) for run in runs])


def starts(argv: list[str]) -> int:
    return len(Log.of(argv).messages("initialize"))


def test_a_check_is_done_by_the_next_one(tmp_path, scripted, monkeypatch):
    define(monkeypatch, PUBLISHED, adapter=Biome())
    argv = scripted(gone_in(1))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        assert ws.check("a.scr").verdict.dirty
    assert starts(argv) == 2


def test_so_is_a_question(tmp_path, scripted, monkeypatch):
    define(monkeypatch, PUBLISHED, adapter=Biome())
    argv = scripted(gone_in(1))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
    assert starts(argv) == 2


def test_the_next_one_is_forgiven_as_well_if_there_was_something_in_between(
    tmp_path, scripted, monkeypatch
):
    anew = ConfigFiles(files=("conf.ini",))
    define(
        monkeypatch,
        PUBLISHED,
        adapter=Biome(),
        disk=DiskReactions(config=anew),
    )
    argv = scripted(gone_in(1, 3))
    (tmp_path / "conf.ini").write_text("one", encoding="utf-8")
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        assert ws.check("a.scr").verdict.dirty
        (tmp_path / "conf.ini").write_text("another", encoding="utf-8")
        assert ws.check("a.scr").verdict.dirty
    assert starts(argv) == 4


def test_a_question_that_ends_the_server_is_not_asked_twice(tmp_path, scripted, monkeypatch):
    define(monkeypatch, PUBLISHED, adapter=Biome())
    argv = scripted(Script(faults=[Fault("textDocument/definition", "crash", code=0)]))
    with workspace(tmp_path, argv) as ws:
        assert ws.hover("a.scr", 1, 5)
        for number in (1, 2):
            with pytest.raises(lspkit.ServerBrokenError, match="exit status 0"):
                ask(ws)
            assert starts(argv) == number
        with pytest.raises(lspkit.ServerBrokenError, match="failed 2 times"):
            ask(ws)
    assert starts(argv) == 2


@pytest.mark.parametrize(("adapter", "runs"), [(Biome(), (1, 2)), (Adapter(), (1,))])
def test_one_that_fails_again_is_spared_for_a_while(tmp_path, scripted, monkeypatch, adapter, runs):
    define(monkeypatch, PUBLISHED, adapter=adapter)
    argv = scripted(gone_in(*runs))
    with workspace(tmp_path, argv, text="ERROR\n") as ws:
        report = ws.check("a.scr")
        assert (report.verdict.value, report.diagnostics) == ("unknown", [])
        assert "exit status 0" in report.servers[0].reason
        again = ws.check("a.scr")
        assert again.verdict.unknown
        assert "next try in" in again.why
    assert starts(argv) == len(runs)


def test_a_program_that_ends_at_every_start_is_unavailable_after_some(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("start", "crash", signal="SIGSEGV")]))
    with workspace(tmp_path, argv, restart=AT_ONCE) as ws:
        for _ in range(MOST_STARTS - 1):
            with pytest.raises(lspkit.ServerBrokenError, match="signal 11"):
                ask(ws)
        for _ in range(2):
            with pytest.raises(lspkit.ServerUnavailableError, match="tried 3 times"):
                ask(ws)


def test_a_program_that_somebody_kills_at_its_starts_is_started_again(tmp_path, scripted):
    kills = Fault("start", "crash", signal="SIGKILL")
    last = MOST_STARTS + 1
    argv = scripted(Script(faults=[replace(kills, run=run) for run in range(1, last + 1)]))
    with workspace(tmp_path, argv, restart=AT_ONCE) as ws:
        for _ in range(last):
            with pytest.raises(lspkit.ServerBrokenError, match="signal 9"):
                ask(ws)
        assert ask(ws) == "1:5"
