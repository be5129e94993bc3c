"""`lspkit check`: diagnostics of files and folders, as text or JSON."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from lspkit.cli.command_table import uses_service
from lspkit.cli.exit_codes import CLEAN, FINDINGS, UNKNOWN, USAGE
from lspkit.cli.file_arguments import select_files, workspace_of
from lspkit.cli.open_workspace import open_workspace
from lspkit.cli.output import as_json, is_terminal, print_result
from lspkit.diagnostics.report import Report
from lspkit.errors import (
    LspkitError,
    NoServerError,
    PathError,
    RequestTimeoutError,
    ServerUnavailableError,
)
from lspkit.operations.checks.check import unchecked_report
from lspkit.operations.effects import TOO_LATE
from lspkit.types import Severity, Verdict, display_path
from lspkit.visible_text import fold_lines, one_line
from lspkit.workspace import Workspace

#: Files that are checked at once. With more, each check would only be slower.
AT_ONCE = 32


def run(arguments: argparse.Namespace) -> int:
    """Check the files, print the result, and return the exit status."""
    root = arguments.root or workspace_of(arguments.paths)
    with open_workspace(root, service=uses_service(arguments)) as ws:
        severities = _severities_up_to(arguments.severity) if arguments.severity else None
        deadline = time.monotonic() + arguments.timeout
        meant = select_files(arguments.paths)
        reports, failed = _check_all(ws, meant.files, deadline, severities)
        missing = dict.fromkeys(meant.missing, "does not exist")
        skipped = {**missing, **meant.unreadable, **failed}
        # Before the servers are stopped, which may take some seconds.
        as_wanted = _as_json if arguments.format == "json" else _as_text
        print_result(as_wanted(reports, skipped))
    return USAGE if missing else _status(reports, skipped)


def _as_json(reports: list[Report], skipped: dict[Path, str]) -> str:
    plain = {
        "reports": [one.to_dict() for one in reports],
        "skipped": [{"path": str(path), "reason": why} for path, why in skipped.items()],
    }
    return as_json(plain)


def _severities_up_to(mildest: str) -> list[str]:
    names = [one.value for one in Severity]
    return names[: names.index(mildest) + 1]


def _status(reports: list[Report], skipped: dict[Path, str]) -> int:
    verdicts = {report.verdict for report in reports}
    if Verdict.DIRTY in verdicts:
        return FINDINGS
    return UNKNOWN if skipped or Verdict.UNKNOWN in verdicts or not reports else CLEAN


def _check_all(
    ws: Workspace, files: list[Path], deadline: float, severities: list[str] | None
) -> tuple[list[Report], dict[Path, str]]:
    """The reports by path, and why other files have none."""
    reports: list[Report] = []
    skipped: dict[Path, str] = {}
    waiting = deque(files)
    total, flying = len(waiting), deque[tuple[Path, Future[Report]]]()
    while waiting or flying:
        while waiting and len(flying) < AT_ONCE:
            left = max(0.0, deadline - time.monotonic())
            if not left and len(waiting) < total:  # the first one reports what it waited for
                reports += [
                    unchecked_report(str(path), RequestTimeoutError(TOO_LATE)) for path in waiting
                ]
                waiting.clear()
                break
            path = waiting.popleft()
            future = ws.submit(ws.check, path, severities=severities, timeout=left)
            flying.append((path, future))
        path, future = flying.popleft()
        _progress(total - len(waiting) - len(flying) - 1, total, path)
        try:
            reports.append(future.result())
        except PathError as problem:
            # The line begins with the path already.
            skipped[path] = problem.message.removeprefix(f"{path} ")
        except (NoServerError, ServerUnavailableError) as problem:
            skipped[path] = problem.message
        except LspkitError as problem:
            skipped[path] = f"{problem.code}: {problem.message}"
    _progress(total, total, None)
    return sorted(reports, key=lambda one: one.path), skipped


def _progress(done: int, total: int, path: Path | None) -> None:
    """One line that rewrites itself, on a terminal only."""
    if not is_terminal(sys.stderr):
        return
    width = os.get_terminal_size(sys.stderr.fileno()).columns
    line = f"{done}/{total} {display_path(path)}"[: width - 1] if path is not None else ""
    print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _as_text(reports: list[Report], skipped: dict[Path, str]) -> str:
    lines: list[str] = []
    for report in reports:
        for finding in report.counted:
            by = one_line(f" [{', '.join(finding.servers)}]") if finding.servers else ""
            lines.append(f"{finding}{by}")
    unknown = {one.path: one.why for one in reports if one.verdict is Verdict.UNKNOWN}
    for what, files in (("unknown", unknown), ("skipped", skipped)):
        reasons: dict[str, list[Path]] = {}
        for path, why in files.items():
            reasons.setdefault(fold_lines(why), []).append(path)
        for why, paths in reasons.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            lines.append(f"{what} {display_path(paths[0])}{more}: {why}")
    return "\n".join([*lines, _summary(reports, skipped)])


def _summary(reports: list[Report], skipped: dict[Path, str]) -> str:
    def count(number: int, what: str) -> str:
        return f"{number} {what}{'' if number == 1 else 's'}"

    def having(verdict: Verdict) -> int:
        return sum(report.verdict is verdict for report in reports)

    parts: dict[str, Any] = {
        "clean": having(Verdict.CLEAN),
        "unknown": having(Verdict.UNKNOWN),
        "skipped": len(skipped),
    }
    findings = sum(len(report.counted) for report in reports)
    told = [f"{number} {what}" for what, number in parts.items() if number]
    if findings:
        dirty = count(having(Verdict.DIRTY), "file")
        told.insert(0, f"{count(findings, 'finding')} in {dirty}")
    return f"{count(len(reports) + len(skipped), 'file')}: {', '.join(told) or 'nothing to check'}"
