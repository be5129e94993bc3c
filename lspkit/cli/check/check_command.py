"""Runs `lspkit check`: selects the files, checks them, compares, prints, and returns the status."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lspkit.batch.check_outcome import CheckOutcome, sort_reports
from lspkit.batch.file_selection import FileSelection, select_files
from lspkit.cli.check.check_text import as_annotations, as_text, messages
from lspkit.cli.check.time_limit import TimeExpired, TimeLimit, alarm_at
from lspkit.cli.command_parser import UsageError
from lspkit.cli.command_table import uses_service
from lspkit.cli.failure import CLEAN, FINDINGS, UNKNOWN, USAGE
from lspkit.cli.output import as_json, print_commands, print_message, print_result
from lspkit.cli.project_root import workspace_of
from lspkit.diagnostics.report import TOO_LATE, Report, unchecked_report
from lspkit.diagnostics.unresolved_imports import import_hint
from lspkit.errors import RequestTimeoutError
from lspkit.protocol.globs import compile_glob, pattern_mistake
from lspkit.workspace_boundary import work_tree

if TYPE_CHECKING:
    from lspkit.cli.check.git_revision import Commit
    from lspkit.workspace import Workspace


def run(arguments: argparse.Namespace) -> int:
    """Check the files, print the result, and return the exit status."""
    check = _Check(arguments)
    try:
        outcome = check.outcome()
        if check.ws is not None and check.limit.is_over:
            # First: servers that still work would delay the rest.
            check.ws.close(at_once=True)
        # Otherwise before the servers are stopped, which may take some seconds.
        _print(outcome, arguments.format)
        for message in messages(outcome):
            print_message(message)
        return exit_status(outcome, strict=arguments.strict)
    finally:
        if check.ws is not None:
            check.ws.close()


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


class _Check:
    """The check of one command. It is cut short if its time is over."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.limit = TimeLimit.after(arguments.began, arguments.timeout)
        self._globs = PathGlobs(arguments.include, arguments.exclude)
        self._root: str = arguments.root or workspace_of(arguments.paths)
        #: The workspace, as soon as it is open.
        self.ws: Workspace | None = None
        self._commit: Commit | None = None
        self._selected: FileSelection | None = None

    def outcome(self) -> CheckOutcome:
        """Check the files. If there is no time, or no answer in time, they are unknown."""
        try:
            with alarm_at(self.limit.late):
                ws = self._open()
                self._selected = self._select(ws)
            with alarm_at(self.limit.latest):
                reports = self._reports(ws, self._selected.files)
        except RequestTimeoutError as problem:
            print_message(f"no file was checked: {problem}")
            return self._unchecked()
        except TimeExpired:
            return self._unchecked()
        return self._compared(ws, self._selected, *sort_reports(reports))

    def _open(self) -> Workspace:
        """Open the workspace. A revision that does not exist is an error before any check."""
        if self.limit.is_over:
            raise TimeExpired
        # Here: the alarm is set.
        from lspkit.cli.open_workspace import open_workspace

        service = uses_service(self._arguments)
        self.ws = open_workspace(self._root, service=service, limit=self.limit)
        if self._arguments.new_since:
            from lspkit.cli.check.git_revision import find_revision  # here: rarely needed

            self._commit = find_revision(self._arguments.new_since, str(self.ws.root))
        return self.ws

    def _select(self, ws: Workspace | None) -> FileSelection:
        """The files. Without a workspace there is no time to search in folders."""
        return select_files(
            self._arguments.paths,
            None if ws is None else ws.config,
            self._globs.leaves_out,
            is_over=lambda: ws is None or self.limit.is_over,
        )

    def _reports(self, ws: Workspace, files: list[Path]) -> dict[Path, Report]:
        from lspkit.cli.check.progress_bar import progress_bar  # here, as above

        with progress_bar(ws, files):
            return ws.check_all(files, severity=self._arguments.severity, timeout=self.limit.left)

    def _unchecked(self) -> CheckOutcome:
        """The outcome if no file was checked."""
        selected = self._selected or self._select(None)
        late = RequestTimeoutError(TOO_LATE)
        reports = [unchecked_report(str(file), late) for file in sorted(selected.files)]
        return self._as_outcome(selected, reports)

    def _compared(
        self,
        ws: Workspace,
        selected: FileSelection,
        reports: list[Report],
        skipped: dict[Path, str],
        failed: dict[Path, str],
    ) -> CheckOutcome:
        """The outcome with what was checked; with a revision, with what is new since."""
        uncompared: dict[Path, str] = {}
        if self._commit is not None:
            from lspkit.cli.check.new_findings import compare_with  # here: rarely needed

            compared = compare_with(self._commit, ws, reports, self.limit)
            reports, uncompared = compared.reports, compared.uncompared
        return self._as_outcome(selected, reports, skipped, failed, uncompared)

    def _as_outcome(
        self,
        selected: FileSelection,
        reports: list[Report],
        skipped: dict[Path, str] | None = None,
        failed: dict[Path, str] | None = None,
        uncompared: dict[Path, str] | None = None,
    ) -> CheckOutcome:
        hint = import_hint(reports)
        return CheckOutcome(
            base=work_tree(os.path.realpath(self._root)),
            reports=reports,
            skipped=skipped or {},
            failed={**selected.unreadable, **(failed or {})},
            missing=selected.missing,
            named=selected.named,
            revision=self._arguments.new_since or "",
            uncompared=uncompared or {},
            hints=(hint,) if hint else (),
        )


def _print(outcome: CheckOutcome, format: str) -> None:
    match format:
        case "json":
            print_result(as_json(_as_plain(outcome)))
        case "sarif":
            from lspkit.batch.sarif_log import as_sarif  # here: rarely needed

            print_result(as_json(as_sarif(outcome)))
        case "github":
            print_commands(as_annotations(outcome))
        case "text":
            print_result(as_text(outcome))
        case _:
            raise UsageError(f"there is no format {format}")


def _as_plain(outcome: CheckOutcome) -> dict[str, object]:
    unchecked = outcome.unchecked.items()
    plain: dict[str, object] = {
        "reports": [report.to_dict() for report in outcome.reports],
        "skipped": [{"path": str(path), "reason": why} for path, why in unchecked],
        "hints": list(outcome.hints),
    }
    if outcome.revision:
        uncompared = [
            {"path": str(path), "reason": why} for path, why in outcome.uncompared.items()
        ]
        plain |= {"newSince": outcome.revision, "uncompared": uncompared}
    return plain


class PathGlobs:
    """What `--include` and `--exclude` leave of the files.

    They go by the path relative to the current folder; one without a slash fits at any depth.
    """

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = [_compile(pattern, "--include") for pattern in include]
        self._exclude = [_compile(pattern, "--exclude") for pattern in exclude]

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Whether a file is not wanted, or nothing in a folder."""
        if not self._include and not self._exclude:
            return False
        relative = os.path.relpath(path).replace(os.sep, "/")
        if any(fits(relative) for fits in self._exclude):
            return True
        return bool(self._include) and not is_folder and not any(f(relative) for f in self._include)


def _compile(pattern: str, option: str) -> Callable[[str], bool]:
    if mistake := pattern_mistake(pattern):
        raise UsageError(f"argument {option}: {pattern!r} is not a valid glob: {mistake}")
    pattern = pattern.strip().removeprefix("./").rstrip("/")
    return compile_glob(pattern if "/" in pattern else f"**/{pattern}")
