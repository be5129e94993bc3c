"""Checks of many projects on an executor: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import msgspec

from lspkit.batch.check_outcome import CheckOutcome, sort_reports
from lspkit.batch.file_selection import select_files
from lspkit.batch.sarif_log import failure_runs, sarif_log, sarif_runs
from lspkit.config import Config
from lspkit.diagnostics.report import Report
from lspkit.diagnostics.unresolved_imports import import_hint
from lspkit.errors import LspkitError
from lspkit.types import Severity, Value, Verdict, display_path, to_plain
from lspkit.visible_text import count, fold_lines
from lspkit.workspace import Workspace
from lspkit.workspace_boundary import work_tree

# The check of one project, and its result as a value. It runs in a worker of an executor.
#
# Nothing here raises because of a project: what went wrong is in the result. So an exception in the
# future of an executor means that the executor has failed, and not the check.

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
    severity: Severity | None
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
        checked = ws.check_all(selected.files, severity=job.severity, timeout=left)
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


J = TypeVar("J")
R = TypeVar("R")
#: The number of a job with its result, or with what the executor has failed with.
Result: TypeAlias = tuple[int, R | Exception]

#: How often a job may break a pool that it has to itself.
MOST_BREAKS = 2
#: Jobs that a process pool has at a time, for each of its workers. The others wait here, where they
#: are not lost with it; a second one for each keeps the workers busy.
JOBS_PER_WORKER = 2
# `futures.ProcessPoolExecutor` is looked up where it is used: it imports multiprocessing, which
# `lspkit check` does without.


def dispatch(
    function: Callable[[J], R], jobs: Sequence[J], executor: Executor
) -> Generator[Result[R], None, None]:
    """Hand jobs to an executor, and again if it has lost them with a worker.

    A process pool is broken as soon as one of its worker processes dies: every job that it had is
    lost, and it takes no further ones. Nobody knows which of the lost jobs has ended the worker, so
    each is done again in a pool of its own, and given up after `MOST_BREAKS`. The others go on in a
    second pool of the same kind. Dask does the jobs of a lost worker again by itself, and nobody
    knows how to make another executor of any other kind. At the end, also an early one, jobs that
    have not begun are cancelled.
    """
    waiting = deque(range(len(jobs)))
    pool = executor
    while waiting:
        lost: list[int] = []
        try:
            problem = yield from _run(function, jobs, waiting, pool, lost)
        finally:
            if pool is not executor:
                pool.shutdown(cancel_futures=True)
        if problem is None:
            return
        if not isinstance(executor, futures.ProcessPoolExecutor):
            yield from ((number, problem) for number in (*lost, *waiting))
            return
        for number in lost:
            yield number, _do_alone(function, jobs[number], executor)
        pool = _another(executor, _worker_count(executor))


def _run(
    function: Callable[[J], R],
    jobs: Sequence[J],
    waiting: deque[int],
    executor: Executor,
    lost: list[int],
) -> Generator[Result[R], None, BrokenExecutor | None]:
    """Do these jobs; returns why the executor has broken, and adds the jobs that it has lost."""
    room = float("inf")
    if isinstance(executor, futures.ProcessPoolExecutor):
        room = JOBS_PER_WORKER * _worker_count(executor)
    pending: dict[Future[R], int] = {}
    # In the order in which they are done: waiting for one costs the same for any number of others.
    done: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
    broken: BrokenExecutor | None = None
    try:
        while pending or (waiting and broken is None):
            while waiting and broken is None and len(pending) < room:
                try:
                    future = executor.submit(function, jobs[waiting[0]])
                except BrokenExecutor as problem:
                    broken = problem.with_traceback(None)  # which would keep the broken pool
                    break
                pending[future] = waiting.popleft()
                future.add_done_callback(done.put)
            if not pending:
                break
            future = done.get()
            number = pending.pop(future)
            try:
                result: R | Exception = future.result()
            except BrokenExecutor as problem:
                broken = problem.with_traceback(None)
                lost.append(number)
                continue
            except Exception as problem:  # noqa: BLE001 (the caller gets it with the job's number)
                result = problem
            yield number, result
    finally:
        for future in pending:
            future.cancel()
    return broken


def _do_alone(
    function: Callable[[J], R], job: J, like: futures.ProcessPoolExecutor
) -> R | Exception:
    """The result of a job in a process of its own, or what has gone wrong."""
    for _ in range(MOST_BREAKS):
        with _another(like, 1) as pool:
            try:
                return pool.submit(function, job).result()
            except BrokenExecutor as problem:
                broken: Exception = problem.with_traceback(None)
            except Exception as problem:  # noqa: BLE001 (the caller gets it with the job's number)
                return problem
    return broken


def _worker_count(pool: futures.ProcessPoolExecutor) -> int:
    return int(getattr(pool, "_max_workers", 1))


def _another(pool: futures.ProcessPoolExecutor, workers: int) -> futures.ProcessPoolExecutor:
    """A pool like this one, as far as it tells how it was made."""
    names = ("mp_context", "initializer", "initargs", "max_tasks_per_child")
    settings: dict[str, Any] = {
        name: getattr(pool, f"_{name}") for name in names if hasattr(pool, f"_{name}")
    }
    return futures.ProcessPoolExecutor(workers, **settings)


#: Seconds for one project, including the start of its servers.
PROJECT_TIMEOUT = 300.0


def check(
    projects: Iterable[str | os.PathLike[str] | Project],
    *,
    executor: Executor,
    severity: str | None = None,
    timeout: float = PROJECT_TIMEOUT,
    ordered: bool = False,
) -> Iterator[ProjectCheck]:
    """Check projects on any executor: a result for each, as soon as it is there.

        with ProcessPoolExecutor(4) as pool:
            for result in lspkit.batch.check(["one", "two"], executor=pool):
                print(result)

    A project is a folder, or a `Project` with paths and a configuration. Each is checked in a
    workspace of its own, by the servers of the machine that the worker is on. With `ordered`,
    results come in the order of the projects. What has gone wrong with a project is the `error` of
    its result. Projects of a worker that has died are checked again; one that twice ends a process
    which it has to itself has an error. Findings of `severity` and worse count for the verdict.
    `timeout` is in seconds for each project. The work begins with the first result that is asked
    for; closing the iterator cancels what has not begun.
    """
    if isinstance(projects, str | bytes | os.PathLike):
        raise TypeError(f"projects is {projects!r}: a list of folders is needed")
    if not isinstance(executor, Executor):
        raise TypeError(f"executor is {executor!r}: a concurrent.futures.Executor is needed")
    threshold = None if severity is None else Severity(severity)
    batch = uuid.uuid4().hex
    jobs = [
        ProjectJob(
            project=(project if isinstance(project, Project) else Project(project)).absolute(),
            severity=threshold,
            timeout=timeout,
            key=f"{batch}-{number}",
        )
        for number, project in enumerate(projects)
    ]
    numbered = _results(jobs, executor)
    return _in_order(numbered) if ordered else _as_completed(numbered)


#: The results with the numbers of their jobs.
Numbered = Generator[tuple[int, ProjectCheck], None, None]


def _results(jobs: list[ProjectJob], executor: Executor) -> Numbered:
    with closing(dispatch(check_project, jobs, executor)) as results:
        for number, result in results:
            if isinstance(result, Exception):
                root = os.fspath(jobs[number].project.root)
                what = f"{type(result).__name__}: {result}"
                error = LspkitError(f"the executor has not checked the project: {what}")
                result = ProjectCheck.failed(root, error)
            yield number, result


def _as_completed(numbered: Numbered) -> Iterator[ProjectCheck]:
    with closing(numbered):
        for _, result in numbered:
            yield result


def _in_order(numbered: Numbered) -> Iterator[ProjectCheck]:
    early: dict[int, ProjectCheck] = {}
    following = 0
    with closing(numbered):
        for number, result in numbered:
            early[number] = result
            while following in early:
                yield early.pop(following)
                following += 1


def merge_sarif(results: Iterable[ProjectCheck]) -> dict[str, Any]:
    """One SARIF log for the results of `check`, as plain values: `json.dumps` writes it.

    Each server of each project has a run of its own, whose category names the project.
    """
    return sarif_log([run for result in results for run in result.runs])
