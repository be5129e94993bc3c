"""Runs `lspkit check`: selects the files, checks them, compares, prints, and returns the status."""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lspkit.batch.check_outcome import CheckOutcome, sort_reports
from lspkit.batch.file_selection import select_files
from lspkit.cli.argument_types import UsageError
from lspkit.cli.arguments.file_arguments import workspace_of
from lspkit.cli.check.check_text import as_text, messages
from lspkit.cli.check.path_globs import PathGlobs
from lspkit.cli.check.progress_bar import progress_bar
from lspkit.cli.command_table import uses_service
from lspkit.cli.exit_codes import CLEAN, FINDINGS, UNKNOWN, USAGE
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import as_json, print_commands, print_message, print_result
from lspkit.diagnostics.report import Report
from lspkit.diagnostics.unresolved_imports import import_hint
from lspkit.late_imports import safe_imports
from lspkit.types import Severity
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import work_tree

if TYPE_CHECKING:
    from lspkit.cli.check.new_findings import Comparison


#: The part of the timeout that is left for printing the result and for stopping the servers.
ENDING = 0.1
#: The seconds that are left for it at most.
LONGEST_ENDING = 1.0


def run(arguments: argparse.Namespace) -> int:
    """Check the files, print the result, and return the exit status."""
    ending = min(ENDING * arguments.timeout, LONGEST_ENDING)
    deadline = arguments.began + arguments.timeout - ending
    globs = PathGlobs(arguments.include, arguments.exclude)
    root = arguments.root or workspace_of(arguments.paths)
    with open_workspace(root, service=uses_service(arguments), deadline=deadline) as ws:
        outcome = _check(ws, arguments, globs, deadline)
        if time.monotonic() >= deadline:
            # First: servers that still work would delay the rest.
            ws.close(at_once=True)
        # Otherwise before the servers are stopped, which may take some seconds.
        _print(outcome, arguments.format)
        for message in messages(outcome):
            print_message(message)
        return exit_status(outcome, strict=arguments.strict)


def exit_status(outcome: CheckOutcome, *, strict: bool = False) -> int:
    """The exit status. With `strict`, files that no server can check are unknown."""
    if outcome.missing:
        return USAGE
    if outcome.dirty:
        return FINDINGS
    partial = outcome.unknown or outcome.failed or outcome.named_in_vain
    if partial or not outcome.reports or (strict and outcome.skipped):
        return UNKNOWN
    return CLEAN


def _check(
    ws: Workspace, arguments: argparse.Namespace, globs: PathGlobs, deadline: float
) -> CheckOutcome:
    severities = _severities_up_to(arguments.severity) if arguments.severity else None
    since = arguments.new_since
    compare = _comparison(since, ws) if since else None
    selected = select_files(
        arguments.paths,
        ws.config,
        globs.leaves_out,
        is_over=lambda: time.monotonic() >= deadline,
    )
    with progress_bar(ws, selected.files):
        left = max(0.0, deadline - time.monotonic())
        found = ws.check_all(selected.files, severities=severities, timeout=left)
    reports, skipped, failed = sort_reports(found)
    uncompared: dict[Path, str] = {}
    if compare is not None:
        compared = compare(ws, reports, deadline)
        reports, uncompared = compared.reports, compared.uncompared
    hint = import_hint(reports)
    return CheckOutcome(
        base=work_tree(str(ws.root)),
        reports=reports,
        skipped=skipped,
        failed={**selected.unreadable, **failed},
        missing=selected.missing,
        named=selected.named,
        revision=since or "",
        uncompared=uncompared,
        hints=(hint,) if hint else (),
    )


def _comparison(name: str, ws: Workspace) -> Callable[[Workspace, list[Report], float], Comparison]:
    """Compares with a revision. One that does not exist is an error before anything is checked."""
    with safe_imports():
        from lspkit.cli.check.git_revision import find_revision  # here: rarely needed
        from lspkit.cli.check.new_findings import compare_with

    return functools.partial(compare_with, find_revision(name, str(ws.root)))


def _severities_up_to(mildest: str) -> list[str]:
    names = [one.value for one in Severity]
    return names[: names.index(mildest) + 1]


def _print(outcome: CheckOutcome, format: str) -> None:
    match format:
        case "json":
            print_result(as_json(_as_plain(outcome)))
        case "sarif":
            with safe_imports():
                from lspkit.batch.sarif_log import as_sarif  # here: rarely needed

            print_result(as_json(as_sarif(outcome)))
        case "github":
            with safe_imports():
                from lspkit.cli.check.github_annotations import as_annotations  # as above

            print_commands(as_annotations(outcome))
        case "text":
            print_result(as_text(outcome))
        case _:
            raise UsageError(f"there is no format {format}")


def _as_plain(outcome: CheckOutcome) -> dict[str, object]:
    unchecked = outcome.unchecked.items()
    plain: dict[str, object] = {
        "reports": [one.to_dict() for one in outcome.reports],
        "skipped": [{"path": str(path), "reason": why} for path, why in unchecked],
        "hints": list(outcome.hints),
    }
    if outcome.revision:
        told = [{"path": str(path), "reason": why} for path, why in outcome.uncompared.items()]
        plain |= {"newSince": outcome.revision, "uncompared": told}
    return plain
