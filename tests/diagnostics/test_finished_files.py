"""When a server that says so is done with the last text of a file."""

from __future__ import annotations

import pytest

from lspkit.diagnostics import finished_files
from lspkit.diagnostics.finished_files import FinishedFiles
from lspkit.diagnostics.store import StoredReport

A, B = "file:///a", "file:///b"


def working(*steps: tuple[str, float]) -> FinishedFiles:
    """A server that was sent version 3 of a file at 10, after steps before and before others."""
    files, said = FinishedFiles(), None
    for what, at in sorted([("send", 10.0), *steps], key=lambda one: one[1]):
        if what == "send":
            files.sent(A, 3, at)
        elif what == "works":
            files.works(A, at)
        elif what == "rests":
            files.rests(A, at, said)
        else:
            said = StoredReport(A, int(what.removeprefix("push")), b"[]", at, epoch=1)
    return files


def has_worked(*steps: tuple[str, float]) -> bool:
    found = working(*steps).get(A)
    assert found is not None
    return found.worked


def test_it_is_done_when_it_has_begun_after_the_text():
    found = working(("works", 11.0), ("rests", 12.0)).get(A)
    assert found is not None
    assert (found.uri, found.since, found.at, found.worked) == (A, 12.0, 12.0, True)


def test_it_is_not_done_while_it_works():
    assert working(("rests", 9.0), ("works", 11.0)).get(A) is None


def test_it_may_say_several_times_that_it_is_done():
    found = working(("works", 11.0), ("rests", 12.0), ("rests", 13.0)).get(A)
    assert found is not None
    assert (found.since, found.at, found.worked) == (12.0, 13.0, True)


def test_what_it_was_done_with_before_the_text_does_not_count():
    assert not has_worked(("works", 8.0), ("rests", 9.0))
    assert not has_worked(("works", 8.0), ("rests", 9.0), ("push3", 11.0), ("rests", 11.1))


def test_work_that_began_before_the_text_may_be_about_the_one_before():
    assert not has_worked(("works", 9.0), ("rests", 11.0))
    assert not has_worked(("works", 9.0), ("push2", 10.5), ("rests", 11.0))
    assert not has_worked(("works", 9.0), ("rests", 11.0), ("push3", 11.2), ("rests", 11.3))


def test_it_is_about_the_text_if_it_publishes_that_meanwhile():
    assert has_worked(("works", 9.0), ("push3", 10.5), ("rests", 11.0))
    assert has_worked(("works", 9.0), ("push4", 10.5), ("rests", 11.0))


def test_it_is_about_the_text_if_it_begins_once_more():
    steps = (("works", 9.0), ("rests", 11.0), ("works", 11.5), ("rests", 12.0))
    assert has_worked(*steps)


def test_a_file_that_it_was_never_sent_needs_no_work():
    files = FinishedFiles()
    files.rests(B, 1.0, None)
    rested = files.get(B)
    assert rested is not None
    assert rested.worked
    assert files.get(A) is None


def test_not_more_files_than_that_are_remembered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finished_files, "MOST_REPORTED_FILES", 3)
    files = FinishedFiles()
    for number in range(5):
        files.rests(f"file:///{number}", float(number), None)
    assert [number for number in range(5) if files.get(f"file:///{number}")] == [2, 3, 4]
