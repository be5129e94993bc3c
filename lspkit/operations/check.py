"""Diagnostics of files: fresh ones with a verdict, and those that are known."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.diagnostics.report import Evidence, OtherFiles, Report, verdict_of, why_of
from lspkit.errors import LspkitError, PathError, RequestFailedError
from lspkit.limits import MOST_RELATED
from lspkit.operations import effects
from lspkit.operations.position_translation import Translator, make_translator
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.results import WireDiagnostic, read_diagnostics
from lspkit.types import Diagnostic, RelatedLocation, Severity, Verdict
from lspkit.workspace_boundary import absolute_path

#: `DiagnosticSeverity`.
SEVERITIES = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.INFO, 4: Severity.HINT}
TAGS = {1: "unnecessary", 2: "deprecated"}


class CheckRequest(FileRequest[Report], frozen=True, kw_only=True):
    """Check one file."""

    #: `project` adds the other files that its servers know.
    scope: Literal["file", "project"] = "file"
    #: The severities that count for the verdict; None: as configured.
    severities: tuple[str, ...] | None = None


class CheckAllRequest(Request[dict[Path, Report]], frozen=True, kw_only=True):
    """Check several files."""

    paths: tuple[str, ...]
    severities: tuple[str, ...] | None = None
    #: The folder of relative paths.
    root: str = ""


class CheckOthersRequest(Request[OtherFiles], frozen=True, kw_only=True):
    """Check the other files that the servers of these files know."""

    #: The changed files, which are not checked themselves.
    paths: tuple[str, ...]
    scope: effects.OtherScope = effects.OtherScope()


class DiagnosticsRequest(Request[dict[Path, list[Diagnostic]]], frozen=True, kw_only=True):
    """Get the known diagnostics."""

    path: str | None = None


#: Files that are checked at once: each of them is open in its servers meanwhile.
AT_ONCE = 64


@operation("check", CheckRequest, Report)
def check(request: CheckRequest) -> effects.Effects[Report]:
    """A report about the file as it is now, or with the content `text`."""
    scope = effects.OtherScope() if request.scope == "project" else None
    found: effects.Examination = yield effects.Examine(request.path, request.text, scope)
    if request.severities is not None:
        found = msgspec.structs.replace(found, severities=request.severities)
    diagnostics, servers = yield from _merge(found.uri, found.servers)
    counted = [one for one in diagnostics if one.severity.value in found.severities]
    report = Report(
        path=found.path,
        verdict=verdict_of(counted, servers),
        diagnostics=diagnostics,
        servers=servers,
        duration=found.duration,
        other_files=(yield from _other_files(found.others, found.severities)),
        stale_diagnostics=(yield from _stale_diagnostics(found)),
        severities=found.severities,
        max_per_file=found.most,
    )
    return (yield from _compare(report, found))


def _merge(
    uri: str, examined: Iterable[effects.Examined]
) -> effects.Effects[tuple[list[Diagnostic], list[Evidence]]]:
    """The findings of all servers, each once, in order; and the evidence of each server."""
    merged: dict[tuple[Any, ...], Diagnostic] = {}
    servers: list[Evidence] = []
    for one in examined:
        read, unreadable = yield from _read(one, uri, one.lists)
        servers.append(_evidence(one, unreadable))
        for finding in read:
            _add(merged, finding)
    return [merged[key] for key in sorted(merged)], servers


def _read(
    one: effects.Examined, uri: str, lists: Iterable[bytes]
) -> effects.Effects[tuple[list[Diagnostic], int]]:
    if one.view is None:
        return [], 0
    return (yield from read_findings(effects.Reply(one.server, b"", one.view), uri, lists))


def _other_files(
    found: effects.OthersExamined, severities: tuple[str, ...]
) -> effects.Effects[OtherFiles]:
    if found.coverage == "none":
        return OtherFiles()
    by_path: dict[str, list[Diagnostic]] = {}
    unknown: dict[str, str] = {}
    everybody: list[Evidence] = []
    for elsewhere in found.elsewhere:
        diagnostics, servers = yield from _merge(elsewhere.uri, elsewhere.servers)
        everybody += servers
        path = uri_to_path(elsewhere.uri) or elsewhere.uri
        if diagnostics:
            by_path[str(diagnostics[0].path or path)] = diagnostics
        if why := why_of(servers):
            unknown[path] = why
    counted = [one for all in by_path.values() for one in all if one.severity.value in severities]
    # Without other files there are no findings in them.
    verdict = verdict_of(counted, everybody) if found.elsewhere else Verdict.CLEAN
    by_path, unknown = dict(sorted(by_path.items())), dict(sorted(unknown.items()))
    return OtherFiles(found.coverage, verdict, by_path, unknown)


@operation("check_others", CheckOthersRequest, OtherFiles)
def check_others(request: CheckOthersRequest) -> effects.Effects[OtherFiles]:
    """The findings in the other files as they are now."""
    found: effects.OthersExamined = yield effects.ExamineOthers(request.paths, request.scope)
    return (yield from _other_files(found, found.severities))


def _stale_diagnostics(found: effects.Examination) -> effects.Effects[list[Diagnostic]]:
    """Earlier findings of the servers that have not answered."""
    known: dict[tuple[Any, ...], Diagnostic] = {}
    for one in found.servers:
        if not one.memories:
            continue
        read, _ = yield from _read(one, found.uri, one.memories)
        known |= {(finding.range, finding.message): finding for finding in read}
    return [known[key] for key in sorted(known)]


def _compare(report: Report, found: effects.Examination) -> effects.Effects[Report]:
    """Add the comparison with the state before the edit; store a proven state for the next one."""
    views = (one.view for one in found.servers if one.how != "none" and one.view is not None)
    view = next(views, None)
    if view is None:
        return report
    if found.before is not None:
        answered = {one.server for one in report.servers if one.applies}
        answered -= {one.server for one in report.servers if one.applies and not one.proven}
        introduced, fixed, remaining = compare_findings(
            found.before, view.text, report.diagnostics, answered
        )
        report = msgspec.structs.replace(
            report, introduced=introduced, fixed=fixed, remaining=remaining
        )
    if found.on_disk and all(one.proven for one in report.servers if one.applies):
        yield effects.Remember(found.path, Before(view.text, tuple(report.diagnostics)))
    return report


def _add(merged: dict[tuple[Any, ...], Diagnostic], finding: Diagnostic) -> None:
    key = (finding.range, finding.message)
    merged[key] = merge_finding(merged[key], finding) if key in merged else finding


def merge_finding(one: Diagnostic, other: Diagnostic) -> Diagnostic:
    """Merge a finding that two servers report: the worse severity, and both servers."""
    worse = min(one, other, key=lambda finding: finding.severity.rank)
    servers = tuple(dict.fromkeys((*one.servers, *other.servers)))
    return msgspec.structs.replace(worse, servers=servers)


def _evidence(one: effects.Examined, unreadable: int) -> Evidence:
    if unreadable:
        # One of these may be an error, so the absence of errors is not proven.
        reason = f"{unreadable} of its findings could not be decoded"
        return Evidence(
            one.server,
            None,
            "none",
            one.duration,
            reason=reason,
            source=one.source,
            interpreter=one.interpreter,
        )
    version = one.view.version if one.view is not None and one.how != "none" else None
    return Evidence(
        one.server,
        version,
        one.how,
        one.duration,
        one.timed_out,
        one.reason,
        one.source,
        one.code,
        interpreter=one.interpreter,
    )


def read_findings(
    reply: effects.Reply, uri: str, lists: Iterable[bytes]
) -> effects.Effects[tuple[list[Diagnostic], int]]:
    """The findings in a server's raw lists about a file, and how many cannot be decoded."""
    read = [read_diagnostics(raw) for raw in lists]
    wires = [wire for one in read for wire in one.items]
    dropped = sum(one.dropped for one in read)
    if not wires:
        return [], dropped  # no URI to look up
    related = [
        place[0]
        for wire in wires
        for info in (wire.related_information or ())[:MOST_RELATED]
        if (place := info.location.place) is not None
    ]
    translate = yield from make_translator(reply, [uri, *related])
    found = [_finding(wire, uri, reply.server, translate) for wire in wires]
    return found, dropped


