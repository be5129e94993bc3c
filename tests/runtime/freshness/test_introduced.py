"""What an edit introduced, fixed and left, told by reports of a real workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from lspkit.testing import Diagnostics, Fault, Script
from tests.runtime.server_log import PULL
from tests.scripted import workspace

BY_PULL = Diagnostics(how="pull")
Parts = tuple[list[str] | None, ...]


def parts(report: lspkit.Report) -> Parts:
    """Introduced, fixed and remaining, by place and message."""
    lists = (report.introduced, report.fixed, report.remaining)
    return tuple(
        None if found is None else [f"{one.range.start.line} {one.message}" for one in found]
        for found in lists
    )


def edited(folder: Path, ws: lspkit.Workspace, text: str, **limits: float) -> lspkit.Report:
    """The report after an edit on disk."""
    (folder / "a.scr").write_text(text, encoding="utf-8")
    return ws.check("a.scr", **limits)


@pytest.mark.parametrize("how", ["push", "pull"])
def test_every_edit_is_compared_with_the_state_before_it(tmp_path, scripted, how):
    argv = scripted(Script(diagnostics=Diagnostics(how=how)))
    with workspace(tmp_path, argv, text="ERROR one\n") as ws:
        told = [
            parts(ws.check("a.scr")),
            parts(edited(tmp_path, ws, "ERROR one\nERROR two\n")),
            parts(edited(tmp_path, ws, "ERROR two\n")),
            parts(edited(tmp_path, ws, "fine\n")),
            parts(edited(tmp_path, ws, "still fine\n")),
        ]
    assert told == [
        (None, None, None),
        (["2 ERROR two"], [], ["1 ERROR one"]),
        ([], ["1 ERROR one"], ["1 ERROR two"]),
        ([], ["1 ERROR two"], []),
        ([], [], []),
    ]


def test_a_line_that_is_inserted_makes_nothing_new(tmp_path, scripted):
    before = "ERROR same\nx\nERROR same\nWARN other\n"
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text=before) as ws:
        ws.check("a.scr")
        report = edited(tmp_path, ws, "first\n" + before)
    assert parts(report) == ([], [], ["2 ERROR same", "4 ERROR same", "5 WARN other"])


def test_a_second_check_of_the_same_text_has_nothing_new(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="ERROR\n") as ws:
        ws.check("a.scr")
        assert parts(ws.check("a.scr")) == ([], [], ["1 ERROR"])


def test_a_text_of_a_caller_is_compared_and_changes_nothing_for_the_next(tmp_path, scripted):
    draft = "ERROR one\nERROR draft\n"
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="ERROR one\n") as ws:
        first = parts(ws.check("a.scr", text=draft))
        ws.check("a.scr")
        drafts = [parts(ws.check("a.scr", text=draft)) for _ in range(2)]
        on_disk = parts(ws.check("a.scr"))
    assert first == (None, None, None)
    assert drafts == [(["2 ERROR draft"], [], ["1 ERROR one"])] * 2
    assert on_disk == ([], [], ["1 ERROR one"])


def test_a_shown_text_changes_nothing_for_the_next(tmp_path, scripted):
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="ERROR one\n") as ws:
        ws.check("a.scr")
        with ws.overlay({"a.scr": "ERROR one\nERROR draft\n"}):
            drafts = [parts(ws.check("a.scr")) for _ in range(2)]
        on_disk = parts(ws.check("a.scr"))
    assert drafts == [(["2 ERROR draft"], [], ["1 ERROR one"])] * 2
    assert on_disk == ([], [], ["1 ERROR one"])


def test_a_state_that_is_not_proven_is_no_starting_point(tmp_path, scripted):
    silent = Fault(PULL, "hang", nth=2)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[silent]))
    with workspace(tmp_path, argv, text="ERROR one\n") as ws:
        ws.check("a.scr")
        unknown = edited(tmp_path, ws, "fine\n", timeout=1.5)
        known = edited(tmp_path, ws, "ERROR two\n")
    assert unknown.verdict.unknown
    assert unknown.fixed in (None, [])
    assert parts(known) == (["1 ERROR two"], ["1 ERROR one"], [])


def test_from_the_silence_of_one_server_nothing_is_taken_for_fixed(tmp_path, scripted):
    silent = scripted(Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang", nth=2)]))
    (tmp_path / "a.scr").write_text("ERROR both\n", encoding="utf-8")
    servers = {
        name: {"command": argv, "extensions": [".scr"], "proof": "pull"}
        for name, argv in (("silent", silent), ("quick", scripted(Script(diagnostics=BY_PULL))))
    }
    with lspkit.Workspace(tmp_path, config={"lsp": servers}) as ws:
        ws.check("a.scr")
        half = edited(tmp_path, ws, "ERROR new\n", timeout=2)
        whole = edited(tmp_path, ws, "ERROR newer\n")
    assert parts(half) == (["1 ERROR new"], [], [])
    assert parts(whole) == (["1 ERROR newer"], ["1 ERROR both"], [])


def test_each_file_has_its_own_starting_point(tmp_path, scripted):
    (tmp_path / "b.scr").write_text("ERROR b\n", encoding="utf-8")
    with workspace(tmp_path, scripted(Script(diagnostics=BY_PULL)), text="ERROR a\n") as ws:
        ws.check("a.scr")
        assert parts(ws.check("b.scr")) == (None, None, None)
        assert parts(edited(tmp_path, ws, "fine\n")) == ([], ["1 ERROR a"], [])
        assert parts(ws.check("b.scr")) == ([], [], ["1 ERROR b"])
