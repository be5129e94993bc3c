"""The cells of the fault matrix: which there are, and what is done in one of them.

A workspace has two servers. One has the fault, the other is well and has to stay so. The question
that meets the fault is asked while the other server is asked, too; then the same question is asked
again, which has to be answered right, by the same process or by the next one.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lspkit
from lspkit.protocol.uris import path_to_uri
from lspkit.testing import Diagnostics, Log, Script
from tests.faults.operations import (
    OPERATIONS,
    SUBJECTS,
    WARM,
    WARM_METHOD,
    Operation,
    Subject,
    answers,
    show,
)
from tests.faults.table import AMPLE, BROKEN, MENDED, RIGHT, ROWS, UNREAD, Row

#: Seconds beyond its limit in which a call has to be back, on a machine that is busy.
SLACK = 2.0
#: So many operations of each fault are in the quick selection.
SAMPLED = 2
#: Makes the quick selection.
SEED = 1

NEIGHBOUR = Subject("n.ok", "peace")


@dataclass(frozen=True)
class Cell:
    """A fault, and the operations that meet it in one workspace."""

    row: Row
    operations: tuple[Operation, ...]

    @property
    def name(self) -> str:
        first = self.operations[0]
        what = f"all, {first.diagnostics}" if self.row.shared else first.name
        return f"{self.row.name} - {what}"


def all_cells() -> list[Cell]:
    """The whole matrix."""
    cells: list[Cell] = []
    for row in ROWS:
        groups: list[tuple[Operation, ...]] = [(one,) for one in OPERATIONS]
        if row.shared:  # a server either pushes or is asked
            groups = [
                tuple(one for one in OPERATIONS if one.diagnostics == how)
                for how in ("push", "pull")
            ]
        cells += [Cell(row, group) for group in groups]
    return cells


def quick_cells() -> set[str]:
    """Names of a selection in which every fault meets some operations, and every operation some
    faults: a diagonal through the table, with its columns shuffled."""
    columns = list(OPERATIONS)
    random.Random(SEED).shuffle(columns)
    chosen: set[str] = set()
    rows = [row for row in ROWS if not row.shared]
    for number, row in enumerate(rows):
        for step in range(SAMPLED):
            operation = columns[(number * SAMPLED + step) % len(columns)]
            chosen.add(Cell(row, (operation,)).name)
    return chosen


@dataclass(frozen=True)
class Outcome:
    """What came of one call."""

    #: The answer as text, or the code of the error.
    told: str
    seconds: float
    error: lspkit.LspkitError | None = None


def attempt(
    ws: lspkit.Workspace, operation: Operation, subject: Subject, timeout: float
) -> Outcome:
    """Ask once. An error that is none of lspkit's is raised, and fails the test."""
    began = time.monotonic()
    try:
        told, error = show(operation.ask(ws, subject, timeout)), None
    except lspkit.LspkitError as problem:
        told, error = problem.code, problem
    return Outcome(told, time.monotonic() - began, error)


def right(operation: Operation, subject: Subject) -> str:
    """The right answer."""
    return operation.right.format(file=subject.file, word=subject.word)


def judge(row: Row, operation: Operation, subject: Subject, outcome: Outcome) -> str:
    """What is wrong with an outcome; empty if nothing is."""
    expected = row.expected_of(operation)
    allowed = set(expected.allowed)
    if operation.goes_on and row.ends_later:
        allowed.add(BROKEN)
    if operation.begins_before and row.ends_unasked:  # its end may be known before the question
        allowed.add(RIGHT)
    answers = {
        RIGHT: right(operation, subject),
        MENDED: right(operation, subject),
        UNREAD: "42",
    }
    told = outcome.told.replace("\ufffd", "") if MENDED in allowed else outcome.told
    good = {answers.get(one, one) for one in allowed}
    if operation.is_check and any(one not in answers for one in allowed):
        good.add("unknown")
    if told not in good:
        return f"{outcome.told!r} is none of {sorted(good)} ({outcome.error!r})"
    if outcome.seconds > expected.timeout + SLACK:
        return f"it took {outcome.seconds:.2f} s of {expected.timeout} s"
    return ""


