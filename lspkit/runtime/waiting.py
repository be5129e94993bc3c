"""Waiting for one thing, with a deadline, a cancel and an interrupt.

`Waiter` is a bare lock with a value: it has one consumer, either a thread that blocks on it or a
callback. A `Future` or an `Event` would do the same at six times the cost, on the path of every
request. `Call` is what one caller allows: how long, and the `Cancel` that ends it early.

Steps. Everything that may wait is written as a generator that yields `(waiter, until)` and is sent
the `Outcome`. `block` drives such a generator in the caller's thread; `runtime/submit.py` drives
the same ones without a thread per call.
"""

from __future__ import annotations

import _thread
import enum
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

#: A plain `threading.Event` as a cancel is looked at this often: nothing can wait on two things.
EVENT_LOOK = 0.05


class Outcome(enum.Enum):
    """How a wait ended."""

    DONE = "done"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class Waiter:
    """Something that will be there once. Completed by any thread, awaited by one."""

    __slots__ = ("_lock", "done", "on_done", "value")

    def __init__(self) -> None:
        #: Held until there is something to see.
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self.done = False
        self.value: Any = None
        #: Called instead of waking a thread, by whoever completes it.
        self.on_done: Callable[[], None] | None = None

    def complete(self, value: Any = None) -> None:
        """Set the value and wake the consumer; only the first time counts."""
        if self.done:
            return
        self.value = value
        self.done = True
        self.wake()

    def wake(self) -> None:
        """Let the consumer look around."""
        try:
            self._lock.release()
        except RuntimeError:
            pass  # nobody has looked since the last wake: one is enough
        on_done = self.on_done
        if on_done is not None:
            on_done()

    def wait(self, timeout: float) -> bool:
        """Block until it is complete, woken, or the time is up; True if complete."""
        if not self.done and timeout > 0:
            self._lock.acquire(True, min(timeout, threading.TIMEOUT_MAX))
        return self.done


class Cancel:
    """Ends a call early, from any thread. One may be given to any number of calls."""

    def __init__(self) -> None:
        self._set = False
        #: Guards `_waiters`.
        self._lock = threading.Lock()
        self._waiters: list[Waiter] = []

    def __repr__(self) -> str:
        return f"<Cancel {'set' if self._set else 'not set'}>"

    def set(self) -> None:
        """Cancel, for good."""
        self._set = True
        with self._lock:
            waiters = list(self._waiters)
        for waiter in waiters:
            waiter.wake()

    def is_set(self) -> bool:
        """Whether it was cancelled."""
        return self._set

    def watch(self, waiter: Waiter) -> None:
        """Wake `waiter` when it is set."""
        with self._lock:
            self._waiters.append(waiter)

    def unwatch(self, waiter: Waiter) -> None:
        """No longer."""
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)


#: What ends a call early.
CancelLike = Cancel | threading.Event

#: One step of a generator that waits: for what, and until when by the monotonic clock.
Step = tuple[Waiter, float]
Steps = Generator[Step, Outcome, T]


class Witness:
    """Who has answered a call and who has not, for a caller who wants to know.

    Where one server has answered, what is wrong with the others is told to nobody else.
    """

    __slots__ = ("answered", "failed")

    def __init__(self) -> None:
        #: Ids of servers.
        self.answered: set[str] = set()
        self.failed: list[Exception] = []


class Call:
    """What one caller allows."""

    __slots__ = ("cancel", "deadline", "witness")

    def __init__(
        self,
        timeout: float | None = None,
        cancel: Cancel | threading.Event | None = None,
        witness: Witness | None = None,
    ) -> None:
        #: By the monotonic clock.
        self.deadline = float("inf") if timeout is None else time.monotonic() + timeout
        self.cancel = cancel
        self.witness = witness

    def heard(self, servers: Iterable[str], failed: Iterable[Exception] = ()) -> None:
        """These have answered, and those have failed."""
        if self.witness is not None:
            self.witness.answered.update(servers)
            self.witness.failed += failed

    def cancelled(self) -> bool:
        """Whether the caller has given up."""
        return self.cancel is not None and self.cancel.is_set()

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for its result any more."""
        return self.cancelled() or time.monotonic() >= self.deadline

    def wait(self, waiter: Waiter, until: float) -> Outcome:
        """Block in this thread."""
        cancel = self.cancel
        if cancel is None:
            return self._wait(waiter, until, threading.TIMEOUT_MAX)
        if isinstance(cancel, Cancel):
            cancel.watch(waiter)
            try:
                return self._wait(waiter, until, threading.TIMEOUT_MAX)
            finally:
                cancel.unwatch(waiter)
        return self._wait(waiter, until, EVENT_LOOK)

    def _wait(self, waiter: Waiter, until: float, at_most: float) -> Outcome:
        until = min(until, self.deadline)
        while not waiter.done:
            if self.cancelled():
                return Outcome.CANCELLED
            left = until - time.monotonic()
            if left <= 0:
                return Outcome.TIMED_OUT
            waiter.wait(min(left, at_most))
        return Outcome.DONE


def block(steps: Steps[T], call: Call) -> T:
    """Run a generator of waits to its end, in this thread.

    An interrupt is thrown into the generator where it waits, so that it can take its request back.
    """
    try:
        waiter, until = next(steps)
        while True:
            try:
                outcome = call.wait(waiter, until)
            except BaseException as interrupt:  # noqa: BLE001 (thrown on at once)
                waiter, until = steps.throw(interrupt)
                continue
            waiter, until = steps.send(outcome)
    except StopIteration as end:
        value: T = end.value
        return value


def together(jobs: Sequence[Steps[T]], call: Call) -> Steps[list[T | Exception]]:
    """Run several generators of waits at the same time; what one raises is its result.

    Each goes on as soon as what it waits for is there, so the whole takes as long as the slowest.
    """
    results: list[T | Exception | None] = [None] * len(jobs)
    waits: dict[int, Step] = {}

    def go_on(number: int, outcome: Outcome | None) -> None:
        job = jobs[number]
        try:
            waits[number] = next(job) if outcome is None else job.send(outcome)
        except StopIteration as end:
            waits.pop(number, None)
            results[number] = end.value
        except Exception as problem:  # noqa: BLE001 (it is that job's result)
            waits.pop(number, None)
            results[number] = problem

    try:
        for number in range(len(jobs)):
            go_on(number, None)
        while waits:
            outcome = yield _any_of(list(waits.values()))
            now = time.monotonic()
            for number, (waiter, until) in list(waits.items()):
                if waiter.done:
                    go_on(number, Outcome.DONE)
                elif outcome is Outcome.CANCELLED or now >= min(until, call.deadline):
                    late = outcome is not Outcome.CANCELLED
                    go_on(number, Outcome.TIMED_OUT if late else Outcome.CANCELLED)
    finally:
        for number in waits:
            jobs[number].close()
    return results  # type: ignore[return-value]


def _any_of(steps: list[Step]) -> Step:
    """A wait that is over with the first of these."""
    bell = Waiter()
    for waiter, _ in steps:
        waiter.on_done = bell.complete
        if waiter.done:
            bell.complete()
    return bell, min(until for _, until in steps)
