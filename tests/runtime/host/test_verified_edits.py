"""Edits that are checked before and after within one call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import lspkit
from lspkit.edit_types import FileEdit, TextEdit, WorkspaceEdit
from lspkit.runtime.pool import disk_events
from lspkit.runtime.watch import watcher as watcher_module
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.watcher import Watcher
from lspkit.testing import Diagnostics, Fault, Log, Script
from lspkit.types import Position, Range
from tests.runtime.server_log import PULL, written_outside
from tests.scripted import comes_true, interrupted, workspace

REFERENCES = "textDocument/references"
BY_PULL = Diagnostics(how="pull")


def test_an_edit_that_is_verified_is_seen_within_the_same_call(tmp_path, scripted):
    argv = scripted(Script(diagnostics=BY_PULL))
    path, word = tmp_path / "a.scr", Range(Position(1, 1), Position(1, 6))
    breaking = FileEdit(path, path.as_uri(), (TextEdit(word, "ERROR"),), "fine.\n", "ERROR\n")
    with workspace(tmp_path, argv, text="fine.\n") as ws:
        ws.check("a.scr")
        for _ in range(10):  # of one size, and as quick as it goes
            with pytest.raises(lspkit.RequestFailedError, match="was undone"):
                ws.apply(WorkspaceEdit((breaking,)), check="project")
            assert ws.check("a.scr").verdict.clean


#: The pull after the edit does not end.
ENDLESS = Script(diagnostics=BY_PULL, faults=[Fault(PULL, "hang", nth=2)])


def renaming_edit(path: Path) -> WorkspaceEdit:
    word = Range(Position(1, 5), Position(1, 10))
    texts = ("def greet\n", "def meets\n")
    return WorkspaceEdit((FileEdit(path, path.as_uri(), (TextEdit(word, "meets"),), *texts),))


def test_an_edit_whose_verification_is_interrupted_is_undone(tmp_path, scripted):
    argv, path = scripted(ENDLESS), tmp_path / "a.scr"
    with workspace(tmp_path, argv, text="def greet\n") as ws:
        is_verified = partial(has_asked, argv, 2)
        with pytest.raises(KeyboardInterrupt), interrupted(is_verified):
            ws.apply(renaming_edit(path), check="project")
        assert path.read_text(encoding="utf-8") == "def greet\n"
        assert ws.check("a.scr").verdict.clean, "the workspace is usable"


def test_an_interrupt_is_raised_also_if_the_edit_cannot_be_undone(tmp_path, scripted):
    """Another program has changed the file meanwhile."""
    argv, path = scripted(ENDLESS), tmp_path / "a.scr"

    def is_verified_and_changed() -> bool:
        if has_asked(argv, 2):
            path.write_text("something else\n", encoding="utf-8")
            return True
        return False

    with workspace(tmp_path, argv, text="def greet\n") as ws:
        with pytest.raises(KeyboardInterrupt) as raised, interrupted(is_verified_and_changed):
            ws.apply(renaming_edit(path), check="project")
        assert path.read_text(encoding="utf-8") == "something else\n"
    [note] = raised.value.__notes__
    assert note.startswith("an edit was not undone: ")


def test_an_edit_whose_verification_is_cancelled_is_undone(tmp_path, scripted):
    argv, path, cancel = scripted(ENDLESS), tmp_path / "a.scr", lspkit.CancelToken()
    with workspace(tmp_path, argv, text="def greet\n") as ws, ThreadPoolExecutor(1) as callers:
        edit = renaming_edit(path)
        applied = callers.submit(ws.apply, edit, check="project", cancel=cancel)
        assert comes_true(lambda: has_asked(argv, 2))
        assert path.read_text(encoding="utf-8") == "def meets\n"
        cancel.set()
        assert isinstance(applied.exception(20), lspkit.CancelledError)
        assert path.read_text(encoding="utf-8") == "def greet\n"


def has_asked(argv: list[str], times: int) -> bool:
    """Whether the server was asked for findings so often."""
    return len(Log.of(argv).messages(PULL)) >= times


def test_what_others_change_before_an_edit_is_seen_when_it_is_verified(
    tmp_path, scripted, monkeypatch
):
    """Both checks are parts of one call, and the second one has to look around anew."""
    monkeypatch.setattr(watcher_module, "POLL", 60.0)  # the watcher tells nothing by itself
    monkeypatch.setattr(disk_events, "Watcher", partial(Watcher, notifier=Notifier))
    slow = Fault(PULL, "delay", seconds=1.0, nth=2)
    argv = scripted(Script(diagnostics=BY_PULL, faults=[slow]))
    path, word = tmp_path / "b.scr", Range(Position(1, 1), Position(1, 5))
    edit = FileEdit(path, path.as_uri(), (TextEdit(word, "NEED"),), "need greet\n", "NEED greet\n")
    path.write_text("need greet\n", encoding="utf-8")
    with workspace(tmp_path, argv) as ws, ThreadPoolExecutor(1) as callers:
        ws.check("a.scr")  # it defines `greet`
        applied = callers.submit(ws.apply, WorkspaceEdit((edit,)), check="project")
        Log.of(argv).wait_for_message(PULL, 2)
        written_outside(tmp_path / "a.scr", "def nothing\n")
        assert isinstance(applied.exception(20), lspkit.RequestFailedError)
    assert path.read_text(encoding="utf-8") == "need greet\n"


def test_a_file_that_uses_the_edit_and_was_not_checked_in_time_is_named(tmp_path, scripted):
    path, word = tmp_path / "a.scr", Range(Position(1, 5), Position(1, 10))
    edit = FileEdit(path, path.as_uri(), (TextEdit(word, "meets"),), "def greet\n", "def meets\n")
    (tmp_path / "b.scr").write_text("fine\n", encoding="utf-8")
    edges = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    used = [{"uri": (tmp_path / "b.scr").as_uri(), "range": edges}]
    hangs = Fault(PULL, "hang", nth=4)  # both before the edit, a after it, and then b
    script = Script(diagnostics=BY_PULL, answers={REFERENCES: used}, faults=[hangs])
    with workspace(tmp_path, scripted(script), text="def greet\n") as ws:
        applied = ws.apply(WorkspaceEdit((edit,)), check="project", timeout=6)
    assert path.read_text(encoding="utf-8") == "def meets\n"
    [told] = applied.unchecked
    assert told.startswith(f"{tmp_path / 'b.scr'}: ")
