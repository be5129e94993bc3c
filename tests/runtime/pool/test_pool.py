"""The pool: one start for many, patience with those that fail, as many processes as needed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lspkit
from lspkit.config.load import load
from lspkit.runtime.engine import LocalEngine
from lspkit.runtime.pool import pool, server_choices
from lspkit.servers.selection.choose import choose
from lspkit.testing import Fault, Log, Script
from tests.scripted import SOURCE, ask, config_for, workspace

DEFINITION = "textDocument/definition"


def _wait(condition, what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.005)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_32_first_callers_start_one_process(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.2)]))
    gate = threading.Barrier(32)

    def first(_: int) -> str:
        gate.wait()
        return ask(ws)

    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(32) as callers:
        assert set(callers.map(first, range(32))) == {"1:5"}
    assert len(Log.of(argv).pids()) == 1


def test_8_threads_ask_800_times_over_3_files_without_a_failure(tmp_path, scripted):
    argv = scripted(Script())
    for name in ("a.scr", "b.scr", "c.scr"):
        (tmp_path / name).write_text(SOURCE, encoding="utf-8")

    def caller(number: int) -> set[str]:
        name = "abc"[number % 3] + ".scr"
        return {str(ws.definition(name, 2, 4)[0].range.start) for _ in range(100)}

    with lspkit.Workspace(tmp_path, config=config_for(argv)) as ws, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(caller, range(8))) == [{"1:5"}] * 8
    log = Log.of(argv)
    assert len(log.pids()) == 1
    assert len(log.messages("textDocument/didOpen")) == 3
    assert log.complaints() == []


def test_a_caller_that_gives_up_does_not_stop_the_start_for_others(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("initialize", "delay", seconds=0.7)]))
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(1) as callers:
        patient = callers.submit(ask, ws)
        with pytest.raises(lspkit.RequestTimeoutError) as caught:
            ask(ws, timeout=0.1)
        assert patient.result(20) == "1:5"
    assert caught.value.state == "starting"
    assert len(Log.of(argv).pids()) == 1


def test_a_server_that_hangs_holds_up_no_other(tmp_path, scripted):
    (tmp_path / "b.ok").write_text(SOURCE, encoding="utf-8")
    hung = scripted(Script(faults=[Fault("initialize", "hang")]))
    servers = {
        "hung": {"command": hung, "extensions": [".scr"]},
        "well": {"command": scripted(Script()), "extensions": [".ok"]},
    }
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        waiting = ws.submit(ws.definition, "a.scr", 2, 4, timeout=60)
        Log.of(hung).wait_for_message("initialize")
        assert [str(one.range.start) for one in ws.definition("b.ok", 2, 4)] == ["1:5"]
        assert not waiting.done()
        states = {row.server: row.state.value for row in ws.status().rows if row.roots}
    assert states == {"hung": "starting", "well": "active"}


def test_each_package_of_a_monorepo_has_its_own_root(tmp_path, scripted):
    argv = scripted(Script())
    for package in ("one", "two/inner", "three"):
        folder = tmp_path / package
        folder.mkdir(parents=True)
        (folder / "package.mark").touch()
        (folder / "a.scr").write_text(SOURCE, encoding="utf-8")
    deep = tmp_path / "one" / "deep"
    deep.mkdir()
    (deep / "b.scr").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "lonely.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=config_for(argv, roots=["package.mark"])) as ws:
        for name in ("one/a", "one/deep/b", "two/inner/a", "three/a", "lonely"):
            assert ws.definition(f"{name}.scr", 2, 4)
        row = next(row for row in ws.status().rows if row.server == "scripted")
    roots = [str(Path(one.root).relative_to(tmp_path)) for one in row.roots]
    assert roots == [".", "one", "three", "two/inner"]
    assert len(Log.of(argv).pids()) == 4


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _on_clock(folder: Path, argv: list[str], clock: Clock, **config) -> lspkit.Workspace:
    """A workspace whose patience goes by the test's clock; its servers are real."""
    (folder / "a.scr").write_text(SOURCE, encoding="utf-8")
    given = {**config_for(argv), **config}
    ws = lspkit.Workspace(folder, config=given)
    ws._engine.close()
    ws._engine = LocalEngine(str(folder), lambda: load(str(folder), given), "test", clock=clock)
    return ws


def _fail(ws: lspkit.Workspace) -> lspkit.ServerBrokenError:
    with pytest.raises(lspkit.ServerBrokenError) as caught:
        ask(ws)
    return caught.value


