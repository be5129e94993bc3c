"""Checks of many projects on an executor: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
import queue
import uuid
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import closing
from typing import Any, Generic, TypeVar

from lspkit.batch.project_check import Project, ProjectCheck, ProjectJob, check_project
from lspkit.errors import LspkitError
from lspkit.types import Severity

# Hands jobs to an executor, and again if it has lost them with a worker.
#
# A process pool is broken as soon as one of its worker processes dies: every job that it had is
# lost, and it takes no further ones. Its jobs then go on in a second pool of the same kind. Nobody
# knows which of the lost jobs has ended the worker, so they are done again one at a time: a job
# that is alone with the pool when that breaks is taken for the cause, and is given up after
# `MOST_BREAKS`. The other jobs are not charged for it. Dask does the jobs of a lost worker again by
# itself.

J = TypeVar("J")
R = TypeVar("R")

#: How often a job may break a pool that it has to itself.
MOST_BREAKS = 2
#: Jobs that a process pool has at a time, for each of its workers. The others wait here, where they
#: are not lost with it; a second one for each keeps the workers busy.
JOBS_PER_WORKER = 2


class Dispatch(Generic[J, R]):
    """The jobs of one batch. Used by one thread."""

    def __init__(self, function: Callable[[J], R], jobs: Sequence[J], executor: Executor) -> None:
        self._function = function
        self._jobs = jobs
        self._executor = executor
        #: The pool that stands in for a broken one.
        self._own: ProcessPoolExecutor | None = None
        self._waiting = deque(range(len(jobs)))
        #: Jobs that were lost, and are done again one at a time.
        self._suspects: deque[int] = deque()
        #: Whether a suspect is pending: no other job joins it.
        self._alone = False
        self._breaks: Counter[int] = Counter()
        self._given_up: list[int] = []
        self._pending: dict[Future[R], int] = {}
        #: Futures in the order in which they are done: waiting for one costs the same for any
        #: number of others.
        self._done: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
        self._broken: BrokenExecutor | None = None

    def results(self) -> Generator[tuple[int, R | Exception], None, None]:
        """The number of each job with its result, or with what the executor has failed with.

        At the end, also an early one, jobs that have not begun are cancelled.
        """
        try:
            while self._waiting or self._suspects or self._pending or self._given_up:
                if self._broken is not None and not self._pending:
                    yield from self._replace(self._broken)
                self._submit()
                if self._pending:
                    yield from self._take(self._done.get())
        finally:
            for future in list(self._pending):
                future.cancel()
            if self._own is not None:
                self._own.shutdown(cancel_futures=True)

    def _submit(self) -> None:
        """Hand over as many jobs as the executor should have now."""
        while self._broken is None and len(self._pending) < self._room():
            jobs = self._suspects or self._waiting
            if not jobs:
                return
            self._alone = jobs is self._suspects
            number = jobs.popleft()
            try:
                future = self._executor.submit(self._function, self._jobs[number])
            except BrokenExecutor as problem:
                self._lose(number, problem)
                return
            self._pending[future] = number
            future.add_done_callback(self._done.put)

    def _room(self) -> float:
        if self._suspects or self._alone:
            return 1
        if isinstance(self._executor, ProcessPoolExecutor):
            return JOBS_PER_WORKER * _worker_count(self._executor)
        return float("inf")

    def _take(self, future: Future[R]) -> Iterator[tuple[int, R | Exception]]:
        number = self._pending.pop(future)
        try:
            result: R | Exception = future.result()
        except BrokenExecutor as problem:
            self._lose(number, problem)
            return
        except Exception as problem:  # noqa: BLE001 (the caller gets it with the job's number)
            result = problem
        self._alone = False
        yield number, result

    def _lose(self, number: int, problem: BrokenExecutor) -> None:
        self._broken = problem
        self._breaks[number] += self._alone
        self._alone = False
        if self._breaks[number] < MOST_BREAKS:
            self._suspects.append(number)
        else:
            self._given_up.append(number)

    def _replace(self, problem: BrokenExecutor) -> Iterator[tuple[int, R | Exception]]:
        """Go on after a break, with another pool. A job that has caused too many is not repeated.

        Nobody knows how to make another executor of a kind that is not a process pool.
        """
        lost, self._given_up = self._given_up, []
        if isinstance(self._executor, ProcessPoolExecutor):
            former, self._own = self._own, _another(self._executor)
            self._executor, self._broken = self._own, None
            if former is not None:
                former.shutdown()
        else:
            lost += [*self._suspects, *self._waiting]
            self._suspects.clear()
            self._waiting.clear()
        yield from ((number, problem) for number in lost)


def _worker_count(pool: ProcessPoolExecutor) -> int:
    return int(getattr(pool, "_max_workers", 1))


def _another(pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
    """A pool like this one, as far as it tells how it was made."""
    names = ("mp_context", "initializer", "initargs", "max_tasks_per_child")
    told: dict[str, Any] = {
        name: getattr(pool, f"_{name}") for name in names if hasattr(pool, f"_{name}")
    }
    return ProcessPoolExecutor(_worker_count(pool), **told)


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
