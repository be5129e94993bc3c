"""Checks of many projects on an executor: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
import queue
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing
from typing import Any, TypeAlias, TypeVar

from lspkit.batch.project_check import Project, ProjectCheck, ProjectJob, check_project
from lspkit.errors import LspkitError
from lspkit.types import Severity

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
                    broken = problem
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
                broken = problem
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
                broken: Exception = problem
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
    counted = None if severities is None else tuple(Severity(name).value for name in severities)
    batch = uuid.uuid4().hex
    jobs = [
        ProjectJob(
            project=(project if isinstance(project, Project) else Project(project)).absolute(),
            severities=counted,
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
