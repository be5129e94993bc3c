"""Modules that take long are run first, and the quick loop reads only modules that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIRST_FOLDERS, turn
from tests.long_tests import LONG, reason_of
from tests.unread_modules import is_unread, marks_of_all, unwanted_marks

#: What `make check` runs.
QUICK = "not server and not slow"

ROOT = Path(__file__).resolve().parent.parent


def test_the_folders_that_come_first_are_there() -> None:
    assert [folder for folder in FIRST_FOLDERS if not (ROOT / folder).is_dir()] == []


def test_comparisons_come_first_then_real_servers_then_properties_then_the_rest() -> None:
    folders = ["tests", "property_tests", "tests/real", "tests/agent", "tests/real/same"]
    assert sorted((f"{ROOT}/{one}" for one in folders), key=turn) == [
        f"{ROOT}/{one}"
        for one in ("tests/real/same", "tests/real", "property_tests", "tests", "tests/agent")
    ]


def test_each_row_of_the_table_of_long_tests_is_of_a_module_that_is_there() -> None:
    places = [row.place.partition("::")[0] for row in LONG]
    assert [place for place in places if not any(ROOT.glob(f"{place}*"))] == []


def test_a_kept_test_of_a_long_module_is_not_long() -> None:
    compilers = "tests/real/same/test_same_as_compilers.py::test"
    assert reason_of(f"{compilers}[ruff-own]") == "whole packages against compilers"
    assert reason_of(f"{compilers}[ty-pendulum]") == ""


def test_each_test_of_a_module_that_is_left_unread_carries_a_mark_that_leaves_it_out(
    request: pytest.FixtureRequest,
) -> None:
    """Over all tests of this run; only one of the whole suite sees every module."""
    wrong = [
        item.nodeid
        for item in request.session.items
        if any(is_unread(place, QUICK) for place in (item.path, item.path.parent))
        and not unwanted_marks(QUICK) & {mark.name for mark in item.iter_markers()}
    ]
    assert wrong == []


def test_the_quick_loop_is_what_the_makefile_runs() -> None:
    assert f'-m "{QUICK}"' in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("expression", "marks"),
    [
        ("", set()),
        ("slow", set()),
        ("not slow", {"slow"}),
        (QUICK, {"server", "slow"}),
        ("server and not slow", {"slow"}),
        ("not server and not slow or real", set()),
        ("not (server and not slow)", set()),
    ],
)
def test_a_mark_is_unwanted_only_where_no_test_that_has_it_is_run(
    expression: str, marks: set[str]
) -> None:
    assert unwanted_marks(expression) == marks


def test_the_marks_of_a_module_are_those_of_its_place_and_of_its_own_statement() -> None:
    folder = ROOT / "tests"
    assert marks_of_all(folder / "real" / "test_links.py") == {"server", "slow"}
    assert marks_of_all(folder / "real" / "test_near_the_top.py") >= {"server", "slow"}
    assert marks_of_all(folder / "faults" / "test_matrix.py") == {"slow"}
    assert marks_of_all(folder / "test_docs.py") == set()  # only some of its tests have marks
