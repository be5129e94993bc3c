"""Events that a session returns to its driver. A message of the server causes at most one event.

Events are frozen values. Answers carry the `tag` of their request, so that the driver needs no
table to find the waiting caller.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol.capabilities import Registration
from lspkit.protocol.wire.messages import RawJson


class Event(msgspec.Struct, frozen=True):
    """Base of all events."""


class Answered(Event, frozen=True):
    """The raw result of a request."""

    tag: Any
    method: str
    result: RawJson


class Failed(Event, frozen=True):
    """A request failed, or its answer is not valid."""

    tag: Any
    method: str
    code: int
    message: str


class Initialized(Event, frozen=True):
    """The server is initialised. `tag` is that of the `initialize` request."""

    tag: Any


class DiagnosticsPublished(Event, frozen=True):
    """A push: the server's raw findings about one file."""

    uri: str
    version: int | None
    items: RawJson


class ProgressBegan(Event, frozen=True):
    """The server began to report progress of a task."""

    token: str | int
    title: str


class ProgressEnded(Event, frozen=True):
    """The task ended."""

    token: str | int
    title: str


class Registered(Event, frozen=True):
    """The server registered capabilities; `dropped` of them were over the limit."""

    registrations: tuple[Registration, ...]
    dropped: int = 0


class Unregistered(Event, frozen=True):
    """The server unregistered capabilities."""

    registrations: tuple[Registration, ...]


class RefreshAsked(Event, frozen=True):
    """Earlier answers are outdated; `method` says which kind."""

    method: str


class EditAsked(Event, frozen=True):
    """The server requests an edit, and waits for `Session.edit_done`. `edit` is raw."""

    id: RawJson
    edit: RawJson


class MessageShown(Event, frozen=True):
    """A message or a log line of the server. Level 1 is an error, 4 a log line."""

    level: int
    text: str


class Notified(Event, frozen=True):
    """Any other notification."""

    method: str
    params: RawJson | None


class Printed(Event, frozen=True):
    """The server printed text between messages. It is skipped, and reported once."""

    sample: bytes


class BadMessage(Event, frozen=True):
    """The server sent an invalid message. It was skipped."""

    reason: str
    sample: bytes


# One message of a server that says something lspkit goes by, and the test for it.

LOG_MESSAGE = "window/logMessage"
PROGRESS = "$/progress"


class Signal(msgspec.Struct, frozen=True):
    """A notification or request that means something if its params hold these values."""

    #: For work that the server reports on: `$/progress`, with its title as the only param.
    method: str
    #: Values that the params have at the top level. None are needed if this is empty.
    params: dict[str, Any] = {}
    #: A part of the text in `message`.
    contains: str = ""

    def fits(self, method: str, params: Any) -> bool:
        """Whether a message is this signal."""
        return (
            method == self.method
            and isinstance(params, dict)
            and all(params.get(key) == value for key, value in self.params.items())
            and self.contains in str(params.get("message", ""))
        )


def log_line(part: str) -> Signal:
    """A line that a server logs or shows, with this part in it."""
    return Signal(LOG_MESSAGE, contains=part)
