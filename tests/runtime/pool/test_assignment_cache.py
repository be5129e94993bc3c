"""What is remembered of which servers files have."""

from __future__ import annotations

import pytest

from lspkit.config import Config
from lspkit.errors import NoServerError
from lspkit.runtime.pool import assignment_cache
from lspkit.runtime.pool.assignment_cache import Assignment, AssignmentCache

ONE, LIKE_IT, OTHER = "/project/one.py", "/project/two.py", "/project/deep/one.py"


@pytest.fixture
def nothing(monkeypatch) -> Assignment:
    """A file that has no server, until 10 by the clock or until PATH is another."""
    monkeypatch.setenv("PATH", "/here")
    return Assignment(10.0, "/here", [], [NoServerError("none")])


def test_what_is_known_of_a_file_is_known_of_others_of_its_kind(nothing):
    served = AssignmentCache(Config())
    served.keep(ONE, nothing, served.turnover)
    assert served.known.get(ONE) is nothing
    assert served.known.get(LIKE_IT) is None
    assert served.like_another(LIKE_IT, 9.0) is nothing
    assert served.known.get(LIKE_IT) is nothing
    assert served.like_another(OTHER, 9.0) is None


def test_but_only_while_it_holds(nothing, monkeypatch):
    served = AssignmentCache(Config())
    served.keep(ONE, nothing, served.turnover)
    assert served.like_another(LIKE_IT, 10.0) is None
    monkeypatch.setenv("PATH", "/there")
    assert served.like_another(LIKE_IT, 9.0) is None


def test_what_was_found_out_before_a_change_does_not_count_after_it(nothing):
    served = AssignmentCache(Config())
    began = served.turnover
    served.choose_again()
    served.keep(ONE, nothing, began)
    assert served.known.get(ONE) is None
    assert served.like_another(LIKE_IT, 9.0) is None
    served.keep(ONE, nothing, served.turnover)
    served.choose_again(Config())
    assert served.known.get(ONE) is None
    assert served.like_another(LIKE_IT, 9.0) is None


def test_no_more_than_so_many_files_are_remembered(nothing, monkeypatch):
    monkeypatch.setattr(assignment_cache, "MANY", 3)
    served = AssignmentCache(Config())
    for number in range(9):
        served.keep(f"/project/{number}.py", nothing, served.turnover)
    known = [number for number in range(9) if served.known.get(f"/project/{number}.py") is not None]
    assert known[-1] == 8
    assert len(known) <= 3