def test_a_crash_loop_is_retried_with_growing_patience_up_to_a_cap(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "crash", code=3)]))
    clock = Clock()
    with _on_clock(tmp_path, argv, clock, restart={"jitter": 0}) as ws:
        delays = []
        for attempt in range(1, 7):
            assert _fail(ws).attempts == attempt  # starts it, and it dies
            waiting = _fail(ws)  # told at once
            assert waiting.attempts == attempt
            delays.append(waiting.retry_in)
            clock.now += waiting.retry_in - 0.01
            assert _fail(ws).attempts == attempt  # still too early
            clock.now += 0.02
        assert len(Log.of(argv).pids()) == 6
    assert delays == [5, 10, 20, 40, 60, 60]


def test_a_delay_varies_by_a_fifth(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "crash", code=3)]))
    delays = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        with _on_clock(folder, argv, Clock()) as ws:
            _fail(ws)
            delays.append(_fail(ws).retry_in)
    assert all(4 <= delay <= 6 for delay in delays)
    assert len(set(delays)) == 3


def test_an_answer_resets_the_patience(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "crash", code=3, run=1)]))
    clock = Clock()
    with _on_clock(tmp_path, argv, clock, restart={"jitter": 0}) as ws:
        _fail(ws)
        clock.now += 6
        assert ask(ws) == "1:5"
        _kill(ws, argv)
        assert ask(ws) == "1:5"
        _kill(ws, argv)
        assert _fail(ws).attempts == 1
        assert _fail(ws).retry_in == 5


def _kill(ws: lspkit.Workspace, argv: list[str]) -> None:
    os.kill(Log.of(argv).pids()[-1], signal.SIGKILL)
    _wait(lambda: "broken" in ws.status_text(), "the crash was not noticed")


def test_the_first_restart_of_a_server_that_has_answered_is_free(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        _kill(ws, argv)
        assert ask(ws) == "1:5"
        assert len(Log.of(argv).pids()) == 2
        _kill(ws, argv)
        assert _fail(ws).retry_in > 3


def test_a_server_that_was_well_for_a_minute_restarts_at_once(tmp_path, scripted):
    argv = scripted(Script())
    clock = Clock()
    with _on_clock(tmp_path, argv, clock) as ws:
        assert ask(ws) == "1:5"
        clock.now += 61
        _kill(ws, argv)
        assert ask(ws) == "1:5"
        assert len(Log.of(argv).pids()) == 2


def test_a_restart_opens_again_what_was_open(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/hover", "crash", code=3, run=1)]))
    for name in ("b.scr", "c.scr"):
        (tmp_path / name).write_text(SOURCE, encoding="utf-8")
    clock = Clock()
    with _on_clock(tmp_path, argv, clock) as ws:
        for name in ("a.scr", "b.scr", "c.scr"):
            ws.definition(name, 2, 4)
        with pytest.raises(lspkit.ServerBrokenError):
            ws.hover("a.scr", 2, 4)
        clock.now += 10
        assert "1:5" in ask(ws)  # the others may be open again by then, and have one as well
        log = Log.of(argv)
        log.wait_for_message("textDocument/didOpen", count=6)
    opened = [
        one["params"]["textDocument"]["uri"][-5:] for one in log.messages("textDocument/didOpen")
    ]
    assert sorted(opened[3:]) == ["a.scr", "b.scr", "c.scr"]
    assert log.complaints() == []


def test_never_means_not_before_a_reload(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "crash", code=3, run=1)]))
    clock = Clock()
    with _on_clock(tmp_path, argv, clock, restart={"policy": "never"}) as ws:
        _fail(ws)
        clock.now += 1_000_000
        assert "reload" in str(_fail(ws))
        ws.reload()
        assert ask(ws) == "1:5"


def test_a_missing_program_is_found_as_soon_as_path_has_it(tmp_path, scripted, monkeypatch):
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    folder = tmp_path.parent / f"{tmp_path.name}-bin"
    folder.mkdir()
    argv = scripted(Script())
    program = folder / "my-language-server"
    program.write_text(f"#!/bin/sh\nexec {' '.join(argv)}\n")
    program.chmod(0o755)
    with lspkit.Workspace(tmp_path, config=config_for(["my-language-server"])) as ws:
        with pytest.raises(lspkit.ServerUnavailableError, match="my-language-server"):
            ask(ws)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        assert ask(ws) == "1:5"


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ("#!/bin/sh\necho no toolchain >&2\nexit 1\n", 0o755, "no toolchain"),
        ("not a program\0", 0o755, "format"),
        ("#!/no/such/interpreter\n", 0o755, "interpreter"),
    ],
    ids=["a stub that exits", "a wrong format", "a missing interpreter"],
)
def test_a_program_that_does_not_work_is_unavailable(tmp_path, content, mode, said):
    program = tmp_path.parent / f"{tmp_path.name}-stub"
    program.write_text(content)
    program.chmod(mode)
    with (
        workspace(tmp_path, [str(program)]) as ws,
        pytest.raises(lspkit.ServerUnavailableError) as caught,
    ):
        ask(ws)
    assert said in str(caught.value).lower()


