"""A server whose files change again and again is started when they are still."""

from __future__ import annotations

import threading
import time

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.runtime.pool import pool
from lspkit.runtime.pool.pool import wait_until_still
from lspkit.runtime.pool.slot import Slot
from lspkit.servers.definition_parts import ConfigFiles, DiskReactions
from lspkit.testing import Diagnostics, Log, Script
from tests.runtime.server_log import define, written_outside
from tests.scripted import workspace

FAR = 1000.0


def seat(changed_at: float) -> Slot:
    return Slot(None, 0.0, changed_at=changed_at)  # type: ignore[arg-type]


@pytest.mark.parametrize(("changed", "waits"), [(-FAR, 0), (FAR, 1)])
def test_files_that_are_never_still_do_not_hinder_it_for_ever(changed, waits):
    pauses: list[float] = []

    def pause(until: float) -> bool:
        pauses.append(until)
        return False

    began = time.monotonic()
    wait_until_still(seat(began + changed), pause)
    assert [round(until - began) for until in pauses] == [pool.LATEST] * waits


def test_a_check_while_packages_are_installed_is_answered_when_that_is_over(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(pool, "STILL", 1.0)
    define(
        monkeypatch,
        ProofRule(),
        disk=DiskReactions(config=ConfigFiles(packages=True), packages="node_modules"),
    )
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    begun, over = threading.Event(), threading.Event()
    (tmp_path / "node_modules").mkdir()

    def install() -> None:
        for number in range(100):
            (tmp_path / "node_modules" / f"p{number}").mkdir()
            begun.set()
            over.wait(0.02)

    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        installing = threading.Thread(target=install)
        installing.start()
        try:
            assert begun.wait(30)
            assert ws.check("a.scr", timeout=60).verdict.clean
        finally:
            over.set()
            installing.join()
    assert len(Log.of(argv).pids()) <= 3


def test_a_single_change_is_not_waited_for(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(pool, "STILL", FAR)
    monkeypatch.setattr(pool, "LATEST", FAR)
    monkeypatch.setattr("lspkit.runtime.pool.pool.BRIEF", 0.0)  # all have lived for long
    define(monkeypatch, ProofRule(), disk=DiskReactions(config=ConfigFiles(files=("conf.ini",))))
    argv = scripted(Script(diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        assert ws.check("a.scr").verdict.clean
        written_outside(tmp_path / "conf.ini", "")
        assert ws.check("a.scr", timeout=60).verdict.clean
    assert len(Log.of(argv).pids()) == 2
