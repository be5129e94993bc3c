"""The result of `lspkit check` as text, and as workflow commands of GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.types import Diagnostic, Severity, display_path
from lspkit.visible_text import count, fold_lines, headline, one_line, several_lines
from lspkit.workspace_boundary import is_inside

#: Paths that are named on standard error; the rest are counted.
MOST_NAMED = 5


def as_text(outcome: CheckOutcome) -> str:
    """The findings, what is unknown or was skipped, the counts, and hints for the user.

    Paths are relative to the current folder if they are inside it, so that they can be used again.
    """
    lines = [
        _finding(finding) for report in outcome.reports for finding in outcome.findings(report)
    ]
    skipped = {**outcome.failed, **outcome.skipped}
    for what, files in (("unknown", outcome.unknown), ("skipped", skipped)):
        for why, paths in by_reason(files).items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            lines.append(f"{what} {display_path(paths[0])}{more}: {why}")
    return "\n".join([*lines, summary(outcome), *map(fold_lines, outcome.hints)])


def messages(outcome: CheckOutcome) -> list[str]:
    """Lines for standard error: paths that do not exist, and named files that were not checked."""
    lines = [f"{display_path(path)} {why}" for path, why in outcome.missing.items()]
    if len(lines) > MOST_NAMED:
        lines[MOST_NAMED:] = [f"{len(lines) - MOST_NAMED} more paths do not exist"]
    names = [display_path(path) for path in outcome.named_in_vain]
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        verb = "was" if len(names) == 1 else "were"
        lines.append(f"{', '.join(names[:MOST_NAMED])}{more} {verb} not checked")
    return lines


def by_reason(files: dict[Path, str]) -> dict[str, list[Path]]:
    """The files with the same reason, which is one line."""
    reasons: dict[str, list[Path]] = {}
    for path, why in files.items():
        reasons.setdefault(fold_lines(why), []).append(path)
    return reasons


def _finding(finding: Diagnostic) -> str:
    servers = ", ".join(finding.servers)
    return f"{finding} [{one_line(servers)}]" if servers else str(finding)


def summary(outcome: CheckOutcome) -> str:
    """The counts as one line."""
    new, parts = "new " if outcome.revision else "", list[str]()
    findings = sum(len(outcome.findings(report)) for report in outcome.reports)
    if findings:
        parts.append(f"{count(findings, f'{new}finding')} in {count(outcome.dirty, 'file')}")
    if outcome.remaining:
        parts.append(f"{count(outcome.remaining, 'finding')} from before")
    counts = {
        "without new findings" if outcome.revision else "clean": outcome.clean,
        "unknown": len(outcome.unknown),
        "skipped": len(outcome.failed) + len(outcome.skipped),
        "missing": len(outcome.missing),
    }
    parts += [f"{number} {what}" for what, number in counts.items() if number]
    files = count(len(outcome.reports) + len(outcome.unchecked), "file")
    return f"{files}: {', '.join(parts) or 'nothing to check'}"


#: The command for each severity.
COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
    Severity.HINT: "notice",
}


def as_annotations(outcome: CheckOutcome) -> str:
    """A workflow command for each finding and each reason for which files were not checked.

    The runner takes every line that begins with `::` for a command. All text of a project or a
    server is the message or a property of one of lspkit's own commands, and escaped as the runner
    unescapes it, so it cannot begin another one.
    """
    lines = [
        _annotation(finding, outcome.base)
        for report in outcome.reports
        for finding in outcome.findings(report)
    ]
    for command, files in (("warning", outcome.unknown), ("notice", outcome.unchecked)):
        for why, paths in by_reason(files).items():
            where = {"file": _relative(paths[0], outcome.base), "title": "not checked"}
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            name = one_line(where["file"])
            lines.append(workflow_command(command, f"{name}{more}: {why}", **where))
    return "\n".join([*lines, summary(outcome)])


def _annotation(finding: Diagnostic, base: str) -> str:
    start, end = finding.range.start, finding.range.end
    # Columns are shown only within one line.
    columns = {"col": start.column, "endColumn": max(end.column, start.column)}
    by = " ".join(
        filter(None, [", ".join(finding.servers), f"({finding.code})" if finding.code else ""])
    )
    return workflow_command(
        COMMANDS[finding.severity],
        several_lines(headline(finding.message)),
        file=_relative(finding.path, base) if finding.path is not None else finding.uri,
        line=start.line,
        endLine=end.line,
        **(columns if start.line == end.line else {}),
        title=one_line(by),
    )


def workflow_command(name: str, message: str, **properties: str | int) -> str:
    """A command as one line.

    >>> workflow_command("error", "50%: a\\nb", file="a,b.py", line=1)
    '::error file=a%2Cb.py,line=1::50%25: a%0Ab'
    """
    words = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {words}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _relative(path: Path, base: str) -> str:
    whole = str(path)
    inside = is_inside(whole, base) and whole != base
    return os.path.relpath(whole, base).replace(os.sep, "/") if inside else whole
