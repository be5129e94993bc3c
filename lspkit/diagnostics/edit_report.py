"""`EditReport`: the findings after an edit of several files."""

from __future__ import annotations

from lspkit.diagnostics.render import MOST
from lspkit.diagnostics.report import OtherFiles, Report
from lspkit.types import Value, Verdict


class EditReport(Value, frozen=True):
    """The state of the edited files, and of the others, after an edit."""

    #: By path, in order.
    reports: list[Report]
    other_files: OtherFiles = OtherFiles()

    def __str__(self) -> str:
        first = self.reports[0] if self.reports else None
        severities = ("error",) if first is None else first.severities
        most = MOST if first is None else first.max_per_file
        lines = [str(one) for one in self.reports] + self.other_files.lines(severities, most)
        return "\n".join(lines) or "other files: no errors"

    @property
    def verdict(self) -> Verdict:
        """The verdict about the changed files and the others that were examined."""
        found = {one.verdict for one in self.reports}
        if self.other_files.coverage != "none":
            found.add(self.other_files.verdict)
        return next(
            (one for one in (Verdict.DIRTY, Verdict.UNKNOWN) if one in found), Verdict.CLEAN
        )