def severity_from_number(number: int | None) -> Severity:
    """The severity for a number of the protocol. None is an error; an unknown number is info."""
    return Severity.ERROR if number is None else SEVERITIES.get(number, Severity.INFO)


def _finding(wire: WireDiagnostic, uri: str, server: str, translate: Translator) -> Diagnostic:
    place = translate.place(uri)
    related = tuple(
        RelatedLocation(translate.location(*at), info.message)
        for info in (wire.related_information or ())[:MOST_RELATED]
        if (at := info.location.place) is not None
    )
    return Diagnostic(
        path=place.path,
        range=translate.range(place.text, wire.range),
        severity=severity_from_number(wire.severity),
        message=wire.text,
        uri=uri,
        code="" if wire.code is None else str(wire.code),
        source=wire.source or "",
        servers=(server,),
        tags=tuple(TAGS.get(tag, str(tag)) for tag in wire.tags or ()),
        related=related,
        href=(wire.code_description.href if wire.code_description else None) or "",
    )


@operation("check_all", CheckAllRequest, dict[Path, Report])
def check_all(request: CheckAllRequest) -> effects.Effects[dict[Path, Report]]:
    """A report about each file. A file that cannot be checked is unknown, with the reason."""
    reports: dict[Path, Report] = {}
    for first in range(0, len(request.paths), AT_ONCE):
        paths = request.paths[first : first + AT_ONCE]
        checks = tuple(CheckRequest(path=one, severities=request.severities) for one in paths)
        results: list[Report | LspkitError] = yield effects.DoAll(checks)
        for path, result in zip(paths, results, strict=True):
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


def unchecked_report(path: str, problem: LspkitError) -> Report:
    """A report about a file that cannot be checked: it is unknown, with the reason."""
    server = getattr(problem, "server", "")
    rule = getattr(problem, "rule", "")
    evidence = Evidence(
        server, None, "none", 0.0, reason=problem.message, code=problem.code, rule=rule
    )
    return Report(Path(path), verdict_of([], [evidence]), [], [evidence], duration=0.0)


@operation("diagnostics", DiagnosticsRequest, dict[Path, list[Diagnostic]])
def diagnostics(request: DiagnosticsRequest) -> effects.Effects[dict[Path, list[Diagnostic]]]:
    """The findings by file, sorted by path and line. No server is asked."""
    reports: list[effects.KnownDiagnostics] = yield effects.TakeKnownDiagnostics(request.path)
    by_file: dict[Path, dict[tuple[Any, ...], Diagnostic]] = {}
    for report in reports:
        nowhere = View("", Text(""), 0, report.encoding)
        reply = effects.Reply(report.server, b"", nowhere)
        found, dropped = yield from read_findings(reply, report.uri, (report.items,))
        if dropped:
            message = f"{dropped} of the findings of {report.server} cannot be decoded"
            yield effects.ReportUndecodable((RequestFailedError(message, server=report.server),))
        for finding in found:
            if finding.path is None:
                continue
            _add(by_file.setdefault(finding.path, {}), finding)
    return {path: [by_file[path][key] for key in sorted(by_file[path])] for path in sorted(by_file)}
