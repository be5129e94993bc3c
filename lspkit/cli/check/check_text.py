"""The result of `lspkit check` as text: a line for each finding, and one that counts."""

from __future__ import annotations

from pathlib import Path

from lspkit.batch.check_outcome import CheckOutcome
from lspkit.types import Diagnostic, display_path
from lspkit.visible_text import count, fold_lines, one_line

#: Paths that are named on standard error; the rest are counted.
MOST_NAMED = 5


def as_text(outcome: CheckOutcome) -> str:
    """The findings, what is unknown or was skipped, the counts, and hints for the user.

    Paths are relative to the current folder if they are inside it, so that they can be used again.
    """
    lines = [_finding(one) for report in outcome.reports for one in outcome.findings(report)]
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


def _finding(one: Diagnostic) -> str:
    servers = ", ".join(one.servers)
    return f"{one} [{one_line(servers)}]" if servers else str(one)


def summary(outcome: CheckOutcome) -> str:
    """The counts as one line."""
    new, told = "new " if outcome.revision else "", list[str]()
    findings = sum(len(outcome.findings(report)) for report in outcome.reports)
    if findings:
        told.append(f"{count(findings, f'{new}finding')} in {count(outcome.dirty, 'file')}")
    if outcome.remaining:
        told.append(f"{count(outcome.remaining, 'finding')} from before")
    counts = {
        "without new findings" if outcome.revision else "clean": outcome.clean,
        "unknown": len(outcome.unknown),
        "skipped": len(outcome.failed) + len(outcome.skipped),
        "missing": len(outcome.missing),
    }
    told += [f"{number} {what}" for what, number in counts.items() if number]
    files = count(len(outcome.reports) + len(outcome.unchecked), "file")
    return f"{files}: {', '.join(told) or 'nothing to check'}"
