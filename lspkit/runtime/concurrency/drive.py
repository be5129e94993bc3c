"""Driving generators of waits: one in the caller's thread, or several at the same time."""

from __future__ import annotations

import collections
import time
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Outcome, Step, Steps, Waiter

T = TypeVar("T")


def block(steps: Steps[T], call: CallContext) -> T:
    """Run a generator of waits to its end, in this thread.

    An interrupt is thrown into the generator where it waits, so that it can cancel its request.
    """
    call.blocks = True
    try:
        waiter, until = next(steps)
        while True:
            try:
                outcome = call.wait(waiter, until)
            except BaseException as interrupt:  # noqa: BLE001 (thrown into the generator)
                waiter, until = steps.throw(interrupt)
                continue
            waiter, until = steps.send(outcome)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()  # an interrupt may come outside of it, too


def together(jobs: Sequence[Steps[T]], call: CallContext) -> Steps[list[T | Exception]]:
    """Run several generators of waits at the same time; what one raises is its result.

    Each continues as soon as its wait is over, so the whole takes as long as the slowest.
    """
    if len(jobs) == 1:
        try:
            return [(yield from jobs[0])]
        except Exception as problem:  # noqa: BLE001 (it is that job's result)
            return [problem]
    round = _Round(jobs)
    blocks, call.owner.blocks = call.owner.blocks, False
    try:
        for number in range(len(jobs)):
            round.go_on(number, None)
        while round.waits:
            outcome = yield round.step()
            round.look(outcome, call)
    finally:
        call.owner.blocks = blocks
        for number in round.waits:
            jobs[number].close()
    return round.results


class _Round(Generic[T]):
    """The jobs of one `together`. Other threads only call `_note_end`."""

    def __init__(self, jobs: Sequence[Steps[T]]) -> None:
        self._jobs = jobs
        self.results: list[T | Exception] = [_NOTHING] * len(jobs)
        #: The wait of each unfinished job, and its end.
        self.waits: dict[int, Step] = {}
        #: Jobs whose wait may be over. Adding and removing are atomic.
        self._ended: collections.deque[int] = collections.deque()
        self._waiter = Waiter()
        #: When the first wait times out.
        self._until = 0.0

    def go_on(self, number: int, outcome: Outcome | None) -> None:
        """Run the next step of a job."""
        job = self._jobs[number]
        try:
            step = next(job) if outcome is None else job.send(outcome)
        except StopIteration as end:
            self.waits.pop(number, None)
            self.results[number] = end.value
        except Exception as problem:  # noqa: BLE001 (it is that job's result)
            self.waits.pop(number, None)
            self.results[number] = problem
        else:
            self.waits[number] = step
            step[0].on_done = lambda: self._note_end(number)
            if step[0].done:
                self._note_end(number)

    def _note_end(self, number: int) -> None:
        self._ended.append(number)
        self._waiter.complete()

    def step(self) -> Step:
        """A wait that ends with the first wait of the jobs."""
        self._waiter = Waiter()
        if self._ended:  # a wait ended before this waiter existed
            self._waiter.complete()
        self._until = min(until for _, until in self.waits.values())
        return self._waiter, self._until

    def look(self, outcome: Outcome, call: CallContext) -> None:
        """Continue the jobs whose wait is over."""
        if outcome is Outcome.CANCELLED or time.monotonic() >= min(self._until, call.deadline):
            self._end_waits(outcome, call)
        for _ in range(len(self._ended)):
            number = self._ended.popleft()
            step = self.waits.get(number)
            if step is not None and step[0].done:
                self.go_on(number, Outcome.DONE)

    def _end_waits(self, outcome: Outcome, call: CallContext) -> None:
        """Continue the jobs that timed out; all if the call was cancelled."""
        now, cancelled = time.monotonic(), outcome is Outcome.CANCELLED
        for number, (waiter, until) in list(self.waits.items()):
            if not waiter.done and (cancelled or now >= min(until, call.deadline)):
                self.go_on(number, Outcome.CANCELLED if cancelled else Outcome.TIMED_OUT)


#: Placeholder of a result; never returned.
_NOTHING: Any = None
