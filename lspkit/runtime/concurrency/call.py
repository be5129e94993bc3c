"""One call of a user: its timeout, what cancels it, and which servers answered it.

A call runs in a thread that may block, and its parts may run in several threads. Each wait ends at
the deadline, at a cancel, and when the call is stopped.
"""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from lspkit.errors import CancelledError, LspkitError
from lspkit.runtime.concurrency.waiter import Waiter

#: How often a `threading.Event` as a cancel is polled: a thread cannot wait for two things.
EVENT_LOOK = 0.05
#: Copied before it is raised.
INTERRUPTED = CancelledError("the call was interrupted")


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
    users: set[Call]
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


class _Shared:
    """What all parts of a call have in common."""

    def __init__(self) -> None:
        #: Set when nobody waits for the result any more: the caller was interrupted, or the
        #: workspace is closed.
        self.stop = CancelToken()
        self.stop_error: LspkitError = INTERRUPTED
        self.uses: set[Used] = set()
        #: What one part of the call has done for all parts.
        self.done: set[object] = set()
        #: Held by the part that does it. Adding is atomic.
        self.under_way: dict[object, threading.Lock] = {}


class Call(msgspec.Struct, eq=False):
    """The limits of one call, and what it uses. For the threads of its parts."""

    #: Seconds; None for no limit.
    timeout: float | None = None
    cancel: CancelLike | None = None
    answer_log: AnswerLog | None = None
    #: By the monotonic clock, like the deadline. Changes before this time must be seen; changes
    #: after it need not be.
    began: float = 0.0
    deadline: float = math.inf
    _shared: _Shared = msgspec.field(default_factory=_Shared)
    #: The whole call, for a part of one; None for the whole.
    _whole: Call | None = None

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        if self.timeout is not None:
            self.deadline = self.began + _seconds(self.timeout)
        if self.cancel is not None and not hasattr(self.cancel, "is_set"):
            raise TypeError(f"cancel is {self.cancel!r}: a threading.Event is needed, or None")

    # Limits

    def part(self, seconds: float | None) -> Call:
        """A part of this call that ends earlier: after these seconds from now."""
        part = copy.copy(self)
        part._whole = self._whole or self
        if seconds is not None:
            part.deadline = min(self.deadline, time.monotonic() + seconds)
        return part

    def stop(self, error: LspkitError = INTERRUPTED) -> None:
        """Nobody waits for the result any more: each wait of the call raises this error."""
        self._shared.stop_error = error
        self._shared.stop.set()

    def cancelled(self) -> bool:
        """Whether the caller has given up."""
        return self._shared.stop.is_set() or (self.cancel is not None and self.cancel.is_set())

    def raise_if_cancelled(self) -> None:
        """Raise `CancelledError` if the caller has given up."""
        if self._shared.stop.is_set():
            raise self._shared.stop_error.copy()
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("the call was cancelled")

    @property
    def is_over(self) -> bool:
        """Whether it was cancelled or has timed out."""
        return self.cancelled() or time.monotonic() >= self.deadline

    # Waiting

    def wait(
        self,
        waiter: Waiter,
        until: float = math.inf,
        meanwhile: Callable[[], object] | None = None,
    ) -> bool:
        """Block until a waiter is complete; False at that time, or at the deadline of the call.

        Raises `CancelledError` if the call is cancelled. `meanwhile` is called first, and each time
        when the waiter was woken.
        """
        if waiter.done:
            return True
        stop, cancel = self._shared.stop, self.cancel
        token = cancel if isinstance(cancel, CancelToken) else None
        stop.watch(waiter)
        if token is not None:
            token.watch(waiter)
        until = min(until, self.deadline)
        try:
            while not waiter.done:
                self.raise_if_cancelled()
                if meanwhile is not None:
                    meanwhile()
                left = until - time.monotonic()
                if left <= 0:
                    return waiter.done
                # A thread cannot wait for an event of Python as well: that is looked at.
                waiter.wait(left if cancel is None or token else min(left, EVENT_LOOK))
            return True
        finally:
            stop.unwatch(waiter)
            if token is not None:
                token.unwatch(waiter)

    def pause(self, until: float) -> None:
        """Block until that time, or the deadline of the call."""
        self.wait(Waiter(), until)

    # What its parts share

    def once(self, key: object, work: Callable[[], object]) -> None:
        """Do some work that all parts need, unless a part has done it; another waits until it has.

        Work that fails is done again by the next part.
        """
        shared = self._shared
        if key in shared.done:
            return
        turn = shared.under_way.setdefault(key, threading.Lock())
        with turn:
            if key not in shared.done:
                work()
                shared.done.add(key)

    def note_done(self, key: object) -> None:
        """This work is done, also for the other parts."""
        self._shared.done.add(key)

    def use(self, used: Used) -> None:
        """Use something until the end of the call."""
        used.users.add(self._whole or self)
        self._shared.uses.add(used)

    def end(self) -> None:
        """The call is over, and uses nothing any more."""
        now = time.monotonic()
        for used in self._shared.uses:
            used.last_used = now
            used.users.discard(self)

    def renew(self) -> None:
        """The call itself has changed files: its next part must see that."""
        self.began = time.monotonic()
        self._shared.done.clear()

    # Who has answered

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
