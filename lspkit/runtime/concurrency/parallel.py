"""Running a job in another thread and waiting for it, and several jobs at the same time."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from lspkit.errors import RequestFailedError, WorkspaceClosedError
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.threads import MOST_CALLS, ThreadCache

T = TypeVar("T")


class _Part(Generic[T]):
    """A job in another thread, and what came of it."""

    def __init__(self, job: Callable[[], T]) -> None:
        self._job: Callable[[], T] | None = job
        self._value: Any = None
        self._problem: BaseException | None = None
        #: Taken by who begins the job, or gives it up.
        self._turn = _thread.allocate_lock()
        self.is_done = False
        #: Released when the job is done. A bare lock, since the main thread waits for it.
        self.ready = _thread.allocate_lock()
        self.ready.acquire()

    def run(self) -> None:
        """Do the job, unless it was given up."""
        if not self._turn.acquire(blocking=False):
            return
        job, self._job = self._job, None
        try:
            if job is not None:
                self._value = job()
        except BaseException as problem:  # noqa: BLE001 (raised in the thread that waits)
            self._problem = problem
        finally:
            del job
            self.is_done = True
            self.ready.release()

    def give_up(self, patience: float) -> list[str]:
        """Do not begin the job. One that has begun is waited for, so many seconds.

        Returns the notes of its error: what could not be put back.
        """
        if not self._turn.acquire(blocking=False) and not self.is_done:
            self.ready.acquire(True, patience)
        notes, problem = list[str](), self._problem
        while problem is not None:
            notes += getattr(problem, "__notes__", ())
            problem = problem.__cause__
        return notes

    def result(self) -> T:
        """What the job has returned; raises what it has raised. Once."""
        problem, self._problem = self._problem, None
        try:
            if problem is not None:
                raise problem
            value: T = self._value
            return value
        finally:
            del problem  # it refers to this frame


def hand_over(threads: ThreadCache, job: Callable[[], T], call: Call, patience: float) -> T:
    """Carry out a call in another thread, and wait for it. For the main thread.

    An interrupt stops the call, waits for its end for so many seconds (-1: however long it takes),
    and is raised. If there is no other thread, the call is carried out in this one.
    """
    part = _Part(job)
    is_begun = True
    try:
        is_begun = threads.do(part.run)
        if is_begun:
            part.ready.acquire()
    except BaseException as interrupt:
        call.stop()
        for note in part.give_up(patience):
            interrupt.add_note(note)
        raise
    return part.result() if is_begun else job()


def submit_to(
    threads: ThreadCache, job: Callable[[], T], at_end: Callable[[], object] = lambda: None
) -> Future[T]:
    """Do a job in another thread; its callbacks run there, too.

    `at_end` is called before those, perhaps twice, and also if the job is not begun. It is no
    callback: an interrupt of the main thread that adds one may leave a lock of the future locked.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            if not future.set_running_or_notify_cancel():
                return
            value = job()
        except BaseException as problem:  # noqa: BLE001 (the future carries it on)
            error = problem
            at_end()
            threads.call_back(lambda: future.set_exception(error))
            return
        finally:
            at_end()
        threads.call_back(lambda: future.set_result(value))

    if not threads.do(run, MOST_CALLS):
        at_end()
        future.set_running_or_notify_cancel()
        future.set_exception(no_thread_error(threads))
    return future


def no_thread_error(threads: ThreadCache) -> Exception:
    """Why a job cannot be begun."""
    if threads.is_closed:
        return WorkspaceClosedError("this workspace was closed")
    return RequestFailedError(
        f"the call was not begun: {MOST_CALLS} calls are under way, or this process can start no "
        "more threads; wait for some of them"
    )


def attempt(job: Callable[[], T]) -> T | Exception:
    """Do a job here; what it raises is its result."""
    try:
        return job()
    except Exception as problem:  # noqa: BLE001 (it is the result of this job)
        return problem


def in_parallel(threads: ThreadCache, jobs: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Do several jobs at the same time; what one raises is its result.

    All run to their end. The first one runs in this thread, and so do those for which there is no
    other.
    """
    parts = [_Part(job) for job in jobs]
    waiting = [part for part in parts[1:] if not threads.do(part.run, MOST_CALLS)]
    for part in (*parts[:1], *waiting):
        part.run()
    for part in parts:
        part.ready.acquire()
    return [attempt(part.result) for part in parts]
