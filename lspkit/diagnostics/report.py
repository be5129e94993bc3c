"""The answer to "is this file in order?", with its evidence."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lspkit.diagnostics.render import render
from lspkit.types import Diagnostic, Value, Verdict

#: Ways of knowing that count as proof. `silence` is that of a server whose silence after a push was
#: never wrong where it was tried; `quiet` that of any other, and no proof.
PROOFS = frozenset({"pull", "version", "ordered", "progress", "silence"})


class Evidence(Value, frozen=True):
    """What one server contributed to a verdict."""

    server: str
    #: The version of the document that it has spoken about, None if it has not.
    version: int | None
    #: One of `PROOFS`, `quiet`, `none`, or `not applicable`.
    how: str
    #: Seconds until it had.
    duration: float
    timed_out: bool = False
    #: Why its silence does not mean that the file is clean.
    reason: str = ""
    #: Which of its sources, for a server that has more than one.
    source: str = ""
    #: The code of the error, where there was one: `EBROKEN`, say.
    code: str = ""

    @property
    def proven(self) -> bool:
        """Whether its silence would mean that the file is clean."""
        return self.how in PROOFS

    @property
    def applies(self) -> bool:
        """Whether it could have something to say: not of a text that only the disk would show."""
        return self.how != "not applicable"


class OtherFiles(Value, frozen=True):
    """The state of the files that a check was not about."""

    #: `none`: nobody asked. `open`: those that the servers have open, or have findings about.
    #: `workspace`: all.
    coverage: str = "none"
    verdict: Verdict = Verdict.UNKNOWN
    #: Findings of any severity by path, in order; files without any are left out.
    diagnostics: dict[str, list[Diagnostic]] = msgspec.field(default_factory=dict)
    #: Why it is not known whether a file is clean, by path; `""` for files that nobody can name.
    unknown: dict[str, str] = msgspec.field(default_factory=dict)


class Report(Value, frozen=True):
    """Fresh diagnostics for one version of one file."""

    path: Path
    verdict: Verdict
    #: All findings in the file, of any severity, in line order.
    diagnostics: list[Diagnostic]
    servers: list[Evidence]
    #: Seconds.
    duration: float
    #: The other files, where they were asked for (`scope="project"`).
    other_files: OtherFiles = OtherFiles()
    #: What servers that have not answered said before; not part of `diagnostics`.
    stale_diagnostics: list[Diagnostic] = msgspec.field(default_factory=list)
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
        return why_of(self.servers)


def why_of(servers: list[Evidence]) -> str:
    """Why it is not known whether a file is clean; empty if everybody has looked."""
    asked = [one for one in servers if one.applies] or servers
    silent = [one for one in asked if not one.proven]
    # A kind of file that nobody knows has no server that could be named.
    told = [(one.server, one.reason or one.how) for one in silent]
    return "; ".join(f"{server}: {why}" if server else why for server, why in told)


def verdict_of(counted: list[Diagnostic], servers: list[Evidence]) -> Verdict:
    """Dirty if anybody has found something; clean only if everybody has proven to have looked."""
    if counted:
        return Verdict.DIRTY
    asked = [one for one in servers if one.applies]
    if asked and all(one.proven for one in asked):
        return Verdict.CLEAN
    return Verdict.UNKNOWN
