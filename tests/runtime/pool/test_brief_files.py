"""Files that come and go, or are away, for so short a time that nobody could be told of it.

A server that was about to answer may have looked at the disk by itself just then. So it is told how
things are, as soon as that is known.
"""

from __future__ import annotations

import pytest

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers.definition_parts import DiskReactions
from tests.runtime.pool.test_disk_events import happened, listening, watching
from tests.runtime.server_log import CHANGED, CREATED, DELETED, batches, define, outside

ALL = listening("**/*")


def test_sources_that_came_and_went_are_told_to_be_gone(tmp_path, scripted):
    with watching(tmp_path, scripted(ALL)) as (_, log):
        brief = (tmp_path / name for name in ("file.scr", "file.tmp", "folder"))
        come, go = "a.touch(); b.touch(); c.mkdir()", "a.unlink(); b.unlink(); c.rmdir()"
        outside(f"a, b, c = paths; {come}; {go}", *brief)
        told = happened(log, tmp_path)
        assert {("file.scr", DELETED), ("folder", DELETED)} <= {*told}
        assert told.count(("file.tmp", DELETED)) == told.count(("file.tmp", CREATED))


@pytest.mark.parametrize(
    "act",
    [
        "a.rename(b); b.rename(a)",
        "a.unlink(); a.touch()",
        "a.unlink(); a.write_text('1'); a.write_text('2')",
        "c = a.parent; a.unlink(); c.rmdir(); c.mkdir(); a.touch()",
    ],
)
def test_a_file_that_was_away_is_told_to_be_gone_and_there_in_one_note(tmp_path, scripted, act):
    """It may have been looked for in vain, and a change is none of what is not there.

    And who has not looked may take no notice of a creation.
    """
    away = tmp_path / "folder" / "away.scr"
    away.parent.mkdir()
    away.touch()
    with watching(tmp_path, scripted(ALL)) as (_, log):
        outside(f"a, b = paths; {act}", away, tmp_path / "b.tmp")
        told = [one for one in happened(log, tmp_path) if one[0] == "away.scr"]
        assert told == [("away.scr", DELETED), ("away.scr", CREATED)]
        assert any(set(told) <= {*batch} for batch in batches(log))


def test_one_that_asks_only_for_changes_is_told_of_one(tmp_path, scripted):
    away = tmp_path / "away.scr"
    away.touch()
    changes = listening({"globPattern": "**/*.scr", "kind": 2})
    with watching(tmp_path, scripted(changes)) as (_, log):
        outside("a, b = paths; a.rename(b); b.rename(a)", away, tmp_path / "b.tmp")
        assert happened(log, tmp_path) == [("away.scr", CHANGED)]


def test_a_source_that_is_replaced_was_never_away(tmp_path, scripted):
    replaced = tmp_path / "replaced.scr"
    replaced.touch()
    with watching(tmp_path, scripted(ALL)) as (_, log):
        outside("a, b = paths; b.touch(); b.replace(a)", replaced, tmp_path / "b.tmp")
        assert ("replaced.scr", CREATED) not in happened(log, tmp_path)


def test_what_is_created_is_told_as_the_definition_says(tmp_path, scripted, monkeypatch):
    """A server may have read it by itself, and take no notice then of what is created."""
    define(
        monkeypatch,
        ProofRule(how="pull"),
        disk=DiskReactions(told_as={CREATED: (DELETED, CREATED)}),
    )
    with watching(tmp_path, scripted(ALL)) as (_, log):
        outside("paths[0].touch()", tmp_path / "new.scr")
        told = [kind for name, kind in happened(log, tmp_path) if name == "new.scr"]
        assert told == [DELETED, CREATED]
