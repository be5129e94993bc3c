"""Servers that watch files themselves, a moment late, and read one at once when it is closed."""

from __future__ import annotations

import os

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.definition_parts import DiskReactions
from lspkit.testing import Diagnostics, Log, Script
from tests.runtime.server_log import CLOSE, PULL, define, outside, told
from tests.scripted import workspace

BY_PULL = Script(diagnostics=Diagnostics(how="pull"))
CHANGE_THEM = """
for path in paths[:3]:
    path.write_text("new")
paths[3].unlink()
"""
NEW = ("new.scr", "old.scr")
CHANGED = ("open.scr", "new.scr", "changed.scr", "gone.scr")


@pytest.mark.parametrize("reads_closed", ["always", "never"])
def test_files_that_come_change_and_go_are_opened_and_closed(
    tmp_path, scripted, monkeypatch, reads_closed
):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(reads_closed=reads_closed))
    for name in ("changed.scr", "gone.scr", "open.scr"):
        (tmp_path / name).write_text("old\n", encoding="utf-8")
    argv = scripted(BY_PULL)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        ws.check("open.scr")
        outside(CHANGE_THEM, *(tmp_path / name for name in CHANGED))
        (tmp_path / "other.txt").write_text("not a source\n", encoding="utf-8")
        ws.check("a.scr")
    log = Log.of(argv)
    notes = told(log)
    shown = ["didOpen open.scr", "didChange open.scr", "didSave open.scr"]
    assert [one for one in notes if one.endswith(" open.scr")] == shown
    notes = [one for one in notes if not one.endswith((" open.scr", " a.scr"))]
    names = [one.partition(" ")[2] for one in notes[::2]]
    assert sorted(names) == (
        ["changed.scr", "gone.scr", "new.scr"] if reads_closed == "always" else []
    )
    assert notes == [f"{what} {name}" for name in names for what in ("didOpen", "didClose")]


def test_only_files_with_an_old_time_are_opened_where_nothing_else_is_missed(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(reads_closed="old"))
    argv = scripted(BY_PULL)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        old = "os.utime(paths[1], (10**9, 10**9))"
        outside(f"paths[0].touch(); paths[1].touch(); {old}", *map(tmp_path.joinpath, NEW))
        ws.check("a.scr")
    notes = [one for one in told(Log.of(argv)) if not one.endswith(" a.scr")]
    assert notes == ["didOpen old.scr", "didClose old.scr"]


@pytest.mark.skipif(os.name == "nt", reason="there a file has no time of its own change")
def test_a_file_that_was_written_just_now_may_get_the_time_of_the_one_before_it(
    tmp_path, scripted, monkeypatch
):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(reads_closed="old"))
    argv = scripted(BY_PULL)
    (tmp_path / "new.scr").write_text("one\n", encoding="utf-8")
    replaced = (
        "known = paths[0].stat(); paths[1].write_text('two'); "
        "os.utime(paths[1], ns=(known.st_atime_ns, known.st_mtime_ns)); "
        "os.replace(paths[1], paths[0])"
    )
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        (tmp_path / "new.scr").write_text("own\n", encoding="utf-8")
        ws.check("a.scr")
        outside(replaced, tmp_path / "new.scr", tmp_path / "beside.txt")
        ws.check("a.scr")
    notes = [one for one in told(Log.of(argv)) if not one.endswith(" a.scr")]
    assert notes == ["didOpen new.scr", "didClose new.scr"]


def test_the_question_comes_after_the_file_is_closed(tmp_path, scripted, monkeypatch):
    define(monkeypatch, ProofRule(how="pull"), disk=DiskReactions(reads_closed="always"))
    argv = scripted(BY_PULL)
    with workspace(tmp_path, argv, text="fine\n") as ws:
        ws.check("a.scr")
        outside("paths[0].write_text('new')", tmp_path / "new.scr")
        assert ws.check("a.scr").verdict.clean
    methods = [message.get("method") for message in Log.of(argv).messages()]
    assert [one for one in methods if one in (CLOSE, PULL)] == [PULL, CLOSE, PULL]
