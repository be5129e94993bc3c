"""Files that come and go, or are away, for so short a time that nobody could be told of it.

A server that was about to answer may have looked at the disk by itself just then. So it is told how
things are, as soon as that is known.
"""

from __future__ import annotations

from tests.runtime.test_watched_files import happened, listening, watching
from tests.runtime.told import CREATED, DELETED, outside

ALL = listening("**/*")


def test_sources_that_came_and_went_are_told_to_be_gone(tmp_path, scripted):
    with watching(tmp_path, scripted(ALL)) as (_, log):
        brief = (tmp_path / name for name in ("file.scr", "file.tmp", "folder"))
        come, go = "a.touch(); b.touch(); c.mkdir()", "a.unlink(); b.unlink(); c.rmdir()"
        outside(f"a, b, c = paths; {come}; {go}", *brief)
        told = happened(log, tmp_path)
        assert {("file.scr", DELETED), ("folder", DELETED)} <= {*told}
        assert told.count(("file.tmp", DELETED)) == told.count(("file.tmp", CREATED))


def test_a_source_that_was_away_is_told_to_be_there(tmp_path, scripted):
    """It may have been looked for in vain, and a change is none of what is not there."""
    away = tmp_path / "away.scr"
    away.touch()
    with watching(tmp_path, scripted(ALL)) as (_, log):
        outside("a, b = paths; a.rename(b); b.rename(a)", away, tmp_path / "b.tmp")
        assert ("away.scr", CREATED) in happened(log, tmp_path)


def test_a_source_that_is_replaced_was_never_away(tmp_path, scripted):
    replaced = tmp_path / "replaced.scr"
    replaced.touch()
    with watching(tmp_path, scripted(ALL)) as (_, log):
        outside("a, b = paths; b.touch(); b.replace(a)", replaced, tmp_path / "b.tmp")
        assert ("replaced.scr", CREATED) not in happened(log, tmp_path)
