"""The last changes, and what is known to be missing."""

from __future__ import annotations

from threading import Lock

import pytest

from lspkit.runtime.pool import disk_events
from lspkit.runtime.pool.disk_events import Changelog


@pytest.fixture
def files(tmp_path):
    paths = [str(tmp_path / name) for name in "abcde"]
    for path in paths:
        open(path, "w").close()
    return paths


def names(changed):
    return "".join(one.name for one in changed.files)


def test_each_mark_has_its_own_changes(files):
    log = Changelog(Lock())
    marks = []
    for path in files:
        marks.append(log.after(None).mark)
        log.add([path])
    assert [names(log.after(mark)) for mark in marks] == ["abcde", "bcde", "cde", "de", "e"]
    assert all(log.after(mark).complete for mark in marks)


def test_a_file_counts_once_and_one_that_is_gone_apart(files, tmp_path):
    log = Changelog(Lock())
    first = log.after(None).mark
    log.add([files[1], files[0], files[1], str(tmp_path / "gone")])
    assert names(log.after(first)) == "ab"
    assert log.after(first).deleted == (tmp_path / "gone",)


def test_what_was_forgotten_is_not_claimed(files, monkeypatch):
    monkeypatch.setattr(disk_events, "REMEMBERED", 2)
    log = Changelog(Lock())
    first = log.after(None).mark
    log.add(files[:2])
    assert (names(log.after(first)), log.after(first).complete) == ("ab", True)
    log.add(files[2:3])
    assert (names(log.after(first)), log.after(first).complete) == ("bc", False)
    assert (names(log.after(first + 1)), log.after(first + 1).complete) == ("bc", True)


def test_a_mark_from_before_a_gap_is_incomplete(files):
    log = Changelog(Lock())
    before = log.after(None).mark
    log.interrupted()
    after = log.after(None).mark
    log.add(files[:1])
    assert (names(log.after(before)), log.after(before).complete) == ("a", False)
    assert (names(log.after(after)), log.after(after).complete) == ("a", True)


def test_a_mark_of_another_log_is_never_complete(files):
    older, newer = Changelog(Lock()), Changelog(Lock())
    newer._first = newer._count = newer._gap = older._first + 1  # made a microsecond later
    for log in (older, newer):
        log.add(files[:1])
    foreign = [older.after(newer.after(None).mark), newer.after(older._first)]
    assert [(names(one), one.complete) for one in foreign] == [("a", False)] * 2
