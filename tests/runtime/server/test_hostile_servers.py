"""Servers that send more than anybody can use: calls keep their time, and nothing is left behind.

What is beyond a limit is dropped and counted, and never makes a verdict look better.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.limits import LONGEST_URI, MOST_FINDINGS, MOST_REGISTRATIONS, MOST_WORK
from lspkit.runtime.host import run_command
from lspkit.testing import Diagnostics, Fault, Say, Script
from tests.runtime.host.test_run_command import COMMAND, asks_for, commanded
from tests.scripted import SOURCE, ask, workspace

#: Seconds that are enough for any of these calls on a slow and busy machine. Each took more before.
PLENTY = 40.0
WHERE = "textDocument/definition"


def frames(*messages: dict[str, Any]) -> str:
    """Messages as the server writes them."""
    bodies = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    return "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)


def before_the_answer(text: str, **more: Any) -> Script:
    """A server that writes this before it answers a question."""
    return Script(faults=[Fault(WHERE, "garbage", text=text, nth=1)], **more)


def registration(number: int, glob: str = "**/*.scr") -> dict[str, Any]:
    options = {"watchers": [{"globPattern": glob}]}
    method = "workspace/didChangeWatchedFiles"
    return {"id": f"w{number}", "method": method, "registerOptions": options}


def finding(severity: int, message: str = "x") -> dict[str, Any]:
    place = {"line": 0, "character": 0}
    return {
        "range": {"start": place, "end": place},
        "severity": severity,
        "message": message,
    }


def dropped(ws: lspkit.Workspace) -> dict[str, int]:
    [root] = [root for row in ws.status().rows for root in row.roots]
    return root.dropped


def test_a_section_of_many_names_is_no_section(tmp_path, scripted):
    items = [{"section": "a." * 300_000}, {"section": "long"}, *[{"section": ""}] * 1000]
    asks = {"method": "workspace/configuration", "params": {"items": items}}
    argv = scripted(Script(say=[Say("initialized", request=asks, wait=True)]))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=PLENTY) == "1:5"


@pytest.mark.parametrize("at_once", [True, False], ids=["one message", "many messages"])
def test_registrations_without_end_are_dropped_and_put_everything_in_doubt(
    tmp_path, scripted, at_once
):
    count = 3 * MOST_REGISTRATIONS
    all = [registration(number, f"/far/{number}/*.x") for number in range(count)]
    lists = [all] if at_once else [[one] for one in all]
    asks = [
        {"id": f"s{at}", "method": "client/registerCapability", "params": {"registrations": some}}
        for at, some in enumerate(lists)
    ]
    argv = scripted(before_the_answer(frames(*asks)))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=PLENTY) == "1:5"
        assert dropped(ws) == {"registrations": count - MOST_REGISTRATIONS}
        assert "2000 registrations were dropped" in " ".join(ws.status().warnings)
        report = ws.check("a.scr", timeout=PLENTY)
        assert report.verdict is lspkit.Verdict.UNKNOWN
        assert "it may miss changes" in report.servers[0].reason


def test_patterns_without_end_are_dropped_and_put_everything_in_doubt(tmp_path, scripted):
    globs = [{"globPattern": "{,a}" * 1000}] * 200
    one = registration(1)
    one["registerOptions"]["watchers"] = globs
    method = "client/registerCapability"
    argv = scripted(
        before_the_answer(
            frames({"id": "s1", "method": method, "params": {"registrations": [one]}})
        )
    )
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=PLENTY) == "1:5"
        assert dropped(ws)["registrations"] > 100
        assert ws.check("a.scr", timeout=PLENTY).verdict is lspkit.Verdict.UNKNOWN


def test_messages_in_messages_without_end_end_the_conversation(tmp_path, scripted):
    nested = "x"
    pieces: list[str] = []
    size = len(nested)
    for _ in range(20_000):
        size += 2
        head = f"Content-Length: {size}\r\n\r\n"
        pieces.append(f'{head}{{"')
        size += len(head)
    text = "".join(reversed(pieces)) + nested
    faults = [Fault("textDocument/didOpen", "garbage", text=text), Fault(WHERE, "hang")]
    argv = scripted(Script(faults=faults, diagnostics=Diagnostics(how="none")))
    with (
        workspace(tmp_path, argv) as ws,
        pytest.raises(lspkit.ServerBrokenError, match="broke off in the middle"),
    ):
        ask(ws, timeout=PLENTY)


def test_headers_in_a_body_without_end_are_looked_through_once(tmp_path, scripted):
    body = "Content-Length: 1\r\n" * 30_000
    argv = scripted(before_the_answer(f"Content-Length: {len(body)}\r\n\r\n{body}"))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=PLENTY) == "1:5"


def edits(path: Path, count: int) -> list[Say]:
    return [asks_for(path, "y", wait=False)] * count


def test_edits_beyond_a_number_are_refused_and_the_command_fails(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(run_command, "MOST_EDITS", 5)
    argv = scripted(commanded(*edits(tmp_path / "a.scr", 50)))
    with workspace(tmp_path, argv, text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestFailedError, match="edits at most"):
            ws.apply(action, timeout=PLENTY)
        assert dropped(ws) == {"edits": 45}
    assert (tmp_path / "a.scr").read_text() == "old\n"  # all or nothing


def test_edits_without_end_do_not_go_past_the_deadline(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(run_command, "MOST_EDITS", 20_000)
    script = commanded(*edits(tmp_path / "a.scr", 5000), faults=[Fault(COMMAND, "hang")])
    with workspace(tmp_path, scripted(script), text="old\n") as ws:
        [action] = ws.code_actions("a.scr", 1, 1)
        with pytest.raises(lspkit.RequestTimeoutError):
            ws.apply(action, timeout=1)
        made = len((tmp_path / "a.scr").read_text()) - len("old\n")
        assert made < 5000


def test_findings_beyond_a_number_are_counted_and_never_clean(tmp_path, scripted):
    many = [finding(2)] * (MOST_FINDINGS + 500)
    uri = (tmp_path / "a.scr").as_uri()
    params = {"uri": uri, "version": 1, "diagnostics": many}
    tells = {"method": "textDocument/publishDiagnostics", "params": params}
    say = [Say("textDocument/didOpen", notification=tells)]
    argv = scripted(Script(say=say, diagnostics=Diagnostics(how="none")))
    with workspace(tmp_path, argv) as ws:
        report = ws.check("a.scr", timeout=PLENTY)
        assert report.verdict is lspkit.Verdict.UNKNOWN
        assert len(report.diagnostics) <= MOST_FINDINGS
        assert dropped(ws) == {"findings": 500}
        [row] = [row for row in ws.status().rows if row.roots]
        assert row.diagnostics["total"] <= MOST_FINDINGS


def test_findings_beyond_a_number_are_counted_where_they_are_asked_for(tmp_path, scripted):
    many = {"kind": "full", "items": [finding(2)] * (MOST_FINDINGS + 500)}
    answers = {"textDocument/diagnostic": many}
    argv = scripted(Script(answers=answers, diagnostics=Diagnostics(how="pull")))
    with workspace(tmp_path, argv) as ws:
        report = ws.check("a.scr", timeout=PLENTY)
        assert report.verdict is lspkit.Verdict.UNKNOWN
        assert "500 of its findings could not be decoded" in report.servers[0].reason


def test_a_name_that_no_file_can_have_is_not_followed(tmp_path, scripted):
    uri = (tmp_path / "a.scr").as_uri() + "/b" * LONGEST_URI
    place = {"line": 0, "character": 0}
    params = {"uri": uri, "diagnostics": [finding(1)]}
    tells = {"method": "textDocument/publishDiagnostics", "params": params}
    answers = {WHERE: [{"uri": uri, "range": {"start": place, "end": place}}] * 50}
    say = [Say("textDocument/didOpen", notification=tells)]
    argv = scripted(Script(answers=answers, say=say))
    with workspace(tmp_path, argv, text=SOURCE) as ws:
        found = ws.definition("a.scr", 2, 4, timeout=PLENTY)
        assert {one.path for one in found} <= {None}
        assert dropped(ws) == {"reports about no file": 1}


def test_work_without_end_is_forgotten_from_the_oldest_on(tmp_path, scripted):
    count = 1000
    notes = [
        {
            "method": "$/progress",
            "params": {"token": f"t{at}", "value": {"kind": "begin", "title": "x" * 3000}},
        }
        for at in range(count)
    ]
    argv = scripted(before_the_answer(frames(*notes)))
    with workspace(tmp_path, argv) as ws:
        assert ask(ws, timeout=PLENTY) == "1:5"
        assert dropped(ws) == {"pieces of work": count - MOST_WORK}
        assert len(ws.status_text()) < 100_000
