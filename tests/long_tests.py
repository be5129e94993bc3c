"""Which tests are `long`: `make test` leaves them out, and `make test-long` runs them.

Besides tests with the mark `long` these are modules and tests of a table. Of each test in the
folders `ONE_CASE` all cases are long but one: the one with the first server of `QUICKEST`, or else
the first. Every server that everybody can get starts and answers in both runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import pytest

from tests.real_servers import NEVER_SKIP

_A = TypeVar("_A")
_B = TypeVar("_B")

#: By how soon they answer after their start.
QUICKEST = ("ty", "ruff", "typescript-7", "typescript", "basedpyright", "bash")
#: Real servers, and processes of the service, start in each test of these.
ONE_CASE = ("tests/real/", "tests/service/test_process_")
#: Tried with each server of `NEVER_SKIP` in `make test`.
OF_EVERY_SERVER = "tests/real/test_every_server_starts.py"
OTHER_CASES = "other servers and values of a test that `make test` runs"


class Long(NamedTuple):
    """Tests that take long."""

    #: The beginning of their names, from the folder of the checkout.
    place: str
    reason: str
    #: Those of them that `make test` runs all the same: parts of their names.
    kept: tuple[str, ...] = ()


LONG = (
    Long("tests/real/same/test_same_as", "whole packages against compilers", ("[ty-pendulum]",)),
    Long("tests/real/test_cargo.py", "cargo builds and checks a project"),
    Long("tests/real/test_foreign_files.py", "Java starts a seldom used server"),
    Long("tests/real/test_vue.py", "two seldom used servers start"),
    Long("tests/real/test_yaml_edits.py", "a race over many rounds on a seldom used server"),
    Long("tests/real/test_transcript.py", "a whole session"),
    Long("tests/real/test_passed_over.py::test_rust", "cargo checks a project"),
    Long("tests/real/test_headers.py::test_a_header_that_changes_with_several", "many rounds"),
    Long("tests/real/test_left_out_places.py::test_a_word_in_a_template", "a seldom used server"),
    Long("tests/real/test_left_out_places.py::test_a_component_is", "a seldom used server"),
    Long(
        "tests/real/test_every_operation.py",
        "every operation of every server",
        ("TestTy::", "TestTypescript7::", "TestClangd::"),
    ),
    Long(
        "tests/service/test_same_real_results.py",
        "every operation of two servers",
        ("TestTy::",),
    ),
    Long("tests/service/test_process_all_services.py::test_all_services_are_ended", "waits long"),
    Long("tests/service/test_process_stop_command.py::test_a_service_that_hangs", "waits long"),
    Long("tests/service/test_connections.py::test_an_edit_of_40_mib", "much to send"),
    Long(
        "tests/faults/test_environment.py::test_a_host_without_descriptors",
        "a server that starts waits long",
        ("reading, taken",),
    ),
    Long("tests/faults/test_random_answers.py::test_random_answers_end", "many rounds", ("[0]",)),
)


def reason_of(name: str) -> str:
    """Why the table says that a test is long; empty if it does not."""
    for row in LONG:
        if name.startswith(row.place) and not any(part in name for part in row.kept):
            return row.reason
    return ""


def mark_long(items: Sequence[pytest.Item]) -> None:
    """Mark what is long by the table, and of tests of real servers all cases but one."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        reason = reason_of(item.nodeid)
        if reason:
            item.add_marker(pytest.mark.long(reason=reason))
        elif item.nodeid.startswith(OF_EVERY_SERVER):
            if not _servers(item) <= NEVER_SKIP:
                item.add_marker(pytest.mark.long(reason="a seldom used server"))
        elif item.nodeid.startswith(ONE_CASE) and item.get_closest_marker("long") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same_test in cases.values():
        kept = min(same_test, key=_turn)
        for item in same_test:
            if item is not kept:
                item.add_marker(pytest.mark.long(reason=OTHER_CASES))


def _turn(item: pytest.Item) -> int:
    """The place of the case's server in `QUICKEST`."""
    turns = [QUICKEST.index(server) for server in _servers(item) if server in QUICKEST]
    return min(turns, default=len(QUICKEST))


def _servers(item: pytest.Item) -> set[str]:
    call = getattr(item, "callspec", None)
    values: Iterable[Any] = call.params.values() if call is not None else ()
    names = (value if isinstance(value, str) else getattr(value, "server", "") for value in values)
    return {name for name in names if name}


def some_pairs(rows: Iterable[_A], columns: Sequence[_B], every: int) -> list[Any]:
    """All pairs as parameters, of which those on every so many diagonals are not long: each row
    and each column is among these."""
    long = pytest.mark.long(reason="the same with another pair of values")
    return [
        pytest.param(row, column, marks=() if (line + place) % every == 0 else long)
        for line, row in enumerate(rows)
        for place, column in enumerate(columns)
    ]
