"""What a server says it is busy with: `$/progress`, one piece of work per token.

A clock is not needed: work is counted by begin and end, and the driver adds the time when it
sees the events.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol import events, messages


class Work(msgspec.Struct):
    """One piece of work in progress."""

    token: str | int
    title: str
    message: str = ""
    percentage: float | None = None

    def __str__(self) -> str:
        percent = f" {self.percentage:.0f} %" if self.percentage is not None else ""
        message = f": {self.message}" if self.message else ""
        return f"{self.title}{message}{percent}"


class Progress:
    """The work in progress of one server, by token. Owned by its session."""

    def __init__(self) -> None:
        self.work: dict[str | int, Work] = {}

    def clear(self) -> None:
        """The server is gone, and with it its work."""
        self.work.clear()

    def busy_with(self) -> tuple[str, ...]:
        """What is going on, as text, oldest first."""
        return tuple(str(work) for work in self.work.values())

    def note(self, params: bytes | None) -> events.Event | None:
        """Take one notification. Partial results, which share it, are none of our business."""
        try:
            told: Any = messages.decode_any(params or b"null")
            token, value = told["token"], told["value"]
            kind = value["kind"]
        except (TypeError, KeyError, ValueError, RecursionError):
            return None
        if not isinstance(token, str | int):
            return None
        if kind == "begin":
            work = Work(token, str(value.get("title") or ""))
            self.work[token] = work
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
            work.message = message
        if isinstance(percentage, int | float):
            work.percentage = percentage
