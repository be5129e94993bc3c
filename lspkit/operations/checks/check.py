"""Diagnostics of files: fresh ones with a verdict, and those that are known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec

from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.diagnostics.report import Report, unchecked_report, verdict_of, worst_verdict
from lspkit.errors import LspkitError, PathError
from lspkit.operations import host_results
from lspkit.operations.checks.dependent_files import (
    EditedFile,
    compare_others,
    find_dependents,
    proven_servers,
    search_again,
)
from lspkit.operations.checks.findings import known_findings, merge_findings, read_lists
from lspkit.operations.host import Host, OtherScope
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.types import Diagnostic, Severity
from lspkit.workspace_boundary import absolute_path


class CheckRequest(FileRequest[Report], frozen=True, kw_only=True):
    """Check one file."""

    #: `project` adds the other files that its servers know.
    scope: Literal["file", "project"] = "file"
    #: Findings of this severity, and worse ones, count for the verdict; None: as configured.
    severity: Severity | None = None
    #: Seconds for a check without other files; None: the time of the call.
    seconds: float | None = None

    @property
    def is_about_many_files(self) -> bool:
        """Those of a project may be many."""
        return self.scope == "project"


class CheckAllRequest(Request[dict[Path, Report]], frozen=True, kw_only=True):
    """Check several files."""

    paths: tuple[str, ...]
    severity: Severity | None = None
    #: The folder of relative paths.
    root: str = ""
    #: Seconds for each file; None: the time of the call.
    seconds: float | None = None

    @property
    def is_about_many_files(self) -> bool:
        """As many as the caller has named."""
        return True


class DiagnosticsRequest(Request[dict[Path, list[Diagnostic]]], frozen=True, kw_only=True):
    """Get the known diagnostics."""

    path: str | None = None


#: Files that are checked at once: each of them is open in its servers meanwhile.
AT_ONCE = 64


@operation("check", CheckRequest, Report)
def check(request: CheckRequest, host: Host) -> Report:
    """A report about the file as it is now, or with the content `text`."""
    if request.scope == "project":
        return check_project(request, host)
    examination = host.examine(request.path, request.text, seconds=request.seconds)
    return _report(request, host, examination)


def check_project(request: CheckRequest, host: Host) -> Report:
    """A report whose verdict is that of the file and of the others that its servers know."""
    edited = (EditedFile(request.path, None, request.text),)
    search = find_dependents(host, edited)
    scope = OtherScope(dependents=search.dependents)
    examination = host.examine(request.path, request.text, scope)
    again = search_again(host, search, edited)
    if again is not search and again.lines:
        search, scope = again, OtherScope(dependents=again.dependents)
        examination = host.examine(request.path, request.text, scope)
    report = _report(request, host, examination)
    others = compare_others(
        host, examination.others, search, report.severity, on_disk=examination.on_disk
    )
    if request.text is None:
        host.note_text(request.path)
    verdict = worst_verdict([report.verdict, others.verdict])
    return msgspec.structs.replace(report, other_files=others, verdict=verdict)


def _report(request: CheckRequest, host: Host, examination: host_results.Examination) -> Report:
    if request.severity is not None:
        examination = msgspec.structs.replace(examination, severity=request.severity)
    diagnostics, servers = merge_findings(host, examination.uri, examination.servers)
    counted = [finding for finding in diagnostics if finding.severity.counts(examination.severity)]
    report = Report(
        path=examination.path,
        verdict=verdict_of(counted, servers),
        diagnostics=diagnostics,
        servers=servers,
        duration=examination.duration,
        stale_diagnostics=_stale_diagnostics(host, examination),
        severity=examination.severity,
        max_per_file=examination.most,
    )
    return _compare(host, report, examination)


def _stale_diagnostics(host: Host, examination: host_results.Examination) -> list[Diagnostic]:
    """Earlier findings of the servers that have not answered."""
    known: dict[tuple[Any, ...], Diagnostic] = {}
    for server in examination.servers:
        if not server.memories:
            continue
        read, _ = read_lists(host, server, examination.uri, server.memories)
        known |= {(finding.range, finding.message): finding for finding in read}
    return [known[key] for key in sorted(known)]


def _compare(host: Host, report: Report, examination: host_results.Examination) -> Report:
    """Add the comparison with the state before the edit; store a proven state for the next one."""
    views = (
        server.view
        for server in examination.servers
        if server.how != "none" and server.view is not None
    )
    view = next(views, None)
    if view is None:
        return report
    if examination.before is not None:
        introduced, fixed, remaining = compare_findings(
            examination.before, view.text, report.diagnostics, proven_servers(report.servers)
        )
        report = msgspec.structs.replace(
            report, introduced=introduced, fixed=fixed, remaining=remaining
        )
    if examination.on_disk and all(
        evidence.proven for evidence in report.servers if evidence.applies
    ):
        host.remember(examination.path, Before(view.text, tuple(report.diagnostics)))
    return report


@operation("check_all", CheckAllRequest, dict[Path, Report])
def check_all(request: CheckAllRequest, host: Host) -> dict[Path, Report]:
    """A report about each file. A file that cannot be checked is unknown, with the reason."""
    reports: dict[Path, Report] = {}
    checks = [
        CheckRequest(path=path, severity=request.severity, seconds=request.seconds)
        for path in request.paths
    ]
    results: list[Report | LspkitError] = host.do_all(checks, at_once=AT_ONCE)
    for path, result in zip(request.paths, results, strict=True):
        if not isinstance(result, Report):
            result = unchecked_report(_whole(path, request.root), result)
        report = result
        reports[report.path] = report
    return {path: reports[path] for path in sorted(reports)}


def _whole(path: str, root: str) -> str:
    try:
        return absolute_path(path, root)
    except PathError:  # no file can have this name
        return os.path.join(root, path)


@operation("diagnostics", DiagnosticsRequest, dict[Path, list[Diagnostic]])
def diagnostics(request: DiagnosticsRequest, host: Host) -> dict[Path, list[Diagnostic]]:
    """The findings by file, sorted by path and line. No server is asked."""
    reports = host.known_diagnostics(request.path)
    return known_findings(host, reports)
