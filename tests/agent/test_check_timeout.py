"""How long hooks and tools wait: longer for a server that is to be started, and once for each."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
import lspkit.operations as ops
from lspkit.agent import Toolbox
from lspkit.agent.check_timeout import CheckTimeouts
from lspkit.testing import Log, Script
from tests.agent.hooks.hooked import PULLED, project
from tests.scripted import config_for

TIMING = {"diagnosticsWaitTimeoutMs": 1_000, "firstTouchTimeoutMs": 10_000}
LONG, SHORT = 10.0, 1.0


def workspace(folder: Path, argv: list[str], **more: object) -> lspkit.Workspace:
    return lspkit.Workspace(folder, config={**config_for(argv, **more), "timing": TIMING})


def write(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("fine\n", encoding="utf-8")
    return str(path)


def test_the_first_file_of_a_nested_root_is_waited_for_as_long_as_the_first_of_all(
    tmp_path, scripted
):
    outer, inner = write(tmp_path / "a.scr"), write(tmp_path / "nested/b.scr")
    (tmp_path / "nested/scr.conf").touch()
    argv = scripted(PULLED)
    with workspace(tmp_path, argv, rootMarkers=["scr.conf"]) as ws:
        patience = CheckTimeouts(ws)
        waits = []
        for path in (outer, inner, inner, outer):
            waits.append(patience.seconds(path))
            ws.check(path)
            patience.spend(path)
        assert len(Log.of(argv).pids()) == 2
    assert waits == [LONG, LONG, SHORT, SHORT]


@pytest.mark.parametrize("name", ["A.DOCKERFILE", "Dockerfile", "Dockerfile.dev"])
def test_a_running_server_has_the_usual_time_whatever_the_name_of_the_file(
    tmp_path, scripted, name
):
    path = write(tmp_path / name)
    config = {"lsp": {"dockerfile": {"command": scripted(Script())}}, "timing": TIMING}
    with lspkit.Workspace(tmp_path, config=config) as ws:
        patience = CheckTimeouts(ws)
        first = patience.seconds(path)
        assert ws.check(path).verdict.clean
        patience.spend(path)
        assert (first, patience.seconds(path)) == (LONG, SHORT)


def test_a_server_that_somebody_else_has_started_has_the_usual_time(tmp_path, scripted):
    path = write(tmp_path / "a.scr")
    with workspace(tmp_path, scripted(PULLED)) as ws:
        ws.check(path)
        assert CheckTimeouts(ws).seconds(path) == SHORT


@pytest.mark.parametrize("name", ["a.unheard", "../outside.scr", "missing/\0.scr"])
def test_nobody_is_waited_for_where_there_is_no_server(tmp_path, scripted, name):
    argv = scripted(PULLED)
    with workspace(tmp_path, argv) as ws:
        assert CheckTimeouts(ws).seconds(name) == SHORT
    assert Log.of(argv).pids() == []


def test_to_look_at_a_file_that_is_not_there_yet_starts_nothing(tmp_path, scripted):
    argv = scripted(PULLED)
    with workspace(tmp_path, argv) as ws:
        assert CheckTimeouts(ws).seconds("new.scr") == LONG
    assert Log.of(argv).pids() == []


def test_no_check_of_a_hook_or_a_tool_takes_the_status_of_all_servers(
    tmp_path, scripted, monkeypatch
):
    with project(tmp_path, scripted(PULLED)) as work:
        toolbox = Toolbox(work.ws)
        run, requests = work.ws._engine.run, []

        def record(request, limits):
            requests.append(type(request))
            return run(request, limits)

        monkeypatch.setattr(work.ws._engine, "run", record)
        for tool in ("write", "edit"):
            assert "ERROR" in work.write("a.scr", f"ERROR {tool}\n", tool)
        for _ in range(2):  # the second one with a configuration that was read again
            assert "ERROR" in toolbox.execute("lsp_diagnostics", {"filePath": "a.scr"})
            work.ws.reload()
    assert ops.FileServersRequest in requests
    assert requests.count(ops.WarningsRequest) == 2
    assert not {ops.StatusRequest, ops.StatusTextRequest} & set(requests)
