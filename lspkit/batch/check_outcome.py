"""What a check has found out about each file of a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lspkit.diagnostics.report import Report
from lspkit.types import Diagnostic, Severity, Verdict

#: Codes of files that no server can check. They count if they are named, or with `--strict`.
NO_SERVER = frozenset({"ENOSERVER", "EUNAVAILABLE", "EBINARY", "EEXCLUDED"})
#: Codes of files that cannot be accessed.
NO_ACCESS = frozenset({"ENOENT", "EOUTSIDE"})


class CheckOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check. The paths of `reports`, and all others, are absolute."""

    #: The folder to which paths are relative in formats for other programs: the git work tree, or
    #: the workspace.
    base: str
    #: Files that a server was asked about, by path.
    reports: list[Report]
    #: Files that no server can check, and why.
    skipped: dict[Path, str] = {}
    #: Files and folders that cannot be accessed, and why.
    failed: dict[Path, str] = {}
    #: Given paths that do not exist, and where they were looked for.
    missing: dict[Path, str] = {}
    #: Files that the command line names themselves, not by a folder.
    named: frozenset[Path] = frozenset()
    #: The git revision that the findings are compared with; empty if there is none.
    revision: str = ""
    #: Files with findings of which it is not known whether they are new, and why.
    uncompared: dict[Path, str] = {}
    #: Lines for people, below the counts.
    hints: tuple[str, ...] = ()

    def findings(self, report: Report) -> list[Diagnostic]:
        """The findings of a file that count: with a revision, the new ones."""
        if not self.revision:
            return report.counted
        return [
            finding
            for finding in report.introduced or ()
            if finding.severity.counts(report.severity)
        ]

    @property
    def remaining(self) -> int:
        """How many findings were there before, which do not count."""
        if not self.revision:
            return 0
        return sum(
            finding.severity.counts(report.severity)
            for report in self.reports
            for finding in report.remaining or ()
        )

    @property
    def severity(self) -> Severity:
        """Findings of this severity and worse count."""
        return self.reports[0].severity if self.reports else Severity.ERROR

    @property
    def dirty(self) -> int:
        """The number of files with findings that count."""
        return sum(bool(self.findings(report)) for report in self.reports)

    @property
    def clean(self) -> int:
        """The number of files that are proven clean, or without new findings."""
        return sum(
            report.verdict is Verdict.CLEAN or self._has_only_old(report) for report in self.reports
        )

    def _has_only_old(self, report: Report) -> bool:
        """Whether a file has findings, but none that is new."""
        if not self.revision or report.path in self.uncompared:
            return False
        return report.verdict is Verdict.DIRTY and not self.findings(report)

    @property
    def unknown(self) -> dict[Path, str]:
        """Files of which it is not known whether they are clean, and why."""
        unknown = [report for report in self.reports if report.verdict is Verdict.UNKNOWN]
        silent = {report.path: report.why for report in unknown}
        return {**silent, **self.uncompared}

    @property
    def unchecked(self) -> dict[Path, str]:
        """Everything that was not checked, and why."""
        return {**self.missing, **self.failed, **self.skipped}

    @property
    def named_in_vain(self) -> list[Path]:
        """Files that were named and that no server can check."""
        return [path for path in self.skipped if path in self.named]


def sort_reports(
    checked: Mapping[Path, Report],
) -> tuple[list[Report], dict[Path, str], dict[Path, str]]:
    """The reports of files that a server was asked about; the files without a server, and those
    that cannot be accessed, with the reasons. The order stays: `check_all` sorts by path."""
    reports: list[Report] = []
    skipped: dict[Path, str] = {}
    failed: dict[Path, str] = {}
    for path, report in checked.items():
        silent = [server for server in report.servers if server.how == "none" and not server.rule]
        codes = {server.code for server in silent}
        is_examined = len(codes) != 1 or len(report.servers) > 1 or report.diagnostics
        if not is_examined and codes <= NO_SERVER:
            skipped[path] = _reason(path, report)
        elif not is_examined and codes <= NO_ACCESS:
            failed[path] = _reason(path, report)
        else:
            reports.append(report)
    return reports, skipped, failed


def _reason(path: Path, report: Report) -> str:
    """The reason without the path, with which the line begins already."""
    return report.servers[0].reason.removeprefix(f"{path} ")
