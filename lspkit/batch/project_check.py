"""The check of one project, and its result as a value. It runs in a worker of an executor.

Nothing here raises because of a project: what went wrong is in the result. So an exception in the
future of an executor means that the executor has failed, and not the check.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from lspkit.batch.check_outcome import CheckOutcome, sort_reports
from lspkit.batch.file_selection import select_files
from lspkit.batch.sarif_log import failure_runs, sarif_runs
from lspkit.config import Config
from lspkit.diagnostics.report import Report
from lspkit.diagnostics.unresolved_imports import import_hint
from lspkit.errors import LspkitError
from lspkit.types import Value, Verdict, display_path, to_plain
from lspkit.visible_text import count, fold_lines
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import work_tree

#: Everything in the folder.
WHOLE = (".",)


class Project(msgspec.Struct, frozen=True):
    """A folder to check, if the folder alone does not say enough.

    Project("service", ["src", "main.py"], trusted=True)
    """

    root: str | os.PathLike[str]
    #: Files and folders in it that are checked; a folder means the files of known kinds in it.
    paths: tuple[str | os.PathLike[str], ...] | list[str | os.PathLike[str]] = WHOLE
    #: As for `Workspace`.
    config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None
    trusted: bool | None = None

    def __post_init__(self) -> None:
        if isinstance(self.paths, str | bytes | os.PathLike):
            raise TypeError(f"paths is {self.paths!r}: a list of paths is needed")

    def absolute(self) -> Project:
        """The project with absolute paths, for a worker that may have another current folder."""
        config = self.config
        if isinstance(config, str | os.PathLike):
            config = os.path.abspath(config)
        paths = tuple(os.fspath(path) for path in self.paths)
        return Project(os.path.abspath(self.root), paths, config, self.trusted)


class ProjectJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is sent."""

    project: Project
    severities: tuple[str, ...] | None
    #: Seconds.
    timeout: float
    #: Differs between all jobs: Dask would answer an equal one from its memory.
    key: str


class ProjectCheck(Value, frozen=True, kw_only=True):
    """The result for one project."""

    #: The folder, as an absolute path.
    root: Path
    #: `DIRTY` if a file has findings that count, `CLEAN` if all files are proven clean.
    verdict: Verdict
    #: The reports about the files that a server was asked about, by path.
    reports: list[Report] = msgspec.field(default_factory=list)
    #: Files and folders that were not checked, and why.
    unchecked: dict[str, str] = msgspec.field(default_factory=dict)
    #: Why the project was not checked at all: it cannot be opened, or its worker was lost.
    error: LspkitError | None = None
    #: Hints for people, such as how to make imports known.
    hints: tuple[str, ...] = ()
    #: Seconds that the worker took.
    duration: float = 0.0
    #: The runs of its SARIF log, made where the files are.
    runs: list[dict[str, Any]] = msgspec.field(default_factory=list)

    @classmethod
    def failed(cls, root: str, error: LspkitError, duration: float = 0.0) -> Self:
        """The result for a project that was not checked."""
        return cls(
            root=Path(root),
            verdict=Verdict.UNKNOWN,
            error=error,
            duration=duration,
            runs=failure_runs(root, str(error)),
        )

    def __str__(self) -> str:
        where = display_path(self.root)
        if self.error is not None:
            return f"{where}: {self.verdict} ({fold_lines(str(self.error))})"
        findings = sum(len(report.counted) for report in self.reports)
        details = [count(len(self.reports), "file"), count(findings, "finding")]
        if self.unchecked:
            details.append(f"{len(self.unchecked)} not checked")
        return f"{where}: {self.verdict} ({', '.join(details)})"

    def to_dict(self) -> dict[str, Any]:
        """The value as plain JSON types, without the SARIF runs."""
        plain = {name: getattr(self, name) for name in self.__struct_fields__ if name != "runs"}
        plain["error"] = None if self.error is None else self.error.to_dict()
        values: dict[str, Any] = to_plain(plain)
        return values


def check_project(job: ProjectJob) -> ProjectCheck:
    """Check a project in a workspace of its own, whose servers end before the result is told."""
    began = time.monotonic()
    root = os.fspath(job.project.root)
    try:
        outcome = _check(job, began + job.timeout)
        return ProjectCheck(
            root=Path(root),
            verdict=_verdict(outcome),
            reports=outcome.reports,
            unchecked={str(path): why for path, why in outcome.unchecked.items()},
            hints=outcome.hints,
            duration=time.monotonic() - began,
            runs=sarif_runs(outcome, root),
        )
    except LspkitError as problem:
        return ProjectCheck.failed(root, problem, time.monotonic() - began)
    except Exception as problem:  # noqa: BLE001 (one project must not end the others; it is told)
        error = LspkitError(f"the check has failed: {type(problem).__name__}: {problem}")
        return ProjectCheck.failed(root, error, time.monotonic() - began)


def _check(job: ProjectJob, deadline: float) -> CheckOutcome:
    project = job.project
    root = os.fspath(project.root)
    with Workspace(root, config=project.config, trusted=project.trusted) as ws:
        names = [os.fspath(path) for path in project.paths]
        selected = select_files(names, ws.config, folder=str(ws.root))
        left = max(0.0, deadline - time.monotonic())
        checked = ws.check_all(selected.files, severities=job.severities, timeout=left)
        reports, skipped, failed = sort_reports(checked)
        hint = import_hint(reports)
        return CheckOutcome(
            base=work_tree(str(ws.root)),
            reports=reports,
            skipped=skipped,
            failed={**selected.unreadable, **failed},
            missing=selected.missing,
            hints=(hint,) if hint else (),
        )


def _verdict(outcome: CheckOutcome) -> Verdict:
    """As the exit status of `lspkit check`: files without a server do not count."""
    if outcome.dirty:
        return Verdict.DIRTY
    partial = outcome.unknown or outcome.failed or outcome.missing or not outcome.reports
    return Verdict.UNKNOWN if partial else Verdict.CLEAN
