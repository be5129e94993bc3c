"""Progress reports of a server (`$/progress`), one task per token, and partial results.

The driver passes the clock that measures the duration of tasks.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.limits import LARGEST_PARTS, LONGEST_NAME, LONGEST_TITLE, MOST_WORK
from lspkit.protocol import events
from lspkit.protocol.wire import messages

#: Replaces a partial result that was not kept. It is not a valid result.
MISSING = b"null"


class Work(msgspec.Struct):
    """One task in progress."""

    token: str | int
    title: str
    #: When it began, by the driver's clock.
    began: float = 0.0
    message: str = ""
    percentage: float | None = None

    def __str__(self) -> str:
        percent = f" {self.percentage:.0f} %" if self.percentage is not None else ""
        message = f": {self.message}" if self.message else ""
        return f"{self.title}{message}{percent}"


class Progress:
    """The tasks in progress of one server, by token. Owned by its session."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.work: dict[str | int, Work] = {}
        # Partial results of pending requests, by token.
        self._parts: dict[str | int, list[bytes]] = {}
        self._sizes: collections.Counter[str | int] = collections.Counter()
        self._tokens = 0
        #: Tasks and partial results that were over a limit.
        self.dropped = 0

    def clear(self) -> None:
        """Remove all tasks: the server has exited."""
        self.work.clear()

    def expect_parts(self) -> str:
        """A new `partialResultToken`."""
        self._tokens += 1
        token = f"lspkit-{self._tokens}"
        self._parts[token] = []
        return token

    def parts_of(self, token: str) -> list[bytes]:
        """Remove and return the partial results for a token, as JSON."""
        self._sizes.pop(token, None)
        return self._parts.pop(token, [])

    def _keep_part(self, token: str | int, part: bytes) -> None:
        """Store a partial result; over the limit, a marker that one is missing."""
        parts = self._parts[token]
        self._sizes[token] += len(part) + 1
        if self._sizes[token] > LARGEST_PARTS:
            self.dropped += 1
            part = MISSING
        if not parts or parts[-1] != MISSING:
            parts.append(part)

    def lose_parts(self) -> None:
        """Mark all pending partial results as incomplete: one could not be read."""
        for token in self._parts:
            self._parts[token] = [MISSING]

    def busy_with(self) -> tuple[tuple[str, float], ...]:
        """The tasks as text, oldest first, with their duration in seconds. For any thread."""
        now = self._clock()
        return tuple((str(work), now - work.began) for work in list(self.work.values()))

    def descriptions(self) -> tuple[str, ...]:
        """The tasks with their duration, as text."""
        return tuple(f"{what} for {seconds:.0f} s" for what, seconds in self.busy_with())

    def note(self, params: bytes | None) -> events.Event | None:
        """Process a `$/progress` notification."""
        try:
            content: Any = messages.decode_any(params or b"null")
            token, value = content["token"], content["value"]
            if token in self._parts:
                self._keep_part(token, messages.encode(value))
                return None
            kind = value["kind"]
        except (TypeError, KeyError, ValueError, RecursionError):
            return None
        if not isinstance(token, str | int):
            return None
        if isinstance(token, str) and len(token) > LONGEST_NAME:
            self.dropped += 1
            return None
        if kind == "begin":
            title = str(value.get("title") or "")[:LONGEST_TITLE]
            work = Work(token, title, self._clock())
            self.work[token] = work
            if len(self.work) > MOST_WORK:  # the server has probably forgotten to end the oldest
                del self.work[next(iter(self.work))]
                self.dropped += 1
            self._update(work, value)
            return events.ProgressBegan(token, work.title)
        known = self.work.get(token)
        if kind == "report" and known is not None:
            self._update(known, value)
        elif kind == "end":
            self.work.pop(token, None)
            return events.ProgressEnded(token, known.title if known else "")
        return None

    @staticmethod
    def _update(work: Work, value: dict[str, Any]) -> None:
        message, percentage = value.get("message"), value.get("percentage")
        if isinstance(message, str):
            work.message = message[:LONGEST_TITLE]
        if isinstance(percentage, int | float) and 0 <= percentage <= 100:
            work.percentage = percentage
