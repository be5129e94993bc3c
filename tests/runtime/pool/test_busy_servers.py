"""Files change while a server cannot be told of it, or while nobody can look at them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.errors import RequestTimeoutError
from lspkit.runtime.exchange.disk_sync import UNSEEN, UNTOLD
from lspkit.testing import Diagnostics, Fault, Log, Script, watchers
from tests.runtime.server_log import (
    CHANGED,
    CREATED,
    POKE,
    heard,
    wait_until_heard,
    written_outside,
)

SCRIPT = Script(diagnostics=Diagnostics(how="pull"), say=[watchers("**/*.scr", "**/*.oth")])
#: The same, but it reads nothing any more once it was poked.
DEAF = Script(
    diagnostics=Diagnostics(how="pull"),
    say=[watchers("**/*.scr", "**/*.oth")],
    faults=[Fault(POKE, "stop-reading", at="before")],
)


@contextmanager
def two_servers(folder: Path, one: list[str], other: list[str]) -> Iterator[lspkit.Workspace]:
    """A workspace with a file for each of two servers, which both run."""
    servers: dict[str, Any] = {
        "one": {"command": one, "extensions": [".scr"], "proof": "pull"},
        "other": {"command": other, "extensions": [".oth"], "proof": "pull"},
    }
    for name in ("a.scr", "b.oth"):
        (folder / name).write_text("fine\n", encoding="utf-8")
    with lspkit.Workspace(folder, config={"lsp": servers}) as ws:
        for name in ("a.scr", "b.oth"):
            assert ws.check(name).verdict.clean
        for argv in (one, other):
            written_outside(folder / "first.scr", "")
            wait_until_heard(Log.of(argv), "first.scr")
        yield ws


def server_of(ws: lspkit.Workspace, name: str) -> Any:
    return next(one for one in ws._engine.pool.servers() if one.id == name)


@contextmanager
def held(*locks: Any) -> Iterator[None]:
    """Another thread has these locks."""
    has, over = threading.Event(), threading.Event()

    def hold() -> None:
        for lock in locks:
            lock.acquire()
        has.set()
        over.wait(60)
        for lock in reversed(locks):
            lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    assert has.wait(20)
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_server_that_cannot_be_told_anything_does_not_hold_up_another(tmp_path, scripted):
    one, other = scripted(SCRIPT), scripted(SCRIPT)
    with two_servers(tmp_path, one, other) as ws:
        with held(server_of(ws, "other").channel.lock):
            written_outside(tmp_path / "a.scr", "ERROR\n")
            written_outside(tmp_path / "new.oth", "")
            ws.document_symbols("a.scr", timeout=30)
            assert {("a.scr", CHANGED), ("new.oth", CREATED)} <= set(heard(Log.of(one)))
            with pytest.raises(RequestTimeoutError, match=UNTOLD):
                ws.document_symbols("b.oth", timeout=0.2)
        # And it hears of everything in the end, in order, whether somebody asks it or not.
        wait_until_heard(Log.of(other), "new.oth")
        told = [one for one in heard(Log.of(other)) if one[0] != "first.scr"]
        assert told.index(("a.scr", CHANGED)) < told.index(("new.oth", CREATED))
        assert ws.check("b.oth").verdict.clean


def test_a_server_that_reads_nothing_any_more_does_not_hold_up_another(tmp_path, scripted):
    one, other = scripted(SCRIPT), scripted(DEAF)
    with two_servers(tmp_path, one, other) as ws:
        with pytest.raises(lspkit.LspkitError):
            ws.request("b.oth", POKE, timeout=0.2)
        for number in range(20):
            for name in range(50):
                (tmp_path / f"{'x' * 200}{name}.oth").write_text(str(number), encoding="utf-8")
            broken = number % 2 == 0
            written_outside(tmp_path / "a.scr", "ERROR\n" if broken else "fine\n")
            assert ws.check("a.scr", timeout=30).verdict.dirty == broken


def test_without_time_for_a_look_at_the_disk_a_verdict_is_unknown(tmp_path, scripted):
    with two_servers(tmp_path, scripted(SCRIPT), scripted(SCRIPT)) as ws:
        watcher = ws._engine.pool.disk_events._watcher
        began = time.monotonic()
        with held(watcher._caller_lock, watcher._turn):
            report = ws.check("a.scr", timeout=0.2)
            assert report.verdict.unknown
            assert UNSEEN in report.why
            with pytest.raises(RequestTimeoutError, match=UNSEEN):
                ws.document_symbols("a.scr", timeout=0.2)
            reports = ws.check_all(["a.scr", "b.oth"], timeout=0.2)
            assert all(one.verdict.unknown for one in reports.values())
        assert time.monotonic() - began < 20
        assert ws.check("a.scr").verdict.clean
