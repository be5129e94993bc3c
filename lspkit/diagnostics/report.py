"""The results of a check, with its evidence, and of a change of files.

A `Report` is about one file, an `EditReport` about the files of an edit. A `Change` is the result
of every call that changes files: what `undo` needs, and the report if the change was checked.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import msgspec

from lspkit.diagnostics.render import (
    MOST,
    findings_word,
    other_counts,
    plain_line,
    render,
    render_others,
    unsearched_line,
)
from lspkit.edit_types import TouchedFile, WorkspaceEdit
from lspkit.errors import LspkitError
from lspkit.types import (
    LONGEST_REPR,
    Diagnostic,
    Interpreter,
    Severity,
    Value,
    Verdict,
    cut,
    display_path,
)
from lspkit.visible_text import count

#: Values of `how` that count as proof. `silence` is a push followed by silence from a server where
#: this was always right in tests; `quiet` is the same from any other server, and not a proof.
PROOFS = frozenset({"pull", "version", "ordered", "progress", "silence"})

#: Why a file has no result.
TOO_LATE = "the timeout expired before this file was checked"


class Evidence(Value, frozen=True):
    """What one server contributed to a verdict."""

    server: str
    #: The version of the document that it has checked, None if there is no answer.
    version: int | None
    #: One of `PROOFS`, `quiet`, `none`, or `not applicable`.
    how: str
    #: Seconds until the answer.
    duration: float
    timed_out: bool = False
    #: Why it is not proven that the file is clean.
    reason: str = ""
    #: The source of the findings, for a server with several.
    source: str = ""
    #: The code of the error, if there was one, such as `EBROKEN`.
    code: str = ""
    #: The trust state that keeps the server from running: `untrusted` or `stale`.
    rule: str = ""
    #: For a server of Python: the interpreter whose packages it uses, and why.
    interpreter: Interpreter | None = None

    @property
    def proven(self) -> bool:
        """Whether the absence of findings would mean that the file is clean."""
        return self.how in PROOFS

    @property
    def applies(self) -> bool:
        """Whether it can check the text: a source that reads the disk cannot check unsaved text."""
        return self.how != "not applicable"


class OtherFiles(Value, frozen=True):
    """The findings in the other files."""

    #: `none`: not requested. `open`: files that the servers have open, or have findings about.
    #: `workspace`: all files.
    coverage: str = "none"
    verdict: Verdict = Verdict.UNKNOWN
    #: Findings of any severity by path, in order, without files that have none.
    diagnostics: dict[Path, list[Diagnostic]] = msgspec.field(default_factory=dict)
    #: Why it is not known whether a file is clean, by path.
    unknown: dict[Path, str] = msgspec.field(default_factory=dict)
    #: The findings, compared with the state before the edit, by path; None if nothing was compared.
    #: If the state of a file before the edit is not known, its findings are `introduced`.
    introduced: dict[Path, list[Diagnostic]] | None = None
    fixed: dict[Path, list[Diagnostic]] | None = None
    remaining: dict[Path, list[Diagnostic]] | None = None
    #: The number of files that refer to what the edit changed, and were not checked in time.
    left_out: int = 0
    #: What the edit changed and whose uses could not be searched: names of declarations, and paths
    #: of files if not even their declarations are known.
    unsearched: list[str] = msgspec.field(default_factory=list)
    #: Why there may be findings in further files; empty if there are none.
    reason: str = ""

    def __post_init__(self) -> None:
        # `msgspec.convert` leaves the keys of a dict as texts.
        for name in ("diagnostics", "unknown", "introduced", "fixed", "remaining"):
            if by_file := getattr(self, name):
                paths = {Path(path): value for path, value in by_file.items()}
                msgspec.structs.force_setattr(self, name, paths)

    @property
    def shown(self) -> dict[Path, list[Diagnostic]]:
        """The introduced findings, or all if nothing was compared."""
        return self.diagnostics if self.introduced is None else self.introduced

    def lines(self, severity: Severity, most: int) -> list[str]:
        """The findings as text: introduced ones first, those from before as a number."""
        new, old = (
            {
                path: counted
                for path, findings in by_file.items()
                if (counted := [each for each in findings if each.severity.counts(severity)])
            }
            for by_file in (self.shown, self.remaining or {})
        )
        unchecked = other_counts(
            findings_word(severity), sum(map(len, old.values())), self.left_out
        )
        names = [
            display_path(Path(name)) if name.startswith("/") else name for name in self.unsearched
        ]
        lines = render_others(new, severity, most) + unchecked + unsearched_line(names)
        if self.verdict.unknown and self.coverage != "none" and not lines:
            reasons = dict.fromkeys([*self.unknown.values(), *filter(None, [self.reason])])
            why = "; ".join(reasons)
            return [f"other files: unknown ({plain_line(why)})" if why else "other files: unknown"]
        return lines


class Report(Value, frozen=True):
    """Fresh diagnostics for one version of one file."""

    path: Path
    verdict: Verdict
    #: All findings in the file, of any severity, in line order.
    diagnostics: list[Diagnostic]
    servers: list[Evidence]
    #: Seconds.
    duration: float
    #: The other files, if they were requested (`scope="project"`).
    other_files: OtherFiles = OtherFiles()
    #: Earlier findings of servers that have not answered; not part of `diagnostics`.
    stale_diagnostics: list[Diagnostic] = msgspec.field(default_factory=list)
    #: Compared with the state before the edit; None at the first check.
    introduced: list[Diagnostic] | None = None
    fixed: list[Diagnostic] | None = None
    remaining: list[Diagnostic] | None = None
    #: Findings of this severity, and worse ones, count for the verdict.
    severity: Severity = Severity.ERROR
    #: Most findings that are shown as text.
    max_per_file: int = 20

    def __repr__(self) -> str:
        summary = count(len(self.counted), findings_word(self.severity).removesuffix("s"))
        others = len(self.other_files.shown)
        more = f", findings in {count(others, 'other file')}" if others else ""
        line = f"<Report {self.verdict.value} {display_path(self.path)}: {summary}{more}"
        return cut(line, LONGEST_REPR - 1) + ">"

    def __str__(self) -> str:
        own_text = render(self.path, self.own_verdict, self.counted, self.why, self.max_per_file)
        return "\n".join([own_text, *self.other_files.lines(self.severity, self.max_per_file)])

    @property
    def counted(self) -> list[Diagnostic]:
        """The findings that count for the verdict."""
        return [finding for finding in self.diagnostics if finding.severity.counts(self.severity)]

    @property
    def own_verdict(self) -> Verdict:
        """The verdict about this file alone, without the others of `scope="project"`."""
        return verdict_of(self.counted, self.servers)

    @property
    def why(self) -> str:
        """Why it is not known whether the file is clean; empty if it is known."""
        return why_of(self.servers)


def why_of(servers: list[Evidence]) -> str:
    """Why it is not known whether a file is clean; empty if all servers have proven it."""
    applicable = [evidence for evidence in servers if evidence.applies] or servers
    silent = [evidence for evidence in applicable if not evidence.proven]
    # An unknown kind of file has no server.
    reasons = [(evidence.server, evidence.reason or evidence.how) for evidence in silent]
    return "; ".join(f"{server}: {why}" if server else why for server, why in reasons)


def verdict_of(counted: list[Diagnostic], servers: list[Evidence]) -> Verdict:
    """Dirty if there are findings; clean only if all servers have proven that they checked it."""
    if counted:
        return Verdict.DIRTY
    applicable = [evidence for evidence in servers if evidence.applies]
    if applicable and all(evidence.proven for evidence in applicable):
        return Verdict.CLEAN
    return Verdict.UNKNOWN


def unchecked_report(path: str, problem: LspkitError) -> Report:
    """A report about a file that cannot be checked: it is unknown, with the reason."""
    server = getattr(problem, "server", "")
    rule = getattr(problem, "rule", "")
    evidence = Evidence(
        server, None, "none", 0.0, reason=problem.message, code=problem.code, rule=rule
    )
    return Report(Path(path), verdict_of([], [evidence]), [], [evidence], duration=0.0)


class EditReport(Value, frozen=True):
    """The state of the edited files, and of the others, after an edit."""

    #: By path, in order.
    reports: list[Report]
    other_files: OtherFiles = OtherFiles()

    def __str__(self) -> str:
        first = self.reports[0] if self.reports else None
        severity = Severity.ERROR if first is None else first.severity
        most = MOST if first is None else first.max_per_file
        lines = [str(report) for report in self.reports]
        lines += self.other_files.lines(severity, most)
        return "\n".join(lines) or "other files: no errors"

    @property
    def verdict(self) -> Verdict:
        """The verdict about the changed files and the others that were examined."""
        verdicts = {report.verdict for report in self.reports}
        if self.other_files.coverage != "none":
            verdicts.add(self.other_files.verdict)
        return worst_verdict(verdicts)


def worst_verdict(verdicts: Container[Verdict]) -> Verdict:
    """The verdict about several files together; clean if there are none."""
    worst = (verdict for verdict in (Verdict.DIRTY, Verdict.UNKNOWN) if verdict in verdicts)
    return next(worst, Verdict.CLEAN)


class Change(Value, frozen=True):
    """A change of files. `undo` takes it, also the one that `undo` has returned.

    change = ws.write("src/app.py", text, check="project")
    if change.verdict is lspkit.Verdict.DIRTY:
        print(change.report)
        ws.undo(change)
    """

    #: The edit of a server, if it was one.
    edit: WorkspaceEdit = WorkspaceEdit()
    #: Every changed path, folders before their contents.
    touched: tuple[TouchedFile, ...] = ()
    #: The state afterwards; None if nothing was checked.
    report: EditReport | None = None
    #: After a checked `apply`: why it is not known whether the edit has broken something, one line
    #: for each file.
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        line = f"changed {count(len(self.files), 'file')}"
        if self.unchecked:
            line = cut(f"{line}; not checked: {'; '.join(self.unchecked)}")
        return line if self.report is None else f"{line}\n{self.report}"

    @property
    def verdict(self) -> Verdict:
        """The verdict of the report; unknown without one, or if something could not be checked."""
        if self.report is None:
            return Verdict.UNKNOWN
        unchecked = [Verdict.UNKNOWN] if self.unchecked else []
        return worst_verdict([self.report.verdict, *unchecked])

    @property
    def files(self) -> list[Path]:
        """The created, deleted and changed files, in order."""
        return [file.path for file in self.touched if {file.was, file.now} != {"nothing", "folder"}]
