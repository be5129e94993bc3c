"""Cases that are run at the same time: each fails, or is skipped, by itself, and is run once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.side_by_side import SideBySide, selected


def test_a_case_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise AssertionError("wrong")

    def skip(_: Path) -> None:
        pytest.skip("not here")

    results = SideBySide(tmp_path, at_once=2)
    group = {"failing": fail, "missing": skip, "fine": lambda _: 3}
    with pytest.raises(AssertionError, match="wrong"):
        results.result("failing", group)
    with pytest.raises(pytest.skip.Exception, match="not here"):
        results.result("missing", group)
    assert results.result("fine", group) == 3


def test_all_of_a_group_are_run_at_once_and_once_each_in_a_folder_of_its_own(
    tmp_path: Path,
) -> None:
    both, places = threading.Barrier(2), []

    def run(place: Path) -> None:
        both.wait(20)  # for the other one
        places.append(place)

    results = SideBySide(tmp_path, at_once=2)
    for name in ("a", "b", "a"):
        results.result(name, {"a": run, "b": run})
    assert sorted(places) == [tmp_path / "0", tmp_path / "1"]


SKIPPED = pytest.mark.skip(reason="the case of a skipped test, which must not be selected")


@pytest.mark.parametrize("number", [1, 2, pytest.param(3, marks=SKIPPED)])
def test_what_is_selected_are_the_values_of_the_tests_of_this_module_that_are_run(
    number: int, request: pytest.FixtureRequest
) -> None:
    assert number in selected(request, "number")
    assert set(selected(request, "number")) <= {1, 2}
    assert selected(request, "nothing") == []
