"""The other files after an edit: what is known about them, and what of that still holds.

Nothing is searched. A server that pushes its findings tells by itself what an edit has done to
other files. One that has to be asked does not, so what it said before the edit may be wrong by now:
it is asked again about the files that it had something to say about, and about those that the agent
has lately dealt with, for as long as the edit may be waited for. What it does not confirm is not
shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from lspkit.diagnostics.report import Report
from lspkit.runtime.waiting import CancelLike
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

#: A server is asked again about so many files at most.
ASKED_AGAIN = 16

Known = Mapping[Path, Sequence[Diagnostic]]


class Standing(msgspec.Struct, frozen=True):
    """How the servers of the edited files have answered, by their ids."""

    #: They had to be asked.
    asked: frozenset[str] = frozenset()
    #: They have said nothing.
    silent: frozenset[str] = frozenset()
    #: Those who have answered in any way.
    answered: frozenset[str] = frozenset()


def standing_of(reports: Iterable[Report]) -> Standing:
    """By the evidence of the reports about the edited files."""
    evidence = [one for report in reports for one in report.servers if one.applies]
    answered = frozenset(one.server for one in evidence if one.how != "none")
    return Standing(
        asked=frozenset(one.server for one in evidence if one.how in ("pull", "ordered")),
        silent=frozenset(one.server for one in evidence) - answered,
        answered=answered,
    )


def others_now(
    ws: Workspace,
    reports: Mapping[Path, Report],
    severities: Sequence[str],
    recent: Iterable[Path],
    until: float,
    cancel: CancelLike | None,
) -> dict[Path, list[Diagnostic]]:
    """The known files besides those of the reports, as they are after the edit.

    `recent` are files that are worth a question; `until` is by the monotonic clock.
    """
    standing = standing_of(reports.values())
    if not standing.answered:
        return {}
    known = ws.diagnostics()
    confirmed: set[tuple[Path, str]] = set()
    doubtful = doubtful_of(known, standing, severities) if standing.asked else []
    again = [path for path in dict.fromkeys((*doubtful, *recent)) if path not in reports]
    left = until - time.monotonic()
    if standing.asked and again and left > 0:
        checked = ws.check_all(again[:ASKED_AGAIN], timeout=left, cancel=cancel)
        confirmed = confirmed_by(checked)
        known = ws.diagnostics()
    return holding(known, standing, confirmed, without=reports)


def doubtful_of(known: Known, standing: Standing, severities: Sequence[str]) -> list[Path]:
    """Files with findings that count, of servers that have to be asked; most findings first."""
    counts = {
        path: sum(
            one.severity.value in severities and not standing.asked.isdisjoint(one.servers)
            for one in findings
        )
        for path, findings in known.items()
    }
    return sorted((path for path in counts if counts[path]), key=lambda one: (-counts[one], one))


def confirmed_by(reports: Mapping[Path, Report]) -> set[tuple[Path, str]]:
    """Files and servers, where all that the server has to say about the file is proven."""
    evidence = [(path, one) for path, report in reports.items() for one in report.servers]
    unproven = {(path, one.server) for path, one in evidence if one.applies and not one.proven}
    return {(path, one.server) for path, one in evidence if one.applies} - unproven


def holding(
    known: Known, standing: Standing, confirmed: set[tuple[Path, str]], without: Iterable[Path]
) -> dict[Path, list[Diagnostic]]:
    """What is known and still holds; of a finding that several servers have, one."""
    left_out = set(without)
    found: dict[Path, list[Diagnostic]] = {}
    for path, findings in known.items():
        if path in left_out:
            continue
        merged: dict[object, Diagnostic] = {}
        for finding in findings:
            if not any(_holds(one, path, standing, confirmed) for one in finding.servers):
                continue
            key = (finding.range, finding.message)
            worse = min(finding, merged.get(key, finding), key=lambda one: one.severity.rank)
            merged[key] = worse
        if merged:
            found[path] = list(merged.values())
    return found


def _holds(server: str, path: Path, standing: Standing, confirmed: set[tuple[Path, str]]) -> bool:
    """A server that has nothing to do with the edited files says what it always said."""
    if server in standing.asked:
        return (path, server) in confirmed
    return server not in standing.silent


def introduced(now: Known, before: Known) -> dict[Path, list[Diagnostic]]:
    """What was not there before, in files whose own text is the same."""
    found: dict[Path, list[Diagnostic]] = {}
    for path, findings in now.items():
        old = {(one.range, one.message, one.code) for one in before.get(path, ())}
        new = [one for one in findings if (one.range, one.message, one.code) not in old]
        if new:
            found[path] = new
    return found
