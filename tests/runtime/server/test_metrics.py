"""What can be seen of a server from outside: its status, and the lines of the log."""

from __future__ import annotations

import collections
import logging
import threading
import time

import pytest

import lspkit
from lspkit.servers.status import RootStatus
from lspkit.testing import Diagnostics, Fault, Log, Script, progress
from tests.runtime.server_log import PULL, finding, full
from tests.scripted import ask, workspace

DEFINITION = "textDocument/definition"


def root_of(ws: lspkit.Workspace) -> RootStatus:
    [root] = [root for row in ws.status().rows for root in row.roots]
    return root


def busy(ws: lspkit.Workspace) -> RootStatus:
    """The status as soon as the server says that it is busy."""
    deadline = time.monotonic() + 10
    while not (root := root_of(ws)).busy_with:
        assert time.monotonic() < deadline, "it is not busy"
        threading.Event().wait(0.005)
    return root


def test_text_between_messages_is_told_once_and_counted(tmp_path, scripted, caplog):
    printed = "warning: this is no frame\n"
    argv = scripted(Script(faults=[Fault(DEFINITION, "garbage", text=printed)]))
    with caplog.at_level(logging.DEBUG, "lspkit"), workspace(tmp_path, argv) as ws:
        assert [ask(ws) for _ in range(3)] == ["1:5"] * 3
        assert root_of(ws).noise == 3 * len(printed)
    told = [line for line in caplog.messages if "not a message" in line]
    assert told == [f"scripted prints something that is not a message: {printed.encode()!r}"]


def test_who_prints_nothing_is_not_told_of(tmp_path, scripted, caplog):
    with caplog.at_level(logging.DEBUG, "lspkit"), workspace(tmp_path, scripted(Script())) as ws:
        assert ask(ws) == "1:5"
        assert root_of(ws).noise == 0
    assert "no message" not in caplog.text


def test_the_status_says_for_how_long_a_server_is_busy(tmp_path, scripted):
    argv = scripted(Script(say=progress("indexing", seconds=600)))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        first = busy(ws)
        text = ws.status_text()
        second = root_of(ws)
    assert first.busy_with == second.busy_with == ("indexing",)
    assert 0 < first.busy_for[0] < second.busy_for[0]
    assert "busy with indexing for " in text


def test_so_does_the_error_of_a_caller_whose_time_is_up(tmp_path, scripted):
    say, hang = progress("indexing", seconds=600), [Fault(DEFINITION, "hang")]
    with workspace(tmp_path, scripted(Script(say=say, faults=hang))) as ws:
        ws.document_symbols("a.scr")
        busy(ws)
        with pytest.raises(lspkit.RequestTimeoutError) as caught:
            ask(ws, timeout=0.05)
    [doing] = caught.value.progress
    assert doing.startswith("indexing for ")
    assert doing in str(caught.value)


def test_checks_are_counted_with_their_latency(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script()), text="ERROR\nERROR\n") as ws:
        (tmp_path / "b.scr").write_text("def fine\n", encoding="utf-8")
        for name in ("a.scr", "b.scr", "a.scr"):
            assert not ws.check(name).verdict.unknown
        root, text = root_of(ws), ws.status_text()
    assert (root.checks.count, root.checks.timeouts, root.checks.files) == (3, 0, 1)
    assert 0 < root.checks.p50 <= root.checks.p95
    assert ", 3 checks" in text


def test_a_check_that_runs_out_of_time_has_no_latency(tmp_path, scripted):
    argv = scripted(Script(diagnostics=Diagnostics(how="none")))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws) == "1:5"
        assert ws.check("a.scr", timeout=0.05).verdict.unknown
        checks = root_of(ws).checks
    assert (checks.count, checks.timeouts, checks.p95) == (1, 1, 0.0)


def test_a_check_that_a_crash_ends_has_no_latency_either(tmp_path, scripted):
    argv = scripted(Script(faults=[Fault("textDocument/didOpen", "crash")]))
    with workspace(tmp_path, argv) as ws:
        assert ws.check("a.scr", timeout=30).verdict.unknown
        checks = root_of(ws).checks
    assert (checks.count, checks.timeouts, checks.p95) == (1, 0, 0.0)


def test_the_log_has_the_findings_per_file_and_how_long_they_took(tmp_path, scripted, caplog):
    argv = scripted(Script())
    with (
        caplog.at_level(logging.DEBUG, "lspkit"),
        workspace(tmp_path, argv, text="ERROR\nERROR\n") as ws,
    ):
        assert ws.check("a.scr").verdict.dirty
        assert len(Log.of(argv).pids()) == 1
    path = tmp_path / "a.scr"
    [took] = [line for line in caplog.messages if line.startswith(f"{path}: ")]
    assert took.startswith(f"{path}: 2 findings of scripted, by version in ")
    assert f"{path.as_uri()}: 2 findings of scripted, pushed" in caplog.messages


def test_the_status_counts_findings_by_the_severities_that_a_check_gives_them(tmp_path, scripted):
    wires = [{**finding(str(said)), "severity": said} for said in (1, 2, 3, 4, None, 0, 9)]
    faults = [Fault(PULL, "result", result=full(*wires))]
    argv = scripted(Script(diagnostics=Diagnostics(how="pull"), faults=faults))
    with workspace(tmp_path, argv, text="fine\n") as ws:
        found = [one.severity.value for one in ws.check("a.scr").diagnostics]
        [row] = [row for row in ws.status().rows if row.roots]
    assert row.diagnostics == {"error": 2, "warning": 1, "info": 3, "hint": 1, "total": 7}
    assert dict(collections.Counter(found), total=7) == row.diagnostics
