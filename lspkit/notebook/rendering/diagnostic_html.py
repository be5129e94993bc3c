"""Findings and reports of checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from lspkit.diagnostics.render import select_worst
from lspkit.diagnostics.report import Report
from lspkit.notebook.rendering.html_parts import (
    MOST_ROWS,
    Sources,
    badge,
    code,
    joined,
    left_out,
    line,
    muted,
    place,
    table,
    text,
)
from lspkit.notebook.rendering.location_html import marked_line
from lspkit.types import Diagnostic, Severity, Verdict, display_path

#: Red, green and blue.
SEVERITY_COLOURS = {
    Severity.ERROR: "220,40,40",
    Severity.WARNING: "230,150,0",
    Severity.INFO: "40,120,220",
    Severity.HINT: "128,128,128",
}
VERDICT_COLOURS = {
    Verdict.CLEAN: "40,160,60",
    Verdict.DIRTY: "220,40,40",
    Verdict.UNKNOWN: "128,128,128",
}
#: Characters of a message.
LONGEST_MESSAGE = 500


def diagnostics_html(found: Sequence[Diagnostic], sources: Sources) -> str:
    """The most severe findings: severity, place, message and server."""
    shown = select_worst(found, MOST_ROWS)
    rows = [
        (
            badge(one.severity.value, SEVERITY_COLOURS[one.severity]),
            place(one.path, one.uri, one.range.start),
            _message(one) + _source(one, sources),
            muted(joined(one.servers or (one.source,), longest=60)),
        )
        for one in shown
    ]
    return table(("severity", "place", "message", "server"), rows, len(found) - len(rows))


def _message(one: Diagnostic) -> str:
    rule = f" {muted(f'({text(one.code, 100)})')}" if one.code else ""
    return f"{text(one.message, LONGEST_MESSAGE)}{rule}"


def _source(one: Diagnostic, sources: Sources) -> str:
    """The source line of a finding in a cell. A file may differ from the text that was checked."""
    if one.path is None or one.path.is_absolute():
        return ""
    shown = marked_line(sources(one.path, one.range.start.line), one.range)
    return f"<br/>{shown}" if shown else ""


def reports_html(found: Sequence[Report], sources: Sources) -> str:
    """Reports, one below the other: verdict, reason and findings of each."""
    if len(found) == 1:
        return _report(found[0], sources)
    rows = [(_verdict(one), _file(one.path), _numbers(one)) for one in found[:MOST_ROWS]]
    heads = table(("verdict", "file", "findings"), rows, len(found) - len(rows))
    findings = list(chain.from_iterable(one.diagnostics for one in found))
    return heads + (diagnostics_html(findings, sources) if findings else "")


def _report(one: Report, sources: Sources) -> str:
    head = f"{_verdict(one)} {_file(one.path)} {muted(f'{one.duration:.1f} s')}"
    why = line(text(one.why)) if one.verdict is Verdict.UNKNOWN and one.why else ""
    shown = diagnostics_html(one.diagnostics, sources) if one.diagnostics else ""
    return line(head) + why + shown + _compared(one) + _others(one, sources)


def _compared(one: Report) -> str:
    if one.introduced is None or one.fixed is None or one.remaining is None:
        return ""
    counts = (("introduced", one.introduced), ("fixed", one.fixed), ("remaining", one.remaining))
    told = ", ".join(f"{len(findings)} {word}" for word, findings in counts)
    return line(muted(told)) if one.introduced or one.fixed or one.remaining else ""


def _others(one: Report, sources: Sources) -> str:
    others = one.other_files
    if others.coverage == "none":
        return ""
    head = f"other files ({text(others.coverage, 40)}): {_verdict_badge(others.verdict)}"
    findings = list(chain.from_iterable(others.diagnostics.values()))
    rest = left_out(len(others.unknown)) if others.unknown and not findings else ""
    return line(head) + (diagnostics_html(findings, sources) if findings else rest)


def _verdict(one: Report) -> str:
    return _verdict_badge(one.verdict)


def _verdict_badge(verdict: Verdict) -> str:
    return badge(verdict.value, VERDICT_COLOURS[verdict])


def _file(path: Path) -> str:
    return code(display_path(path))


def _numbers(one: Report) -> str:
    if one.verdict is Verdict.UNKNOWN and not one.diagnostics:
        return muted(text(one.why))
    counts = dict.fromkeys(Severity, 0)
    for finding in one.diagnostics:
        counts[finding.severity] += 1
    return text(", ".join(f"{number} {word.value}" for word, number in counts.items() if number))


def known_diagnostics_html(found: Mapping[Path, Sequence[Diagnostic]], sources: Sources) -> str:
    """The findings of several files."""
    return diagnostics_html(list(chain.from_iterable(found.values())), sources)
