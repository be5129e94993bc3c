"""Waiting for one thing, with a deadline, a cancel and an interrupt.

`Waiter` is a bare lock with a value: it has one consumer, either a thread that blocks on it or a
callback. A `Future` or an `Event` would do the same at six times the cost, on the path of every
request. `CallContext` is what one caller allows: how long, and the `CancelToken` that ends it
early.

Steps. Everything that may wait is written as a generator that yields `(waiter, until)` and is sent
the `Outcome`. `block` drives such a generator in the caller's thread;
`runtime/concurrency/future_task.py` drives the same ones without a thread per call.
"""

from __future__ import annotations

import _thread
import collections
import enum
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from lspkit.errors import CancelledError

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

    __slots__ = ("__weakref__", "_lock", "done", "on_done", "value")

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


class CancelToken:
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
CancelLike = CancelToken | threading.Event

#: One step of a generator that waits: for what, and until when by the monotonic clock.
Step = tuple[Waiter, float]
Steps = Generator[Step, Outcome, T]


class AnswerLog:
    """Who has answered a call and who has not, for a caller who wants to know.

    Where one server has answered, what is wrong with the others is told to nobody else.
    """

    __slots__ = ("answered", "failed")

    def __init__(self) -> None:
        #: Ids of servers.
        self.answered: set[str] = set()
        self.failed: list[Exception] = []


class Used(Protocol):
    """What is not to be taken away from a call."""

    #: The calls that need it. Adding and taking are single steps.
    users: set[CallContext]
    #: When it was last used, by the monotonic clock.
    last_used: float


def _seconds(timeout: Any) -> float:
    """Any kind of number will do."""
    try:
        seconds = float("nan") if isinstance(timeout, (str, bytes)) else float(timeout)
    except OverflowError:
        return float("inf")
    except (TypeError, ValueError):
        seconds = float("nan")
    if seconds != seconds:
        raise TypeError(f"timeout is {timeout!r}: a number of seconds is needed, or None")
    return seconds


class CallContext:
    """What one caller allows."""

    __slots__ = ("_uses", "began", "cancel", "deadline", "done", "witness")

    def __init__(
        self,
        timeout: float | None = None,
        cancel: CancelToken | threading.Event | None = None,
        witness: AnswerLog | None = None,
    ) -> None:
        #: By the monotonic clock, like the deadline. What has changed before is to be known; of
        #: what changes later, nobody can say that the caller meant it.
        self.began = time.monotonic()
        self.deadline = float("inf") if timeout is None else self.began + _seconds(timeout)
        if cancel is not None and not hasattr(cancel, "is_set"):
            raise TypeError(f"cancel is {cancel!r}: a threading.Event is needed, or None")
        self.cancel = cancel
        self.witness = witness
        #: What one part of the call has done for all of them. One thread at a time is in a call.
        self.done: set[object] = set()
        self._uses: set[Used] = set()

    def use(self, one: Used) -> None:
        """Need something until the end of the call."""
        one.users.add(self)
        self._uses.add(one)

    def end(self) -> None:
        """It is over, and needs nothing any more."""
        now = time.monotonic()
        while self._uses:
            one = self._uses.pop()
            one.last_used = now
            one.users.discard(self)

    def renew(self) -> None:
        """The call itself has changed files: its next part has to know that as well."""
        self.began = time.monotonic()
        self.done.clear()

    def heard(self, servers: Iterable[str], failed: Iterable[Exception] = ()) -> None:
        """These have answered, and those have failed."""
        if self.witness is not None:
            self.witness.answered.update(servers)
            self.witness.failed += failed

    def misheard(self, failed: Iterable[str], problems: Iterable[Exception]) -> None:
        """What some have answered makes no sense, or not all of it; `failed`: none of it."""
        if self.witness is not None:
            self.witness.answered.difference_update(failed)
            self.witness.failed += problems

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
        if isinstance(cancel, CancelToken):
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


def uncancelled(outcome: Outcome) -> Outcome:
    """How a wait ended, for who does not go on when the caller has given up."""
    if outcome is Outcome.CANCELLED:
        raise CancelledError("the call was cancelled")
    return outcome


def block(steps: Steps[T], call: CallContext) -> T:
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


def together(jobs: Sequence[Steps[T]], call: CallContext) -> Steps[list[T | Exception]]:
    """Run several generators of waits at the same time; what one raises is its result.

    Each goes on as soon as what it waits for is there, so the whole takes as long as the slowest.
    """
    if len(jobs) == 1:
        try:
            return [(yield from jobs[0])]
        except Exception as problem:  # noqa: BLE001 (it is that job's result)
            return [problem]
    round = _Round(jobs)
    try:
        for number in range(len(jobs)):
            round.go_on(number, None)
        while round.waits:
            outcome = yield round.step()
            round.look(outcome, call)
    finally:
        for number in round.waits:
            jobs[number].close()
    return round.results


class _Round(Generic[T]):
    """The jobs of one `together`. Only the bell is rung by other threads."""

    def __init__(self, jobs: Sequence[Steps[T]]) -> None:
        self._jobs = jobs
        self.results: list[T | Exception] = [_NOTHING] * len(jobs)
        #: What each job that is not over waits for, and until when.
        self.waits: dict[int, Step] = {}
        #: Jobs whose wait may be over. Adding and taking are single steps.
        self._rung: collections.deque[int] = collections.deque()
        self._bell = Waiter()
        #: When the first of them has waited long enough.
        self._until = 0.0

    def go_on(self, number: int, outcome: Outcome | None) -> None:
        """Let a job do its next step."""
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
            step[0].on_done = lambda: self._ring(number)
            if step[0].done:
                self._ring(number)

    def _ring(self, number: int) -> None:
        self._rung.append(number)
        self._bell.complete()

    def step(self) -> Step:
        """A wait that is over with the first of theirs."""
        self._bell = Waiter()
        if self._rung:  # before there was this bell
            self._bell.complete()
        self._until = min(until for _, until in self.waits.values())
        return self._bell, self._until

    def look(self, outcome: Outcome, call: CallContext) -> None:
        """Let those go on whose wait is over."""
        if outcome is Outcome.CANCELLED or time.monotonic() >= min(self._until, call.deadline):
            self._end_waits(outcome, call)
        for _ in range(len(self._rung)):
            number = self._rung.popleft()
            step = self.waits.get(number)
            if step is not None and step[0].done:
                self.go_on(number, Outcome.DONE)

    def _end_waits(self, outcome: Outcome, call: CallContext) -> None:
        """The time of some is up, or the caller has given up."""
        now, cancelled = time.monotonic(), outcome is Outcome.CANCELLED
        for number, (waiter, until) in list(self.waits.items()):
            if not waiter.done and (cancelled or now >= min(until, call.deadline)):
                self.go_on(number, Outcome.CANCELLED if cancelled else Outcome.TIMED_OUT)


#: Stands for a result that is not there yet; nobody gets to see it.
_NOTHING: Any = None
