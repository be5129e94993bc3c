"""The answer to "is this file in order?", with its evidence."""

from __future__ import annotations

from pathlib import Path

from lspkit.diagnostics.render import render
from lspkit.types import Diagnostic, Value, Verdict


class Evidence(Value, frozen=True):
    """What one server contributed to a verdict."""

    server: str
    #: The version of the document that it has spoken about, None if it has not.
    version: int | None
    #: `pull`, `version`, `quiet`, or `none`.
    how: str
    #: Seconds until it had.
    duration: float
    timed_out: bool = False
    #: Why it has not.
    reason: str = ""

    @property
    def proven(self) -> bool:
        """Whether its silence would mean that the file is clean."""
        return self.how in ("pull", "version")


class Report(Value, frozen=True):
    """Fresh diagnostics for one version of one file."""

    path: Path
    verdict: Verdict
    #: All findings in the file, of any severity, in line order.
    diagnostics: list[Diagnostic]
    #: Findings in other files, where they were asked for.
    other_files: dict[str, list[Diagnostic]]
    servers: list[Evidence]
    #: Seconds.
    duration: float
    #: Against the state before the edit; None at the first touch.
    introduced: list[Diagnostic] | None = None
    fixed: list[Diagnostic] | None = None
    remaining: list[Diagnostic] | None = None
    #: Which severities the verdict goes by.
    severities: tuple[str, ...] = ("error",)
    #: So many findings are shown as text.
    max_per_file: int = 20

    def __str__(self) -> str:
        return render(self.path, self.verdict, self.counted, self.why, self.max_per_file)

    @property
    def counted(self) -> list[Diagnostic]:
        """The findings that the verdict goes by."""
        return [one for one in self.diagnostics if one.severity.value in self.severities]

    @property
    def why(self) -> str:
        """Why it is not known whether the file is clean; empty where it is."""
        silent = [one for one in self.servers if not one.proven]
        return "; ".join(f"{one.server}: {one.reason or one.how}" for one in silent)


def verdict_of(counted: list[Diagnostic], servers: list[Evidence]) -> Verdict:
    """Dirty if anybody has found something; clean only if everybody has proven to have looked."""
    if counted:
        return Verdict.DIRTY
    if servers and all(one.proven for one in servers):
        return Verdict.CLEAN
    return Verdict.UNKNOWN
