"""Which tests are `long`: `make test` leaves them out, and `make test-long` runs them.

Besides tests with the mark `long` these are modules and tests of a table. Of each test that starts
processes all cases are long but one: the one with the first server of `QUICKEST`, or else the
first. Every server that everybody can get starts and answers in both runs.
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
#: Tried with each server of `NEVER_SKIP` in `make test`.
OF_EVERY_SERVER = "tests/real/test_every_server_starts.py"
OTHER_CASES = "other servers and values of a test that starts processes"


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
    Long("tests/service/test_process_stop_command.py::test_a_service_that_hangs", "waits long"),
    Long("tests/real/test_left_out_places.py", "many projects and servers", ("_first_references",)),
    Long("tests/real/test_disk_changes.py::test_a_pyrightconfig", "pyright reads anew"),
    Long("tests/real/test_disk_changes.py::test_svelte_sees", "a seldom used server"),
    Long("tests/real/test_disk_changes.py::test_a_linter_that", "several servers start"),
    Long("tests/real/test_headers.py::test_a_header_that_changes_with_its_user", "many rounds"),
    Long("tests/real/test_go.py::test_many_new_packages", "many rounds"),
    Long("tests/real/test_open_files_of_python.py", "many starts of pyright", ("another_text",)),
    Long("tests/real/test_operations.py", "every operation in every encoding", ("[ty-utf-16]",)),
    Long("tests/real/test_src_layout.py::test_the_findings", "many starts of pyright"),
    Long("tests/real/test_apply.py::test_a_rename_that_fails", "every step of an edit"),
    Long("tests/real/test_passed_over.py::test_bash_without", "many processes"),
    Long("tests/hosts/test_interrupts.py::test_1000", "many rounds"),
    Long("tests/hosts/test_hosts.py::test_threads_may_open", "many rounds"),
    Long(
        "tests/hosts/test_notebooks.py",
        "an interpreter for each case",
        ("test_the_first_workspace", "test_the_page"),
    ),
    Long("tests/service/test_same_results.py", "every operation, which a real server says as well"),
    Long(
        "tests/service/test_process_end.py",
        "a process for each case",
        ("on_a_signal", "after_sigkill", "after_the_idle_time"),
    ),
    Long("tests/service/test_process_config.py", "a process for each case", ("_changed_",)),
    Long("tests/service/test_process_all_services.py", "several services", ("with_their_clients",)),
    Long("tests/service/test_process_stop_command.py::test_it_ends_also", "several services"),
    Long("tests/service/test_process_stop_command.py::test_a_service_that_takes", "waits long"),
    Long("tests/service/test_process_check_deadline.py", "waits long", ("gives_up_while",)),
    Long("tests/service/test_process_election.py", "many processes", ("share_one_service",)),
    Long("tests/service/test_process_debug_records.py", "a process for each door"),
    Long("tests/service/test_process_status_command.py", "many processes", ("with_a_service",)),
    Long("tests/service/test_connections.py::test_an_edit_of_40_mib", "much to send"),
    Long("tests/service/test_process_bad_clients.py::test_large_requests", "much to send"),
    Long("tests/runtime/concurrency/test_lock_order.py::test_locks_are_taken", "a large workload"),
    Long("tests/runtime/server/test_write_queue.py::test_many_large_texts", "much to send"),
    Long("tests/runtime/server/test_hostile_servers.py", "floods", ("patterns_without_end",)),
    Long("tests/runtime/pool/test_busy_servers.py::test_a_server_that_reads", "waits long"),
    Long("tests/runtime/exchange/test_forwarding.py::test_one_that_never", "waits long"),
    Long("tests/runtime/watch/test_tree_snapshot.py::test_very_deep", "very many folders"),
    Long(
        "tests/faults/test_environment.py::test_a_host_without_descriptors",
        "a server that starts waits long",
        ("reading, taken",),
    ),
    Long("tests/faults/test_environment.py::test_4_callers", "a flood"),
    Long("tests/faults/test_environment.py::test_a_place_in_a_file", "many rounds"),
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
        elif _starts_processes(item) and not item.get_closest_marker("long"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same_test in cases.values():
        kept = min(same_test, key=_turn)
        for item in same_test:
            if item is not kept:
                item.add_marker(pytest.mark.long(reason=OTHER_CASES))


def _starts_processes(item: pytest.Item) -> bool:
    """The cells of the fault matrix have marks of their own."""
    is_slow = item.get_closest_marker("server") or item.get_closest_marker("slow")
    return bool(is_slow) and not item.nodeid.startswith("tests/faults/test_matrix.py")


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
