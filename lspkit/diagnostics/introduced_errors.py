"""The errors that an edit introduced. Pure."""

from __future__ import annotations

from pathlib import Path

from lspkit.diagnostics.compare import Before, changed_words, drop_reworded
from lspkit.diagnostics.report import Report
from lspkit.edit_types import FileEdit, WorkspaceEdit
from lspkit.protocol.text import Text
from lspkit.types import Diagnostic


def introduced_errors(
    edit: WorkspaceEdit, before: dict[Path, Report], after: dict[Path, Report]
) -> list[list[Diagnostic]]:
    """The new findings that count, by file, without files that have none.

    An error that differs only in names which the edit has renamed is not new.
    """
    texts = _texts(edit)
    words = {word for old, new in texts.values() for word in changed_words(old, new)}
    found = [
        _new_findings(report, before.get(path), texts.get(path), words)
        for path, report in after.items()
    ]
    return [new for new in found if new]


def _new_findings(
    report: Report, before: Report | None, texts: tuple[str, str] | None, words: set[str]
) -> list[Diagnostic]:
    if report.introduced is None or before is None:
        return [] if before is not None and before.counted else report.counted
    new = [one for one in report.introduced if one.severity.value in report.severities]
    if not new or texts is None:
        return new
    # The compared findings may belong to an older text than the edited one.
    gone = tuple(one for one in report.fixed or () if one in before.diagnostics)
    return drop_reworded(new, Text(texts[1]), Before(Text(texts[0]), gone), words)


def _texts(edit: WorkspaceEdit) -> dict[Path, tuple[str, str]]:
    """The text of each file before and after the edit, which may change it more than once."""
    texts: dict[Path, tuple[str, str]] = {}
    for one in edit.changes:
        if not isinstance(one, FileEdit) or one.path is None:
            continue
        if one.before is not None and one.after is not None:
            first, _ = texts.get(one.path, (one.before, ""))
            texts[one.path] = first, one.after
    return texts
