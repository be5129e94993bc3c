"""Values as HTML: locations, calls, symbols, signatures, findings, reports, edits, states.

`rich_values.py` has the table which of these functions a value is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from lspkit.diagnostics.render import select_worst
from lspkit.diagnostics.report import Report
from lspkit.edit_types import AppliedEdit, CodeAction, FileEdit, FileOperation, WorkspaceEdit
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


def locations_html(found: Sequence[Location], sources: Sources) -> str:
    """Each location with its source line, in which the range is marked."""
    rows = [
        (place(one.path, one.uri, one.range.start), source_html(one, sources))
        for one in found[:MOST_ROWS]
    ]
    return table(("place", "source"), rows, len(found) - len(rows))


def source_html(one: Location, sources: Sources) -> str:
    """The source line of a location; empty if it is not known."""
    if one.path is None:
        return ""
    return marked_line(sources(one.path, one.range.start.line), one.range)


def marked_line(whole: str, found: Range) -> str:
    """A source line without its indent, with the range marked as far as it is on this line."""
    indent = len(whole) - len(whole.lstrip())
    shown = whole[indent : indent + LONGEST_LINE]
    if not shown:
        return ""
    first = max(found.start.column - 1 - indent, 0)
    last = found.end.column - 1 - indent if found.end.line == found.start.line else len(shown)
    parts = [exact(shown[:first]), exact(shown[first:last]), exact(shown[max(first, last) :])]
    if parts[1]:
        parts[1] = f'<span style="{_FOUND}">{parts[1]}</span>'
    more = "…" if len(whole) - indent > LONGEST_LINE else ""
    return f'<code style="background:none;padding:0;white-space:pre">{"".join(parts)}{more}</code>'


def items_html(found: Sequence[HierarchyItem], _: Sources) -> str:
    """Items of a call or type hierarchy."""
    rows = [
        (named(one.kind, one.name, one.detail), place(one.path, one.uri, one.selection.start))
        for one in found[:MOST_ROWS]
    ]
    return table(("symbol", "place"), rows, len(found) - len(rows))


def calls_html(found: Sequence[Call], _: Sources) -> str:
    """Callers or callees, with the positions of the calls."""
    rows = [
        (
            named(one.item.kind, one.item.name, one.item.detail),
            place(one.item.path, one.item.uri, one.item.selection.start),
            joined([range_.start for range_ in one.ranges[:20]]),
        )
        for one in found[:MOST_ROWS]
    ]
    return table(("symbol", "place", "calls at"), rows, len(found) - len(rows))


def named(kind: str, name: str, detail: str = "") -> str:
    """Kind, name and detail of a symbol."""
    more = f" {muted(text(detail, 100))}" if detail else ""
    return f"{muted(text(kind, 40))} <b>{code(name, 100)}</b>{more}"


#: Symbols of a tree, and levels of it.
MOST_SYMBOLS = 300
DEEPEST = 12


def symbols_html(found: Sequence[Symbol], _: Sources) -> str:
    """A tree. The file is shown once if all symbols are in it."""
    files = {(one.path, one.uri) for one in found}
    head = ""
    if len(files) == 1:
        path, uri = next(iter(files))
        head = line(f"<code>{text(display_path(path, uri))}</code>")
    lines, number = _tree(found, in_one_file=len(files) == 1)
    return head + "".join(lines) + left_out(number - MOST_SYMBOLS)


def _tree(found: Sequence[Symbol], *, in_one_file: bool) -> tuple[list[str], int]:
    """The lines that are shown, and the number of all symbols.

    Not recursive: a server may nest symbols deeper than Python nests calls.
    """
    lines: list[str] = []
    number, left = 0, [(one, 0) for one in reversed(found)]
    while left:
        symbol, depth = left.pop()
        number += 1
        left += [(child, depth + 1) for child in reversed(symbol.children)]
        if number <= MOST_SYMBOLS:
            lines.append(_line(symbol, min(depth, DEEPEST), in_one_file=in_one_file))
    return lines, number


def _line(one: Symbol, depth: int, *, in_one_file: bool) -> str:
    at = one.selection.start
    where = muted(text(at)) if in_one_file else place(one.path, one.uri, at)
    inside = f" {muted(f'in {text(one.container, 100)}')}" if one.container and not depth else ""
    shown = f"{named(one.kind, one.name, one.detail)}{inside} {where}"
    return f'<div style="padding-left:{depth * 1.5:g}em">{shown}</div>'


def signatures_html(found: SignatureHelp, _: Sources) -> str:
    """The signatures; in the active one the active parameter is bold."""
    lines = [
        _signature(one, found.active_parameter if number == found.active_signature else None)
        for number, one in enumerate(found.signatures[:20])
    ]
    return "".join(lines) + left_out(len(found.signatures) - len(lines))


def _signature(one: Signature, active: int | None) -> str:
    label, parameter = one.label, ""
    if active is not None and 0 <= active < len(one.parameters):
        parameter = one.parameters[active].label
    before, found, after = label.partition(parameter) if parameter else (label, "", "")
    shown = f"{text(before)}<b>{text(found)}</b>{text(after)}"
    about = line(muted(text(one.documentation))) if one.documentation else ""
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


#: Lines of a diff.
MOST_LINES = 400
#: Characters of a file before and after an edit. A larger one has no diff, which takes too long.
LARGEST = 1_000_000

_DIFF = "line-height:1.3;font-family:monospace"
_HEAD, _HUNK = "font-weight:bold", "color:rgb(90,120,200)"
_REMOVED, _ADDED = "background:rgba(220,40,40,.18)", "background:rgba(40,160,60,.18)"
#: Styles of the lines of a diff, by how they begin.
_STYLES = {"---": _HEAD, "+++": _HEAD, "@@": _HUNK, "-": _REMOVED, "+": _ADDED}


def edit_html(found: WorkspaceEdit, _: Sources) -> str:
    """The edit as a diff, below the number of edits and files."""
    lines: list[str] = []
    shown = 0
    for change in found.changes:
        if len(lines) > MOST_LINES:
            break
        lines += _diff_of(change).removesuffix("\n").split("\n")
        shown += 1
    more = len(found.changes) - shown
    rest = line(muted(f"… and {more} more files")) if more else ""
    return line(text(found)) + diff_html(lines) + rest


def _diff_of(change: FileEdit | FileOperation) -> str:
    if isinstance(change, FileOperation):
        return f"# {change}"
    size = len(change.before or "") + len(change.after or "")
    return change.diff() if size <= LARGEST else f"# {change}"


def file_edit_html(found: FileEdit, sources: Sources) -> str:
    """The edit of one file as a diff."""
    return edit_html(WorkspaceEdit((found,)), sources)


def applied_html(found: AppliedEdit, sources: Sources) -> str:
    """An edit that was applied."""
    unverified = "".join(line(f"not verified: {text(one)}") for one in found.unverified)
    return line(badge("applied", "40,160,60")) + unverified + edit_html(found.edit, sources)


def diff_html(lines: Sequence[str]) -> str:
    """The lines of a unified diff in colours."""
    shown = "".join(map(_diff_line, lines[:MOST_LINES]))
    more = left_out(len(lines) - MOST_LINES)
    return f'<pre style="{_DIFF}">{shown}</pre>{more}' if shown else ""


def _diff_line(one: str) -> str:
    style = next((style for head, style in _STYLES.items() if one.startswith(head)), "")
    return f'<div style="{style}">{exact(one, LONGEST_LINE) or " "}</div>'


def actions_html(found: Sequence[CodeAction], sources: Sources) -> str:
    """Code actions; a single one with its diff."""
    rows = [
        (
            f"<b>{text(one.title)}</b>" if one.preferred else text(one.title),
            muted(text(one.kind, 60)),
            muted(text(one.disabled)),
        )
        for one in found[:MOST_ROWS]
    ]
    shown = table(("action", "kind", "disabled"), rows, len(found) - len(rows))
    if len(found) == 1 and found[0].edit is not None:
        shown += edit_html(found[0].edit, sources)
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


def status_html(found: WorkspaceStatus, sources: Sources) -> str:
    """The totals, the servers that can run, and warnings."""
    told = [row for row in found.rows if row.roots or row.state not in QUIET]
    warnings = [line(f"warning: {text(one)}") for one in found.warnings[:MOST_DETAILS]]
    shown = servers_html(told, sources) if told else ""
    more = left_out(len(found.warnings) - MOST_DETAILS)
    return line(text(found)) + shown + "".join(warnings) + more


def servers_html(found: Sequence[ServerStatus], _: Sources) -> str:
    """A row for each server."""
    rows = [
        (
            badge(one.state.value, STATE_COLOURS.get(one.state, _GREY)),
            f"<b>{text(one.server, 60)}</b>",
            joined(one.languages, longest=80),
            "".join(map(_root, one.roots[:MOST_DETAILS])) or muted(text(one.reason)),
            text(one.diagnostics.get("total", "")),
        )
        for one in found[:MOST_ROWS]
    ]
    heads = ("state", "server", "languages", "processes", "findings")
    return table(heads, rows, len(found) - len(rows))


def _root(one: RootStatus) -> str:
    told = [f"pid {one.pid}"] if one.pid else []
    if one.requests.count:
        told.append(f"{one.requests.count} requests, median {one.requests.p50:.0f} ms")
    if one.memory_bytes:
        told.append(bytes_text(one.memory_bytes))
    told += one.busy_with[:3]
    if one.broken is not None:
        told.append(one.broken.error)
    return line(f"{code(one.root)} {muted(joined(told, '; '))}")
