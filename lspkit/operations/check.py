"""Fresh diagnostics of a file, and the verdict on it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import msgspec

from lspkit.diagnostics.report import Evidence, Report, verdict_of
from lspkit.errors import LspkitError
from lspkit.operations.effects import DoAll, Effect, Examination, Examine, Examined, Reply
from lspkit.operations.places import Translator, translator
from lspkit.operations.request import FileRequest, Request, operation
from lspkit.protocol.shapes import WireDiagnostic, read_diagnostics
from lspkit.types import Diagnostic, Related, Severity

#: `DiagnosticSeverity`. A server that says nothing means an error; what nobody knows is not hidden.
SEVERITIES = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.INFO, 4: Severity.HINT}
TAGS = {1: "unnecessary", 2: "deprecated"}


class Check(FileRequest[Report], frozen=True, kw_only=True):
    """Is this file in order?"""


class CheckAll(Request[dict[Path, Report]], frozen=True, kw_only=True):
    """Are these files in order?"""

    paths: tuple[str, ...]


#: So many files are under way at once: each of them is open in its servers meanwhile.
AT_ONCE = 64


@operation("check", Check, Report)
def check(request: Check) -> Generator[Effect, Any, Report]:
    """A report about the file as it is now, or as `text` has it."""
    found: Examination = yield Examine(request.path, request.text)
    merged: dict[tuple[Any, ...], Diagnostic] = {}
    servers: list[Evidence] = []
    for examined in found.servers:
        read: list[Diagnostic] = []
        unreadable = 0
        if examined.view is not None:
            reply = Reply(examined.server, b"", examined.view)
            read, unreadable = yield from findings(reply, found.uri, examined.lists)
        servers.append(_evidence(examined, unreadable))
        for finding in read:
            key = (finding.range, finding.message)
            known = merged.get(key)
            merged[key] = finding if known is None else _both(known, finding)
    diagnostics = [merged[key] for key in sorted(merged)]
    counted = [one for one in diagnostics if one.severity.value in found.severities]
    return Report(
        path=found.path,
        verdict=verdict_of(counted, servers),
        diagnostics=diagnostics,
        other_files={},
        servers=servers,
        duration=found.duration,
        severities=found.severities,
        max_per_file=found.most,
    )


def _both(one: Diagnostic, other: Diagnostic) -> Diagnostic:
    """A finding that two servers share: the worse severity, and both names."""
    worse = min(one, other, key=lambda finding: finding.severity.rank)
    servers = tuple(dict.fromkeys((*one.servers, *other.servers)))
    return msgspec.structs.replace(worse, servers=servers)


def _evidence(one: Examined, unreadable: int) -> Evidence:
    if unreadable:
        # One of them may have been an error, so its silence about errors proves nothing.
        reason = f"{unreadable} of its findings could not be read"
        return Evidence(one.server, None, "none", one.duration, reason=reason)
    version = one.view.version if one.view is not None and one.how != "none" else None
    return Evidence(one.server, version, one.how, one.duration, one.timed_out, one.reason)


def findings(
    reply: Reply, uri: str, lists: Iterable[bytes]
) -> Generator[Effect, Any, tuple[list[Diagnostic], int]]:
    """What a server's raw lists say about a file, and how many findings make no sense."""
    read = [read_diagnostics(raw) for raw in lists]
    wires = [wire for one in read for wire in one.items]
    related = [
        place[0]
        for wire in wires
        for info in wire.related_information or ()
        if (place := info.location.place) is not None
    ]
    translate = yield from translator(reply, [uri, *related])
    found = [_finding(wire, uri, reply.server, translate) for wire in wires]
    return found, sum(one.dropped for one in read)


def _finding(wire: WireDiagnostic, uri: str, server: str, translate: Translator) -> Diagnostic:
    place = translate.place(uri)
    related = tuple(
        Related(translate.location(*at), info.message)
        for info in wire.related_information or ()
        if (at := info.location.place) is not None
    )
    severity = Severity.ERROR if wire.severity is None else SEVERITIES.get(wire.severity)
    return Diagnostic(
        path=place.path,
        range=translate.range(place.text, wire.range),
        severity=severity or Severity.INFO,
        message=wire.text,
        uri=uri,
        code="" if wire.code is None else str(wire.code),
        source=wire.source or "",
        servers=(server,),
        tags=tuple(TAGS.get(tag, str(tag)) for tag in wire.tags or ()),
        related=related,
        href=(wire.code_description.href if wire.code_description else None) or "",
    )


@operation("check_all", CheckAll, dict[Path, Report])
def check_all(request: CheckAll) -> Generator[Effect, Any, dict[Path, Report]]:
    """A report about each file. One that nobody can check is unknown, with the reason."""
    reports: dict[Path, Report] = {}
    for first in range(0, len(request.paths), AT_ONCE):
        paths = request.paths[first : first + AT_ONCE]
        results: list[Report | LspkitError] = yield DoAll(tuple(Check(path=one) for one in paths))
        for path, result in zip(paths, results, strict=True):
            report = result if isinstance(result, Report) else _unchecked(path, result)
            reports[report.path] = report
    return {path: reports[path] for path in sorted(reports)}


def _unchecked(path: str, problem: LspkitError) -> Report:
    server = getattr(problem, "server", "")
    evidence = Evidence(server, None, "none", 0.0, reason=problem.message)
    return Report(
        path=Path(path),
        verdict=verdict_of([], [evidence]),
        diagnostics=[],
        other_files={},
        servers=[evidence],
        duration=0.0,
    )
