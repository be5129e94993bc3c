"""The files that depend on an edit: checked before others, and closed afterwards.

The scripted server checks every open document by itself, as clangd does. It names `b.scr` and
`d.scr` as users of what `a.scr` declares; `c.scr` is only known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lspkit
from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.diagnostics.report import EditReport
from lspkit.operations.checks.check_edit import CheckEditRequest
from lspkit.operations.checks.dependent_files import EditedFile
from lspkit.runtime.freshness import other_files
from lspkit.runtime.freshness.check_file import NO_TIME
from lspkit.servers.adapters.adapter import BackgroundIndex
from lspkit.servers.definition_parts import DocumentSync
from lspkit.testing import Diagnostics, Fault, Log, Script
from lspkit.testing.script import progress
from tests.runtime.server_log import (
    CHANGE,
    CLOSE,
    OPEN,
    PULL,
    adapter_with,
    asked,
    define,
    name_of,
    told,
    written_outside,
)
from tests.scripted import workspace

REFERENCES, LINKS = "textDocument/references", "textDocument/documentLink"
SYMBOLS = "textDocument/documentSymbol"
#: Milliseconds for the dependents: only a check without an answer takes that long.
BRIEFLY = {"timing": {"dependentsTimeoutMs": 3000}}


def users(folder: Path, *names: str, **more: Any) -> Script:
    """A server that knows these users of every declaration."""
    edges = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    places = [{"uri": (folder / name).as_uri(), "range": edges} for name in names]
    return Script(answers={REFERENCES: places, LINKS: []}, **more)


def files(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.scr").write_text(text, encoding="utf-8")


def edit(
    ws: lspkit.Workspace,
    folder: Path,
    text: str,
    name: str = "a.scr",
    seconds: float | None = None,
) -> EditReport:
    """What is known after another process has written a file."""
    before = (folder / name).read_text(encoding="utf-8")
    written_outside(folder / name, text)
    edited = EditedFile(str(folder / name), before)
    return ws.run(CheckEditRequest(files=(edited,), seconds=seconds), timeout=60)


def names(paths: Any) -> list[str]:
    return sorted(Path(one).name for one in paths)


def test_a_file_that_is_only_known_is_not_asked_about_before_the_dependents_are_done(
    tmp_path, scripted
):
    files(tmp_path, b="fine\n", c="fine\n")
    hangs = Fault(PULL, "hang", nth=6)  # c, then a, b and c after the first edit, then a and b
    argv = scripted(users(tmp_path, "b.scr", diagnostics=Diagnostics("pull"), faults=[hangs]))
    with workspace(tmp_path, argv, text="def greet one\n", **BRIEFLY) as ws:
        ws.check("c.scr")
        first = edit(ws, tmp_path, "def greet two\n").other_files
        second = edit(ws, tmp_path, "def greet three\n").other_files
        assert asked(Log.of(argv)) == ["c.scr", "a.scr", "b.scr", "c.scr", "a.scr", "b.scr"]
    assert (first.verdict.value, first.left_out) == ("clean", 0)
    assert (second.verdict.value, second.left_out) == ("unknown", 1)
    assert second.unknown[tmp_path / "c.scr"] == f"scripted: {NO_TIME}"


def test_some_dependents_are_asked_about_at_a_time_and_the_rest_not_after_the_deadline(
    tmp_path, scripted, monkeypatch
):
    monkeypatch.setattr(other_files, "AT_A_TIME", 2)
    those = [f"{name}.scr" for name in "bcdef"]
    files(tmp_path, **dict.fromkeys("bcdef", "fine\n"))
    hang = Fault(PULL, "hang", nth=8, times=0)  # all dependents after the second edit
    argv = scripted(users(tmp_path, *those, diagnostics=Diagnostics("pull"), faults=[hang]))
    with workspace(tmp_path, argv, text="def greet one\n", **BRIEFLY) as ws:
        first = edit(ws, tmp_path, "def greet two\n").other_files
        second = edit(ws, tmp_path, "def greet three\n").other_files
        before, after = asked(Log.of(argv))[:6], asked(Log.of(argv))[6:]
    # Two at a time, in whatever order they come.
    assert (before[0], sorted(before[1:])) == ("a.scr", those)
    assert (after[0], sorted(after[1:])) == ("a.scr", ["b.scr", "c.scr"])
    assert (first.verdict.value, first.left_out) == ("clean", 0)
    assert (second.verdict.value, second.left_out) == ("unknown", 5)


def test_documents_that_were_opened_for_a_look_are_closed_and_those_with_errors_stay_open(
    tmp_path, scripted
):
    files(tmp_path, b="fine\n", c="fine\n", d="NEED greet\n")
    argv = scripted(users(tmp_path, "b.scr", "d.scr"))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        ws.check("c.scr")
        broken = edit(ws, tmp_path, "def meet\n").other_files
        mended = edit(ws, tmp_path, "def greet\n").other_files
    assert names(broken.introduced or ()) == ["d.scr"]
    assert names(mended.fixed or ()) == ["d.scr"]
    assert asked(Log.of(argv), CLOSE) == ["b.scr", "b.scr", "d.scr"]


def test_a_document_that_a_caller_checks_itself_stays_open(tmp_path, scripted):
    files(tmp_path, b="fine\n", d="NEED greet\n")
    argv = scripted(users(tmp_path, "b.scr", "d.scr"))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        edit(ws, tmp_path, "def meet\n")
        ws.check("d.scr")
        edit(ws, tmp_path, "def greet\n")
    assert set(asked(Log.of(argv), CLOSE)) == {"b.scr"}


def test_a_document_without_an_answer_in_time_stays_open_and_is_looked_at_after_the_next_edit(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(how="version", ask=LINKS))
    files(tmp_path, b="NEED greet\n", e="alone\n")
    hangs = Fault(LINKS, "hang", nth=4)  # a and b after the first edit, then a and b
    argv = scripted(users(tmp_path, "b.scr", faults=[hangs]))
    with workspace(tmp_path, argv, text="def greet one\n", **BRIEFLY) as ws:
        first = edit(ws, tmp_path, "def greet two\n").other_files
        second = edit(ws, tmp_path, "def greet three\n").other_files
        third = edit(ws, tmp_path, "still alone\n", "e.scr").other_files
    log = Log.of(argv)
    links = asked(log, LINKS)
    assert links[:5] == ["a.scr", "b.scr", "a.scr", "b.scr", "e.scr"]
    assert "b.scr" in links[5:]
    about = [one for one in told(log) if one.endswith(" b.scr")]
    opened, closed = "didOpen b.scr", "didClose b.scr"
    assert about == [opened, closed, opened, "didChange b.scr", closed]
    assert [one.left_out for one in (first, second, third)] == [0, 1, 0]
    assert (second.verdict.value, third.verdict.value) == ("unknown", "clean")


def test_a_server_that_is_asked_for_findings_keeps_its_documents(tmp_path, scripted):
    files(tmp_path, b="fine\n")
    argv = scripted(users(tmp_path, "b.scr", diagnostics=Diagnostics("pull")))
    with workspace(tmp_path, argv, text="def greet one\n") as ws:
        edit(ws, tmp_path, "def greet two\n")
    assert asked(Log.of(argv), OPEN) == ["a.scr", "b.scr"]
    assert asked(Log.of(argv), CLOSE) == []


def test_a_server_that_tells_nothing_in_time_leaves_the_uses_unsearched(tmp_path, scripted):
    files(tmp_path, b="fine\n")
    hang = [Fault(SYMBOLS, "hang", nth=2), Fault(PULL, "hang", nth=3, times=0)]
    argv = scripted(users(tmp_path, "b.scr", diagnostics=Diagnostics("pull"), faults=hang))
    with workspace(tmp_path, argv, text="def greet one\n", **BRIEFLY) as ws:
        first = edit(ws, tmp_path, "def greet two\n").other_files
        second = edit(ws, tmp_path, "def greet three\n", seconds=1.0).other_files
    assert (first.verdict.value, first.unsearched) == ("clean", [])
    assert (second.verdict.value, second.unsearched) == ("unknown", [str(tmp_path / "a.scr")])


@pytest.mark.parametrize(("unsaved", "shown"), [("opened", True), ("never", False)])
def test_the_text_before_the_edit_is_shown_only_to_a_server_that_takes_it_into_account(
    tmp_path, scripted, monkeypatch, unsaved, shown
):
    define(monkeypatch, OFFERED, documents=DocumentSync(unsaved=unsaved))
    files(tmp_path, b="NEED greet\n")
    argv = scripted(users(tmp_path, "b.scr"))
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        found = edit(ws, tmp_path, "def meet\n").other_files
    assert names(found.introduced or ()) == ["b.scr"]
    said = told(Log.of(argv))
    assert ("didChange a.scr" in said[said.index("didOpen b.scr") :]) == shown


def test_a_search_does_not_show_the_new_text_before_it_is_over(tmp_path, scripted, monkeypatch):
    adapter = adapter_with(index=BackgroundIndex(title="index"))
    define(monkeypatch, OFFERED, adapter=adapter)
    files(tmp_path, b="fine\n")
    argv = scripted(users(tmp_path, "b.scr", say=progress("index")))
    with workspace(tmp_path, argv, text="def greet one\n") as ws:
        ws.check("b.scr")
        edit(ws, tmp_path, "def greet two\n")
    about = [
        one["method"]
        for one in Log.of(argv).messages()
        if one.get("method") in (OPEN, CHANGE, REFERENCES) and name_of(one) == "a.scr"
    ]
    assert about == [OPEN, REFERENCES, CHANGE]