def test_reload_restarts_only_the_servers_that_changed(tmp_path, scripted):
    kept, changed = scripted(Script()), scripted(Script())
    file = tmp_path / "lsp.json"
    servers = {
        "kept": {"command": kept, "extensions": [".scr"]},
        "changed": {"command": changed, "extensions": [".ok"]},
    }
    file.write_text(json.dumps({"lsp": servers}))
    for name in ("a.scr", "b.ok"):
        (tmp_path / name).write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config=file) as ws:
        for name in ("a.scr", "b.ok"):
            ws.definition(name, 2, 4)
        servers["changed"]["settings"] = {"a": 1}
        file.write_text(json.dumps({"lsp": servers}))
        ws.reload()
        for name in ("a.scr", "b.ok"):
            ws.definition(name, 2, 4)
    assert [len(Log.of(argv).pids()) for argv in (kept, changed)] == [1, 2]


def test_a_program_that_a_new_path_brings_is_found_though_another_server_runs(
    tmp_path, scripted, monkeypatch
):
    other = scripted(Script(capabilities={"definitionProvider": None}))
    servers = {
        "missing": {"command": ["not-there-yet"], "extensions": [".scr"]},
        "other": {"command": other, "extensions": [".scr"]},
    }
    (tmp_path / "a.scr").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        with pytest.raises(lspkit.ServerUnavailableError):
            ask(ws)
        folder = tmp_path.parent / f"{tmp_path.name}-bin"
        folder.mkdir()
        program = folder / "not-there-yet"
        program.write_text(f"#!/bin/sh\nexec {shlex.join(scripted(Script()))}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        assert ask(ws) == "1:5"


def test_a_server_that_nobody_asks_is_stopped_and_comes_back(tmp_path, scripted):
    argv = scripted(Script())
    with workspace(tmp_path, argv, timing={"idleShutdownMs": 200}) as ws:
        assert ask(ws) == "1:5"
        pid = Log.of(argv).pids()[0]
        _wait(lambda: not _lives(pid), "the idle server was not stopped")
        assert ask(ws) == "1:5"
    assert len(Log.of(argv).pids()) == 2


def test_close_with_six_servers_takes_as_long_as_the_most_stubborn_one(tmp_path, scripted):
    stubborn = scripted(Script(ignore=["shutdown", "exit", "eof", "SIGTERM"]))
    servers = {"stubborn": {"command": stubborn, "extensions": [".s0"]}}
    for number in range(1, 6):
        servers[f"well{number}"] = {"command": scripted(Script()), "extensions": [f".s{number}"]}
    for number in range(6):
        (tmp_path / f"a.s{number}").write_text(SOURCE, encoding="utf-8")
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        for number in range(6):
            ws.definition(f"a.s{number}", 2, 4)
        began = time.monotonic()
    took = time.monotonic() - began
    assert 4 <= took < 10  # 4.5 s of patience with one, not six times that


def test_status_does_not_wait_for_a_server_that_hangs(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault(DEFINITION, "stop-reading")]))
    with workspace(tmp_path, argv) as ws:
        future = ws.submit(ws.definition, "a.scr", 2, 4, timeout=60)
        Log.of(argv).wait_for_message(DEFINITION)
        taken = ws.status()
        assert not future.done()
    row = next(row for row in taken.rows if row.server == "scripted")
    assert row.roots[0].requests.in_flight == (DEFINITION,)
    assert row.roots[0].pid == Log.of(argv).pids()[0]
    assert row.roots[0].memory_bytes > 1_000_000


def test_files_of_one_kind_are_looked_at_once(tmp_path, scripted, monkeypatch):
    looked: list[str] = []

    def counting(path, *more):
        looked.append(os.path.relpath(path, tmp_path))
        return choose(path, *more)

    monkeypatch.setattr(server_choices, "choose", counting)
    monkeypatch.setattr(pool, "LOOK_AGAIN", 600.0)
    (tmp_path / "deep").mkdir()
    names = [f"{number}.scr" for number in range(9)]
    for name in (*names, "deep/a.scr"):
        (tmp_path / name).write_text("fine\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script())) as ws:
        assert len(ws.check_all(names)) == 9
        [first] = looked
        assert first in names
        ws.check("deep/a.scr")
        assert looked == [first, "deep/a.scr"]
        # One of another kind, and one that there is no server for.
        (tmp_path / "a.nothing").write_text("", encoding="utf-8")
        for name in ("a.nothing", "a.nothing"):
            with pytest.raises(lspkit.NoServerError, match=r"\.nothing"):
                ws.check(name)
        assert looked == [first, "deep/a.scr", "a.nothing"]
        # A new configuration may choose others.
        ws.reload()
        ws.check_all(names)
        assert len(looked[3:]) == 1
