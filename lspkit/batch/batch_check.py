"""Checks of many projects on an executor: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing

from lspkit.batch.dispatch import Dispatch
from lspkit.batch.project_check import Project, ProjectCheck, ProjectJob, check_project
from lspkit.errors import LspkitError
from lspkit.types import Severity

#: Seconds for one project, including the start of its servers.
PROJECT_TIMEOUT = 300.0


def check(
    projects: Iterable[str | os.PathLike[str] | Project],
    *,
    executor: Executor,
    severities: Sequence[str] | None = None,
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
    which it has to itself has an error. `severities` count for the verdict, and `timeout` is in
    seconds for each project. The work begins with the first result that is asked for; closing the
    iterator cancels what has not begun.
    """
    if isinstance(projects, str | bytes | os.PathLike):
        raise TypeError(f"projects is {projects!r}: a list of folders is needed")
    if not isinstance(executor, Executor):
        raise TypeError(f"executor is {executor!r}: a concurrent.futures.Executor is needed")
    counted = None if severities is None else tuple(Severity(one).value for one in severities)
    batch = uuid.uuid4().hex
    jobs = [
        ProjectJob(
            project=(one if isinstance(one, Project) else Project(one)).absolute(),
            severities=counted,
            timeout=timeout,
            key=f"{batch}-{number}",
        )
        for number, one in enumerate(projects)
    ]
    numbered = _results(jobs, executor)
    return _in_order(numbered) if ordered else _as_completed(numbered)


#: The results with the numbers of their jobs.
Numbered = Generator[tuple[int, ProjectCheck], None, None]


def _results(jobs: list[ProjectJob], executor: Executor) -> Numbered:
    with closing(Dispatch(check_project, jobs, executor).results()) as found:
        for number, result in found:
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
