"""Locks are taken in the order that docs/architecture.md gives, and in no other.

A program that uses lspkit from several threads, with several servers, is run with locks that note
what else their thread holds (`lock_trace.py`, `lock_workload.py`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.runtime.concurrency.lock_trace import NAMED_BY_OWNER, sites
from tests.test_layers import circle

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "lspkit"
PAGE = ROOT / "docs" / "architecture.md"

NAME = r"`([\w.]+)`"
ROW = re.compile(rf"^\| {NAME} \| `(lspkit/[\w/]+\.py)` \| .+ \| (.+) \|$", re.M)
#: Stands for every lock below.
ANY = "any"
#: One thread waits for them, another one releases them: nobody holds them, and they have no order.
SEMAPHORES = {
    "Connection._something",
    "Peer._something",
    "Signal._lock",
    "Waiter.lock",
    "_Part._turn",  # nobody waits for it
    "_Part.ready",
    "_Worker.baton",
}

Edges = list[tuple[str, str, str]]


class Row(NamedTuple):
    """One row of the table: a lock, its file, and what may be taken while it is held."""

    name: str
    file: str
    then: frozenset[str]


def table(page: str) -> list[Row]:
    """The rows, from top to bottom."""
    section = page.partition("\n## Locks\n")[2].partition("\n## ")[0]
    found = ROW.findall(section)
    names = [name for name, _, _ in found]
    return [
        Row(
            name,
            file,
            frozenset(names[place + 1 :] if then == ANY else re.findall(NAME, then)),
        )
        for place, (name, file, then) in enumerate(found)
    ]


def upward(rows: list[Row]) -> list[str]:
    """What a row allows although it does not stand below it."""
    places = {row.name: place for place, row in enumerate(rows)}
    return [
        f"{row.name} allows {name}, which is not below it"
        for row in rows
        for name in row.then
        if places.get(name, -1) <= places[row.name]
    ]


def reachable(rows: list[Row]) -> dict[str, set[str]]:
    """What may be taken while each lock is held, directly or over others."""
    then: dict[str, set[str]] = {}
    for row in reversed(rows):
        then[row.name] = set(row.then).union(*(then.get(name, set()) for name in row.then))
    return then


def faults(edges: Edges, allowed: Mapping[str, set[str]]) -> list[str]:
    """One sentence for every lock that was taken where it may not be."""
    graph: dict[str, set[str]] = {}
    for held, taken, _ in edges:
        graph.setdefault(held, set()).add(taken)
    found = [
        f"{where}: {taken} was taken while {held} was held"
        for held, taken, where in edges
        if taken not in allowed.get(held, set())
    ]
    round_trip = circle(graph)
    if round_trip is not None:
        found.append(f"a circle: {' -> '.join(round_trip)}")
    return found


def traced(package: str, module: str, *arguments: str, folder: Path) -> dict[str, Any]:
    """What a program did with its locks."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.concurrency.lock_trace", package, module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


ROWS = table(PAGE.read_text(encoding="utf-8"))


def test_every_lock_of_the_code_is_in_the_table():
    found: set[tuple[str, str]] = set()
    for path in PACKAGE.rglob("*.py"):
        locks = [one for one in sites(path) if one.name.partition(".")[0] not in NAMED_BY_OWNER]
        owners = sites(path, tuple(NAMED_BY_OWNER))
        found |= {(one.name, path.relative_to(ROOT).as_posix()) for one in [*locks, *owners]}
    assert found == {(row.name, row.file) for row in ROWS}
    assert len(found) == len(ROWS)


def test_everything_else_that_locks_is_a_semaphore():
    makers = ("Condition", "Semaphore", "BoundedSemaphore", "Barrier", "allocate_lock")
    found = {one.name for path in PACKAGE.rglob("*.py") for one in sites(path, makers)}
    assert found - {row.name for row in ROWS} == SEMAPHORES
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in SEMAPHORES if f"`{name}`" not in page] == []


def test_the_table_is_short():
    """Who adds a lock first looks for one that already guards what its owner has."""
    assert len(ROWS) <= 25


def test_the_table_goes_downwards_only():
    assert upward(ROWS) == []


@pytest.mark.slow
def test_locks_are_taken_in_the_order_of_the_table(tmp_path):
    module = "tests.runtime.concurrency.lock_workload"
    found = traced("lspkit", module, str(tmp_path), folder=tmp_path)
    untaken = {row.name for row in ROWS} - set(found["taken"])
    # Elsewhere there are no guardian and no inotify.
    assert untaken == set() or sys.platform != "linux"
    edges = [tuple(edge) for edge in found["edges"]]
    assert faults(edges, reachable(ROWS)) == []
    # So much that the program is known to have done what it is for.
    pairs = {(held, taken) for held, taken, _ in edges}
    assert pairs >= {
        ("Watcher._delivery", "EventQueue.delivery"),
        ("EventQueue.delivery", "Pool._lock"),
        ("Pool._lock", "DocumentChannel.lock"),
        ("Teardown._lock", "Child._lock"),
    }


# The checker itself

#: Two threads, one after the other, so that they do not block each other here and now.
WRONG = """
import threading

class Account:
    def __init__(self):
        self._money = threading.Lock()
        self._name, self._log = threading.RLock(), threading.Lock()

    def pay(self):
        with self._money, self._log:
            pass

    def tell(self):
        with self._log, self._name, self._name:
            if not self._money.acquire(blocking=False):
                return
            self._money.release()
        with self._log:
            self._money.acquire(timeout=5)
            self._money.release()

def main():
    account = Account()
    for job in (account.pay, account.tell):
        thread = threading.Thread(target=job)
        thread.start()
        thread.join()
"""


@pytest.mark.slow
def test_two_orders_are_found_though_nobody_was_blocked(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    found = traced("wrong", "wrong", folder=tmp_path)
    money, name, log = "Account._money", "Account._name", "Account._log"
    edges = [tuple(edge) for edge in found["edges"]]
    # Not the one that did not wait, and not the one that was taken twice.
    assert [edge[:2] for edge in edges] == [(log, money), (log, name), (money, log)]
    allowed = {log: {money, name}, money: {log}}
    assert faults(edges, allowed) == [f"a circle: {log} -> {money} -> {log}"]
    assert faults(edges, {log: {name}, money: {log}})[0] == (
        f"wrong.py:19: {money} was taken while {log} was held"
    )


def test_two_locks_of_one_name_are_a_circle():
    assert faults([("A.x", "A.x", "a.py:1")], {"A.x": {"A.x"}}) == ["a circle: A.x -> A.x"]


def test_a_table_that_goes_upwards_is_found():
    rows = "| `A.x` | `lspkit/a.py` | one | any |\n| `B.y` | `lspkit/b.py` | two | `A.x` |\n"
    read = table(f"\n## Locks\n\n{rows}\n## More\n| `C.z` | `lspkit/c.py` | three | — |\n")
    assert [row.name for row in read] == ["A.x", "B.y"]
    assert upward(read) == ["B.y allows A.x, which is not below it"]