@contextmanager
def _workspace(folder: Path, faulty: list[str], well: list[str], row: Row) -> Iterator[Any]:
    for subject in (*SUBJECTS, WARM, NEIGHBOUR):
        (folder / subject.file).write_text(subject.text, encoding="utf-8")
    config = {
        "lsp": {
            "faulty": {"command": faulty, "extensions": [".scr"], "timing": dict(row.timing)},
            "well": {"command": well, "extensions": [".ok"]},
        },
        "restart": {"baseMs": 0, "jitter": 0},
    }
    with lspkit.Workspace(folder, config=config) as ws:
        yield ws


def _neighbour_is_well(ws: lspkit.Workspace) -> None:
    places = ws.definition(NEIGHBOUR.file, 2, 4, timeout=AMPLE)
    assert show(places) == f"{NEIGHBOUR.file}:1:5"


def _meet(ws: lspkit.Workspace, row: Row, operation: Operation) -> None:
    """The call that meets the fault, and the other server meanwhile."""
    timeout = row.expected_of(operation).timeout
    subjects = SUBJECTS[: row.callers]
    with ThreadPoolExecutor(row.callers) as callers:
        calls = [callers.submit(attempt, ws, operation, one, timeout) for one in subjects]
        _neighbour_is_well(ws)
        outcomes = [call.result() for call in calls]
    for subject, outcome in zip(subjects, outcomes, strict=True):
        assert not (wrong := judge(row, operation, subject, outcome)), wrong


def _wait_until_it_is_gone(ws: lspkit.Workspace) -> None:
    """Its end was noticed; an operation that goes on may have had it started anew by then."""
    deadline = time.monotonic() + AMPLE
    while not any(
        row.state == "broken"
        or any(0 < root.requests.crashes < root.requests.starts for root in row.roots)
        for row in ws.status().rows
        if row.server == "faulty"
    ):
        assert time.monotonic() < deadline, "the end of the server was not noticed"
        threading.Event().wait(0.005)


def _next_call_is_right(ws: lspkit.Workspace, folder: Path, row: Row, asked: Operation) -> None:
    if row.ends_later:
        _wait_until_it_is_gone(ws)
    if row.mended_by == "reload":
        ws.reload()
    subject = SUBJECTS[0]
    if asked.is_push:  # what a server had to say about a text, it says once
        (folder / subject.file).write_text(subject.text + "\n", encoding="utf-8")
    for _ in range(row.unnoticed):
        attempt(ws, asked, subject, row.expected.timeout)
    outcome = attempt(ws, asked, subject, row.next_timeout)
    assert outcome.told == right(asked, subject), f"the next call: {outcome}"


def run(cell: Cell, place: Path) -> None:
    """Everything that is said of a cell."""
    row = cell.row
    folder = place / "project"
    folder.mkdir(parents=True)
    script = Script(
        answers=answers(path_to_uri(str(folder / SUBJECTS[0].file))),
        diagnostics=Diagnostics(how=cell.operations[0].diagnostics),
        **row.orders(cell.operations[0]),
    )
    faulty, well = script.command(place / "faulty"), Script().command(place / "well")
    with _workspace(folder, faulty, well, row) as ws:
        ready = ws.submit(ws.definition, NEIGHBOUR.file, 2, 4, timeout=AMPLE)
        if not row.cold:
            ws.request(WARM.file, WARM_METHOD, timeout=AMPLE)
        ready.result(AMPLE)
        for operation in cell.operations:
            _meet(ws, row, operation)
            _next_call_is_right(ws, folder, row, operation)
            _neighbour_is_well(ws)
    assert len(Log.of(faulty).pids()) in row.starts
    assert len(Log.of(well).pids()) == 1
    # Whatever the server does, lspkit itself keeps to the protocol.
    assert Log.of(faulty).complaints() == []
    assert Log.of(well).complaints() == []
