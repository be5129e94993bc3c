"""Values as HTML: locations, calls, symbols, signatures, findings, reports, edits, states.

`rich_values.py` has the table which of these functions a value is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from lspkit.diagnostics.render import select_worst
from lspkit.diagnostics.report import Change, EditReport, Report
from lspkit.edit_types import CodeAction, FileEdit, FileOperation, WorkspaceEdit
from lspkit.notebook.rendering.html_parts import (
    MOST_ROWS,
    Sources,
    badge,
    code,
    exact,
    joined,
    left_out,
    line,
    muted,
    place,
    table,
    text,
)
from lspkit.servers.status import RootStatus, ServerState, ServerStatus, WorkspaceStatus
from lspkit.types import (
    Call,
    Diagnostic,
    HierarchyItem,
    Location,
    Range,
    Severity,
    Signature,
    SignatureHelp,
    Symbol,
    Verdict,
    display_path,
)
from lspkit.visible_text import bytes_text

#: Characters of a source line.
LONGEST_LINE = 200
_FOUND = "background:rgba(255,200,0,.35)"


def locations_html(locations: Sequence[Location], sources: Sources) -> str:
    """Each location with its source line, in which the range is marked."""
    rows = [
        (place(location.path, location.uri, location.range.start), source_html(location, sources))
        for location in locations[:MOST_ROWS]
    ]
    return table(("place", "source"), rows, len(locations) - len(rows))


def source_html(location: Location, sources: Sources) -> str:
    """The source line of a location; empty if it is not known."""
    if location.path is None:
        return ""
    return marked_line(sources(location.path, location.range.start.line), location.range)


def marked_line(whole: str, span: Range) -> str:
    """A source line without its indent, with the range marked as far as it is on this line."""
    indent = len(whole) - len(whole.lstrip())
    shown = whole[indent : indent + LONGEST_LINE]
    if not shown:
        return ""
    first = max(span.start.column - 1 - indent, 0)
    last = span.end.column - 1 - indent if span.end.line == span.start.line else len(shown)
    parts = [exact(shown[:first]), exact(shown[first:last]), exact(shown[max(first, last) :])]
    if parts[1]:
        parts[1] = f'<span style="{_FOUND}">{parts[1]}</span>'
    more = "…" if len(whole) - indent > LONGEST_LINE else ""
    return f'<code style="background:none;padding:0;white-space:pre">{"".join(parts)}{more}</code>'


def items_html(items: Sequence[HierarchyItem], _: Sources) -> str:
    """Items of a call or type hierarchy."""
    rows = [
        (named(item.kind, item.name, item.detail), place(item.path, item.uri, item.selection.start))
        for item in items[:MOST_ROWS]
    ]
    return table(("symbol", "place"), rows, len(items) - len(rows))


def calls_html(calls: Sequence[Call], _: Sources) -> str:
    """Callers or callees, with the positions of the calls."""
    rows = [
        (
            named(call.item.kind, call.item.name, call.item.detail),
            place(call.item.path, call.item.uri, call.item.selection.start),
            joined([range_.start for range_ in call.ranges[:20]]),
        )
        for call in calls[:MOST_ROWS]
    ]
    return table(("symbol", "place", "calls at"), rows, len(calls) - len(rows))


def named(kind: str, name: str, detail: str = "") -> str:
    """Kind, name and detail of a symbol."""
    more = f" {muted(text(detail, 100))}" if detail else ""
    return f"{muted(text(kind, 40))} <b>{code(name, 100)}</b>{more}"


#: Symbols of a tree, and levels of it.
MOST_SYMBOLS = 300
DEEPEST = 12


def symbols_html(symbols: Sequence[Symbol], _: Sources) -> str:
    """A tree. The file is shown once if all symbols are in it."""
    files = {(symbol.path, symbol.uri) for symbol in symbols}
    head = ""
    if len(files) == 1:
        path, uri = next(iter(files))
        head = line(f"<code>{text(display_path(path, uri))}</code>")
    lines, number = _tree(symbols, in_one_file=len(files) == 1)
    return head + "".join(lines) + left_out(number - MOST_SYMBOLS)


def _tree(symbols: Sequence[Symbol], *, in_one_file: bool) -> tuple[list[str], int]:
    """The lines that are shown, and the number of all symbols.

    Not recursive: a server may nest symbols deeper than Python nests calls.
    """
    lines: list[str] = []
    number, left = 0, [(symbol, 0) for symbol in reversed(symbols)]
    while left:
        symbol, depth = left.pop()
        number += 1
        left += [(child, depth + 1) for child in reversed(symbol.children)]
        if number <= MOST_SYMBOLS:
            lines.append(_line(symbol, min(depth, DEEPEST), in_one_file=in_one_file))
    return lines, number


def _line(symbol: Symbol, depth: int, *, in_one_file: bool) -> str:
    at = symbol.selection.start
    where = muted(text(at)) if in_one_file else place(symbol.path, symbol.uri, at)
    inside = (
        f" {muted(f'in {text(symbol.container, 100)}')}" if symbol.container and not depth else ""
    )
    shown = f"{named(symbol.kind, symbol.name, symbol.detail)}{inside} {where}"
    return f'<div style="padding-left:{depth * 1.5:g}em">{shown}</div>'


def signatures_html(help_: SignatureHelp, _: Sources) -> str:
    """The signatures; in the active one the active parameter is bold."""
    lines = [
        _signature(signature, help_.active_parameter if number == help_.active_signature else None)
        for number, signature in enumerate(help_.signatures[:20])
    ]
    return "".join(lines) + left_out(len(help_.signatures) - len(lines))


def _signature(signature: Signature, active: int | None) -> str:
    label, parameter = signature.label, ""
    if active is not None and 0 <= active < len(signature.parameters):
        parameter = signature.parameters[active].label
    before, marked, after = label.partition(parameter) if parameter else (label, "", "")
    shown = f"{text(before)}<b>{text(marked)}</b>{text(after)}"
    about = line(muted(text(signature.documentation))) if signature.documentation else ""
    return line(f"<code>{shown}</code>") + about


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


def diagnostics_html(findings: Sequence[Diagnostic], sources: Sources) -> str:
    """The most severe findings: severity, place, message and server."""
    shown = select_worst(findings, MOST_ROWS)
    rows = [
        (
            badge(finding.severity.value, SEVERITY_COLOURS[finding.severity]),
            place(finding.path, finding.uri, finding.range.start),
            _message(finding) + _source(finding, sources),
            muted(joined(finding.servers or (finding.source,), longest=60)),
        )
        for finding in shown
    ]
    return table(("severity", "place", "message", "server"), rows, len(findings) - len(rows))


def _message(finding: Diagnostic) -> str:
    rule = f" {muted(f'({text(finding.code, 100)})')}" if finding.code else ""
    return f"{text(finding.message, LONGEST_MESSAGE)}{rule}"


def _source(finding: Diagnostic, sources: Sources) -> str:
    """The source line of a finding in a cell. A file may differ from the text that was checked."""
    if finding.path is None or finding.path.is_absolute():
        return ""
    shown = marked_line(sources(finding.path, finding.range.start.line), finding.range)
    return f"<br/>{shown}" if shown else ""


def reports_html(reports: Sequence[Report], sources: Sources) -> str:
    """Reports, one below the other: verdict, reason and findings of each."""
    if len(reports) == 1:
        return _report(reports[0], sources)
    rows = [
        (_verdict(report), _file(report.path), _numbers(report)) for report in reports[:MOST_ROWS]
    ]
    heads = table(("verdict", "file", "findings"), rows, len(reports) - len(rows))
    findings = list(chain.from_iterable(report.diagnostics for report in reports))
    return heads + (diagnostics_html(findings, sources) if findings else "")


def _report(report: Report, sources: Sources) -> str:
    head = f"{_verdict(report)} {_file(report.path)} {muted(f'{report.duration:.1f} s')}"
    why = line(text(report.why)) if report.verdict is Verdict.UNKNOWN and report.why else ""
    shown = diagnostics_html(report.diagnostics, sources) if report.diagnostics else ""
    return line(head) + why + shown + _compared(report) + _others(report, sources)


def _compared(report: Report) -> str:
    if report.introduced is None or report.fixed is None or report.remaining is None:
        return ""
    counts = (
        ("introduced", report.introduced),
        ("fixed", report.fixed),
        ("remaining", report.remaining),
    )
    counted = ", ".join(f"{len(findings)} {word}" for word, findings in counts)
    return line(muted(counted)) if report.introduced or report.fixed or report.remaining else ""


def _others(report: Report | EditReport, sources: Sources) -> str:
    others = report.other_files
    if others.coverage == "none":
        return ""
    head = f"other files ({text(others.coverage, 40)}): {_verdict_badge(others.verdict)}"
    findings = list(chain.from_iterable(others.diagnostics.values()))
    rest = left_out(len(others.unknown)) if others.unknown and not findings else ""
    return line(head) + (diagnostics_html(findings, sources) if findings else rest)


def _verdict(report: Report) -> str:
    return _verdict_badge(report.verdict)


def _verdict_badge(verdict: Verdict) -> str:
    return badge(verdict.value, VERDICT_COLOURS[verdict])


def _file(path: Path) -> str:
    return code(display_path(path))


def _numbers(report: Report) -> str:
    if report.verdict is Verdict.UNKNOWN and not report.diagnostics:
        return muted(text(report.why))
    counts = dict.fromkeys(Severity, 0)
    for finding in report.diagnostics:
        counts[finding.severity] += 1
    return text(", ".join(f"{number} {word.value}" for word, number in counts.items() if number))


def known_diagnostics_html(known: Mapping[Path, Sequence[Diagnostic]], sources: Sources) -> str:
    """The findings of several files."""
    return diagnostics_html(list(chain.from_iterable(known.values())), sources)


#: Lines of a diff.
MOST_LINES = 400
#: Characters of a file before and after an edit. A larger one has no diff, which takes too long.
LARGEST = 1_000_000

_DIFF = "line-height:1.3;font-family:monospace"
_HEAD, _HUNK = "font-weight:bold", "color:rgb(90,120,200)"
_REMOVED, _ADDED = "background:rgba(220,40,40,.18)", "background:rgba(40,160,60,.18)"
#: Styles of the lines of a diff, by how they begin.
_STYLES = {"---": _HEAD, "+++": _HEAD, "@@": _HUNK, "-": _REMOVED, "+": _ADDED}


def edit_html(edit: WorkspaceEdit, _: Sources) -> str:
    """The edit as a diff, below the number of edits and files."""
    lines: list[str] = []
    shown = 0
    for change in edit.changes:
        if len(lines) > MOST_LINES:
            break
        lines += _diff_of(change).removesuffix("\n").split("\n")
        shown += 1
    more = len(edit.changes) - shown
    rest = line(muted(f"… and {more} more files")) if more else ""
    return line(text(edit)) + diff_html(lines) + rest


def _diff_of(change: FileEdit | FileOperation) -> str:
    if isinstance(change, FileOperation):
        return f"# {change}"
    size = len(change.before or "") + len(change.after or "")
    return change.diff() if size <= LARGEST else f"# {change}"


def file_edit_html(edit: FileEdit, sources: Sources) -> str:
    """The edit of one file as a diff."""
    return edit_html(WorkspaceEdit((edit,)), sources)


def change_html(change: Change, sources: Sources) -> str:
    """A change that was made, and the reports about its files and others."""
    head = line(f"{badge('changed', '40,160,60')} {text(change)}")
    edit = edit_html(change.edit, sources) if change.edit.changes else ""
    report = change.report
    if report is None:
        return head + edit
    return head + edit + reports_html(report.reports, sources) + _others(report, sources)


def diff_html(lines: Sequence[str]) -> str:
    """The lines of a unified diff in colours."""
    shown = "".join(map(_diff_line, lines[:MOST_LINES]))
    more = left_out(len(lines) - MOST_LINES)
    return f'<pre style="{_DIFF}">{shown}</pre>{more}' if shown else ""


def _diff_line(diff_line: str) -> str:
    style = next((style for head, style in _STYLES.items() if diff_line.startswith(head)), "")
    return f'<div style="{style}">{exact(diff_line, LONGEST_LINE) or " "}</div>'


def actions_html(actions: Sequence[CodeAction], sources: Sources) -> str:
    """Code actions; a single one with its diff."""
    rows = [
        (
            f"<b>{text(action.title)}</b>" if action.preferred else text(action.title),
            muted(text(action.kind, 60)),
            muted(text(action.disabled)),
        )
        for action in actions[:MOST_ROWS]
    ]
    shown = table(("action", "kind", "disabled"), rows, len(actions) - len(rows))
    if len(actions) == 1 and actions[0].edit is not None:
        shown += edit_html(actions[0].edit, sources)
    return shown


#: Red, green and blue.
_GREY = "128,128,128"
STATE_COLOURS = {
    ServerState.BROKEN: "220,40,40",
    ServerState.STARTING: "230,150,0",
    ServerState.ACTIVE: "40,160,60",
}
#: Servers in these states are only counted, unless they were tried.
QUIET = (ServerState.UNAVAILABLE, ServerState.DISABLED)
#: Roots and warnings.
MOST_DETAILS = 10


def status_html(status: WorkspaceStatus, sources: Sources) -> str:
    """The totals, the servers that can run, and warnings."""
    servers = [row for row in status.rows if row.roots or row.state not in QUIET]
    warnings = [line(f"warning: {text(warning)}") for warning in status.warnings[:MOST_DETAILS]]
    shown = servers_html(servers, sources) if servers else ""
    more = left_out(len(status.warnings) - MOST_DETAILS)
    return line(text(status)) + shown + "".join(warnings) + more


def servers_html(servers: Sequence[ServerStatus], _: Sources) -> str:
    """A row for each server."""
    rows = [
        (
            badge(server.state.value, STATE_COLOURS.get(server.state, _GREY)),
            f"<b>{text(server.server, 60)}</b>",
            joined(server.languages, longest=80),
            "".join(map(_root, server.roots[:MOST_DETAILS])) or muted(text(server.reason)),
            text(server.diagnostics.get("total", "")),
        )
        for server in servers[:MOST_ROWS]
    ]
    heads = ("state", "server", "languages", "processes", "findings")
    return table(heads, rows, len(servers) - len(rows))


def _root(running: RootStatus) -> str:
    facts = [f"pid {running.pid}"] if running.pid else []
    if running.requests.count:
        facts.append(f"{running.requests.count} requests, median {running.requests.p50:.0f} ms")
    if running.memory_bytes:
        facts.append(bytes_text(running.memory_bytes))
    facts += running.busy_with[:3]
    if running.broken is not None:
        facts.append(running.broken.error)
    return line(f"{code(running.root)} {muted(joined(facts, '; '))}")
