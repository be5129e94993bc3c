"""What the hooks remember of one agent: only of files that are there, and not too much."""

from __future__ import annotations

import os
from pathlib import Path

from lspkit.agent.hooks.agent_session import (
    LARGEST,
    MOST_CHARACTERS,
    MOST_FILES,
    MOST_KEPT,
    AgentSession,
    FileState,
)
from lspkit.types import Diagnostic, Position, Range, Severity

FINDING = Diagnostic(
    None, Range(Position(1, 1), Position(1, 2)), Severity.ERROR, "wrong", "file:///a.scr"
)


def break_file(session: AgentSession, path: Path, text: str = "wrong\n") -> None:
    """Note that an edit has introduced a finding."""
    path.touch()
    session.take_findings(str(path), text, FileState([FINDING], None, (), {""}))


def test_a_broken_file_that_is_gone_or_is_a_folder_now_makes_room_for_others(tmp_path):
    session = AgentSession()
    for number in range(1 + MOST_FILES):
        break_file(session, tmp_path / f"{number}.scr")
    for number in range(1, 1 + MOST_FILES):
        (tmp_path / f"{number}.scr").unlink()
    (tmp_path / "1.scr").mkdir()
    assert session.broken_files() == [str(tmp_path / "0.scr")]


def test_an_edit_without_an_answer_of_a_file_that_is_a_folder_now_does_not_wait(tmp_path):
    session, path = AgentSession(), tmp_path / "a.scr"
    session.begin_check(str(path), None)
    session.abandon_checks([str(path)])
    path.touch()
    assert session.waiting_files() == [str(path)]
    path.unlink()
    path.mkdir()
    assert session.waiting_files() == []


def test_a_removed_file_is_forgotten_by_each_of_its_names(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    session, path = AgentSession(), tmp_path / "folder" / "a.scr"
    break_file(session, path)
    path.unlink()
    session.forget(str(tmp_path / "link" / "a.scr"))
    path.touch()
    assert session.broken_files() == []


def test_the_last_edits_without_an_answer_are_kept(tmp_path):
    session = AgentSession()
    paths = [str(tmp_path / f"{number}.scr") for number in range(MOST_KEPT + 1)]
    for path in paths:
        Path(path).touch()
        session.begin_check(path, "before\n")
    session.abandon_checks(paths)
    assert session.waiting_files()[0] == paths[1]


def test_the_texts_that_are_kept_for_an_agent_are_bounded(tmp_path):
    session, most = AgentSession(), MOST_CHARACTERS // LARGEST
    paths = [tmp_path / f"{number}.scr" for number in range(most + 1)]
    for path in paths:
        break_file(session, path, "x" * LARGEST)
        session.begin_check(str(path), "x" * LARGEST)
    session.abandon_checks(map(os.fspath, paths))
    assert session.broken_files() == [str(path) for path in reversed(paths[1:])]
    assert session.waiting_files() == [str(path) for path in paths[1:]]


def test_the_texts_of_the_last_reads_are_kept_and_taken_once(tmp_path):
    session, most = AgentSession(), MOST_CHARACTERS // LARGEST
    paths = [tmp_path / f"{number}.scr" for number in range(most + 1)]
    for path in paths:
        path.write_text("x" * LARGEST, encoding="utf-8")
        session.note_read([str(path)])
    taken = [session.take_text(str(path)) for path in paths]
    assert taken == [None, *["x" * LARGEST] * most]
    assert session.take_text(str(paths[-1])) is None


def test_a_large_text_is_not_kept(tmp_path):
    path = tmp_path / "a.scr"
    path.write_text("x" * (LARGEST + 1), encoding="utf-8")
    session = AgentSession()
    session.note_read([str(path)])
    assert session.take_text(str(path)) is None
