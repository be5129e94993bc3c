"""The result of `lspkit check` as workflow commands of GitHub Actions, which annotate the files.

The runner takes every line that begins with `::` for a command. All text of a project or a server
is the message or a property of one of lspkit's own commands, and escaped as the runner unescapes
it, so it cannot begin another one.
"""

from __future__ import annotations

import os
from pathlib import Path

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.cli.check.check_text import by_reason, summary
from lspkit.types import Diagnostic, Severity
from lspkit.visible_text import headline, one_line, several_lines
from lspkit.workspace_boundary import is_inside

#: The command for each severity.
COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
    Severity.HINT: "notice",
}


def as_annotations(outcome: CheckOutcome) -> str:
    """A command for each finding and each reason for which files were not checked."""
    lines = [
        _annotation(one, outcome.base)
        for report in outcome.reports
        for one in outcome.findings(report)
    ]
    for command, files in (("warning", outcome.unknown), ("notice", outcome.unchecked)):
        for why, paths in by_reason(files).items():
            where = {"file": _relative(paths[0], outcome.base), "title": "not checked"}
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            name = one_line(where["file"])
            lines.append(workflow_command(command, f"{name}{more}: {why}", **where))
    return "\n".join([*lines, summary(outcome)])


def _annotation(one: Diagnostic, base: str) -> str:
    start, end = one.range.start, one.range.end
    # Columns are shown only within one line.
    columns = {"col": start.column, "endColumn": max(end.column, start.column)}
    by = " ".join(filter(None, [", ".join(one.servers), f"({one.code})" if one.code else ""]))
    return workflow_command(
        COMMANDS[one.severity],
        several_lines(headline(one.message)),
        file=_relative(one.path, base) if one.path is not None else one.uri,
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
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {told}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _relative(path: Path, base: str) -> str:
    whole = str(path)
    inside = is_inside(whole, base) and whole != base
    return os.path.relpath(whole, base).replace(os.sep, "/") if inside else whole
