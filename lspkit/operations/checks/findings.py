"""The findings in servers' answers, decoded, and each once if several servers have it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from lspkit.diagnostics.report import Evidence
from lspkit.errors import RequestFailedError
from lspkit.limits import MOST_RELATED
from lspkit.operations import host_results
from lspkit.operations.host import Host
from lspkit.operations.position_translation import Translator, make_translator
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.wire.results import WireDiagnostic, read_diagnostics
from lspkit.types import Diagnostic, RelatedLocation, Severity

#: `DiagnosticSeverity`.
SEVERITIES = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.INFO, 4: Severity.HINT}
TAGS = {1: "unnecessary", 2: "deprecated"}


def merge_findings(
    host: Host, uri: str, examined: Iterable[host_results.Examined]
) -> tuple[list[Diagnostic], list[Evidence]]:
    """The findings of all servers, each once, in order; and the evidence of each server."""
    merged: dict[tuple[Any, ...], Diagnostic] = {}
    servers: list[Evidence] = []
    for server in examined:
        read, unreadable = read_lists(host, server, uri, server.lists)
        servers.append(_evidence(server, unreadable))
        for finding in read:
            add_finding(merged, finding)
    return [merged[key] for key in sorted(merged)], servers


def read_lists(
    host: Host, examined: host_results.Examined, uri: str, lists: Iterable[bytes]
) -> tuple[list[Diagnostic], int]:
    """The findings in lists of one server, and how many cannot be decoded."""
    if examined.view is None:
        return [], 0
    reply = host_results.Reply(examined.server, b"", examined.view)
    return read_findings(host, reply, uri, lists)


def add_finding(merged: dict[tuple[Any, ...], Diagnostic], finding: Diagnostic) -> None:
    """Add a finding to others by place and message."""
    key = (finding.range, finding.message)
    merged[key] = merge_finding(merged[key], finding) if key in merged else finding


def merge_finding(first: Diagnostic, second: Diagnostic) -> Diagnostic:
    """Merge a finding that two servers report: the worse severity, and both servers."""
    worse = min(first, second, key=lambda finding: finding.severity.rank)
    servers = tuple(dict.fromkeys((*first.servers, *second.servers)))
    return msgspec.structs.replace(worse, servers=servers)


def _evidence(examined: host_results.Examined, unreadable: int) -> Evidence:
    if unreadable:
        # One of these may be an error, so the absence of errors is not proven.
        reason = f"{unreadable} of its findings could not be decoded"
        return Evidence(
            examined.server,
            None,
            "none",
            examined.duration,
            reason=reason,
            source=examined.source,
            interpreter=examined.interpreter,
        )
    version = (
        examined.view.version if examined.view is not None and examined.how != "none" else None
    )
    return Evidence(
        examined.server,
        version,
        examined.how,
        examined.duration,
        examined.timed_out,
        examined.reason,
        examined.source,
        examined.code,
        interpreter=examined.interpreter,
    )


def read_findings(
    host: Host, reply: host_results.Reply, uri: str, lists: Iterable[bytes]
) -> tuple[list[Diagnostic], int]:
    """The findings in a server's raw lists about a file, and how many cannot be decoded."""
    read = [read_diagnostics(raw) for raw in lists]
    wires = [wire for decoded in read for wire in decoded.items]
    dropped = sum(decoded.dropped for decoded in read)
    if not wires:
        return [], dropped  # no URI to look up
    related = [
        place[0]
        for wire in wires
        for info in (wire.related_information or ())[:MOST_RELATED]
        if (place := info.location.place) is not None
    ]
    translate = make_translator(host, reply, [uri, *related])
    return [_finding(wire, uri, reply.server, translate) for wire in wires], dropped


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


def known_findings(
    host: Host, reports: Iterable[host_results.KnownDiagnostics]
) -> dict[Path, list[Diagnostic]]:
    """The findings of earlier reports by file, sorted by path and line."""
    by_file: dict[Path, dict[tuple[Any, ...], Diagnostic]] = {}
    for report in reports:
        nowhere = View("", Text(""), 0, report.encoding)
        reply = host_results.Reply(report.server, b"", nowhere)
        findings, dropped = read_findings(host, reply, report.uri, (report.items,))
        if dropped:
            message = f"{dropped} of the findings of {report.server} cannot be decoded"
            host.report_undecodable([RequestFailedError(message, server=report.server)])
        for finding in findings:
            if finding.path is None:
                continue
            add_finding(by_file.setdefault(finding.path, {}), finding)
    return {path: [by_file[path][key] for key in sorted(by_file[path])] for path in sorted(by_file)}
