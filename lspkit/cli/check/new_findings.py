"""Which findings are new since a git revision.

The files with findings are checked in the revision as well, and compared by `compare_findings`, so
that code that only moved is not new. A file that is clean now has nothing new, and is not checked
again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from lspkit.batch.sarif_log import read_text
from lspkit.cli.check.git_revision import Commit, Revision, export_revision
from lspkit.cli.check.progress_bar import progress_bar
from lspkit.cli.check.time_limit import TimeExpired, TimeLimit, alarm_at
from lspkit.config.load import load
from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.diagnostics.report import Report
from lspkit.servers.selection.choose import aliases
from lspkit.types import Diagnostic
from lspkit.workspace import Workspace

#: Why nothing is known about the state before.
NOT_READ = "the timeout expired before the revision was read"


class Comparison(msgspec.Struct, frozen=True):
    """Reports with what was introduced since a revision, and files that could not be compared."""

    reports: list[Report]
    #: Why it is not known what is new in a file.
    uncompared: dict[Path, str]


def compare_with(
    commit: Commit, ws: Workspace, reports: Sequence[Report], limit: TimeLimit
) -> Comparison:
    """Compare the reports with the state at a revision, as far as there is time."""
    dirty = [report for report in reports if report.counted]
    if not dirty:
        return Comparison(list(map(_unknown, reports)), {})
    with ExitStack() as stack:
        try:
            with alarm_at(limit.late):
                revision = stack.enter_context(export_revision(commit))
        except TimeExpired:
            why = f"its state at {commit.name} is not known: {NOT_READ}"
            return Comparison(list(map(_unknown, reports)), {report.path: why for report in dirty})
        places = {report.path: revision.before(str(report.path)) for report in dirty}
        old = _check_before(
            ws, revision, [path for path in places.values() if path], limit.deadline
        )
        compared, uncompared = list[Report](), dict[Path, str]()
        for report in reports:
            place = places.get(report.path, "")
            before = old.get(os.path.realpath(place)) if place else None
            if place and (why := _why_unknown(before)):
                uncompared[report.path] = f"its state at {commit.name} is not known: {why}"
            compared.append(_compare(report, before, revision))
    return Comparison(compared, uncompared)


def _check_before(
    ws: Workspace, revision: Revision, paths: list[str], deadline: float
) -> dict[str, Report]:
    """The reports about files of the revision, with the settings and the trust of the workspace."""
    if not paths:
        return {}
    standing = load(str(ws.root), aliases=aliases()).standing
    root = os.path.join(revision.folder, os.path.relpath(ws.root, revision.tree))
    os.makedirs(root, exist_ok=True)
    with Workspace(root, config=ws.config, trusted=standing.state == "trusted") as before:
        left = max(0.0, deadline - time.monotonic())
        with progress_bar(before, [Path(path) for path in paths], f"checking {revision.name}"):
            reports = before.check_all(paths, timeout=left)
        if time.monotonic() >= deadline:
            before.close(at_once=True)
    return {os.path.realpath(path): report for path, report in reports.items()}


def _why_unknown(before: Report | None) -> str:
    """Why the findings before are not known; empty if they are."""
    if before is None:
        return "it was not checked"
    silent = [
        evidence for evidence in before.servers if evidence.applies and evidence.how == "none"
    ]
    return "; ".join(
        f"{evidence.server}: {evidence.reason}" if evidence.server else evidence.reason
        for evidence in silent
    )


def _compare(report: Report, before: Report | None, revision: Revision) -> Report:
    """The report with what is new: everything, in a file that the revision does not have."""
    if not report.counted:
        return _unknown(report)
    if before is None:
        new = list(report.diagnostics)
        return msgspec.structs.replace(report, introduced=new, fixed=[], remaining=[])
    if _why_unknown(before):
        return _unknown(report)
    paths = {revision.folder: revision.tree}
    findings = tuple(_moved(finding, paths) for finding in before.diagnostics)
    answered = {
        evidence.server for evidence in report.servers if evidence.applies and evidence.proven
    }
    introduced, fixed, remaining = compare_findings(
        Before(read_text(before.path), findings),
        read_text(report.path),
        report.diagnostics,
        answered,
    )
    return msgspec.structs.replace(report, introduced=introduced, fixed=fixed, remaining=remaining)


def _unknown(report: Report) -> Report:
    """The report of a file whose findings before are not known; without findings none is new."""
    if report.counted:
        return msgspec.structs.replace(report, introduced=None, fixed=None, remaining=None)
    return msgspec.structs.replace(report, introduced=[], fixed=None, remaining=[])


def _moved(finding: Diagnostic, folders: Mapping[str, str]) -> Diagnostic:
    """A finding whose message names the folders of the work tree."""
    message = finding.message
    for old, new in folders.items():
        message = message.replace(old, new)
    return msgspec.structs.replace(finding, message=message)
