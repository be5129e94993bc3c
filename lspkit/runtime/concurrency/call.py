"""One call of a user: its timeout, what cancels it, and which servers answered it."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from lspkit.errors import CancelledError
from lspkit.runtime.concurrency.waiter import Outcome, Waiter

#: How often a `threading.Event` as a cancel is polled: a thread cannot wait for two things.
EVENT_LOOK = 0.05
#: Seconds after which a wait is slow.
SLOW = 0.002


class CancelToken:
    """Ends a call early, from any thread. One may be given to any number of calls."""

    def __init__(self) -> None:
        self._set = False
        #: Adding and removing are atomic.
        self._waiters: set[Waiter] = set()

    def __repr__(self) -> str:
        return f"<CancelToken {'set' if self._set else 'not set'}>"

    def set(self) -> None:
        """Cancel, for good."""
        self._set = True
        for waiter in self._waiters.copy():
            waiter.wake()

    def is_set(self) -> bool:
        """Whether it was cancelled."""
        return self._set

    def watch(self, waiter: Waiter) -> None:
        """Wake `waiter` when it is set."""
        self._waiters.add(waiter)

    def unwatch(self, waiter: Waiter) -> None:
        """Wake `waiter` no longer."""
        self._waiters.discard(waiter)


#: What ends a call early.
CancelLike = CancelToken | threading.Event


class AnswerLog:
    """Which servers have answered a call and which have failed, for a caller who wants to know.

    Where one server has answered, failures of others are reported only here.
    """

    __slots__ = ("answered", "failed")

    def __init__(self) -> None:
        #: Ids of servers.
        self.answered: set[str] = set()
        self.failed: list[Exception] = []


class Used(Protocol):
    """Something that must stay available to a call."""

    #: The calls that use it. Adding and removing are atomic.
    users: set[CallContext]
    #: When it was last used, by the monotonic clock.
    last_used: float


def _seconds(timeout: Any) -> float:
    """The timeout as a float; any kind of number is accepted."""
    try:
        seconds = float("nan") if isinstance(timeout, (str, bytes)) else float(timeout)
    except OverflowError:
        return float("inf")
    except (TypeError, ValueError):
        seconds = float("nan")
    if seconds != seconds:
        raise TypeError(f"timeout is {timeout!r}: a number of seconds is needed, or None")
    return seconds


class CallContext(msgspec.Struct, eq=False):
    """The limits of one call, and what it uses."""

    #: Seconds; None for no limit.
    timeout: float | None = None
    cancel: CancelLike | None = None
    answer_log: AnswerLog | None = None
    #: Called once, when a wait in this thread takes longer than `SLOW`.
    on_slow: Callable[[], None] | None = None
    #: By the monotonic clock, like the deadline. Changes before this time must be seen; changes
    #: after it need not be.
    began: float = 0.0
    deadline: float = math.inf
    #: What one part of the call has done for all parts. Only one thread at a time runs a call.
    done: set[object] = msgspec.field(default_factory=set)
    #: The state of the watched folders (`DiskState`) of which the servers know; None if that is not
    #: known.
    disk_state: object = None
    _uses: set[Used] = msgspec.field(default_factory=set)
    #: The documents that its parts are about to ask about, by what they ask.
    checking: dict[Used, set[str]] = msgspec.field(default_factory=dict)
    #: Whether several parts are begun before the first is waited for.
    is_batch: bool = False
    #: The whole call, for a part of one; None for the whole.
    whole: CallContext | None = None
    #: Whether this thread itself waits for each answer. Of the whole call.
    blocks: bool = False

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        if self.timeout is not None:
            self.deadline = self.began + _seconds(self.timeout)
        if self.cancel is not None and not hasattr(self.cancel, "is_set"):
            raise TypeError(f"cancel is {self.cancel!r}: a threading.Event is needed, or None")

    @property
    def owner(self) -> CallContext:
        """The whole call."""
        return self.whole or self

    def part(self, seconds: float | None) -> CallContext:
        """A part of this call that ends earlier: after these seconds from now."""
        part = copy.copy(self)
        part.whole = self.owner
        if seconds is not None:
            part.deadline = min(self.deadline, time.monotonic() + seconds)
        return part

    def use(self, one: Used) -> None:
        """Use something until the end of the call."""
        one.users.add(self.whole or self)
        self._uses.add(one)

    def end(self) -> None:
        """The call is over, and uses nothing any more."""
        now = time.monotonic()
        for one in self._uses:
            one.last_used = now
            one.users.discard(self)

    def renew(self) -> None:
        """The call itself has changed files: its next part must see that."""
        self.began = time.monotonic()
        self.done.clear()
        self.disk_state = None

    def log_answers(self, servers: Iterable[str], failed: Iterable[Exception] = ()) -> None:
        """Record servers that have answered, and failures."""
        if self.answer_log is not None:
            self.answer_log.answered.update(servers)
            self.answer_log.failed += failed

    def log_undecodable(self, failed: Iterable[str], problems: Iterable[Exception]) -> None:
        """Record answers that could not be decoded; of `failed`, no part could be."""
        if self.answer_log is not None:
            self.answer_log.answered.difference_update(failed)
            self.answer_log.failed += problems

    def cancelled(self) -> bool:
        """Whether the caller has given up."""
        return self.cancel is not None and self.cancel.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `CancelledError` if the caller has given up."""
        if self.cancelled():
            raise CancelledError("the call was cancelled")

    @property
    def is_over(self) -> bool:
        """Whether it was cancelled or has timed out."""
        if self.cancel is None and self.deadline == math.inf:
            return False  # as nearly always
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
        until, cancel = min(until, self.deadline), self.cancel
        while not waiter.done:
            if cancel is not None and cancel.is_set():
                return Outcome.CANCELLED
            left = until - time.monotonic()
            if left <= 0:
                return Outcome.TIMED_OUT
            if self.owner.on_slow is None:
                waiter.wait(min(left, at_most))
            elif not waiter.wait(min(left, at_most, SLOW)):
                self.note_slow()
        return Outcome.DONE

    @property
    def patience(self) -> float:
        """Seconds for which this thread may wait for one thing without saying so."""
        return math.inf if (self.whole or self).on_slow is None else SLOW

    def note_slow(self) -> None:
        """A wait in this thread has taken longer than that."""
        on_slow, self.owner.on_slow = self.owner.on_slow, None
        if on_slow is not None:
            on_slow()
