"""What a session reports to whoever drives it. One message of the server gives at most one event.

Events are frozen values. Those that answer a request carry the `tag` that was given with it, so
that the driver needs no table of its own to find who waits.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.protocol.capabilities import Registration
from lspkit.protocol.wire.messages import RawJson


class Event(msgspec.Struct, frozen=True):
    """Base of all events."""


class Answered(Event, frozen=True):
    """A request has its result, still raw."""

    tag: Any
    method: str
    result: RawJson


class Failed(Event, frozen=True):
    """A request was refused, or its answer was no answer."""

    tag: Any
    method: str
    code: int
    message: str


class Initialized(Event, frozen=True):
    """The server is up. `tag` is that of the `initialize` request."""

    tag: Any


class DiagnosticsPublished(Event, frozen=True):
    """A push: the server's findings about one file, raw."""

    uri: str
    version: int | None
    items: RawJson


class ProgressBegan(Event, frozen=True):
    """A piece of work began that the server reports on."""

    token: str | int
    title: str


class ProgressEnded(Event, frozen=True):
    """It ended."""

    token: str | int
    title: str


class Registered(Event, frozen=True):
    """The server registered capabilities; of some nobody took notice, since they were too many."""

    registrations: tuple[Registration, ...]
    dropped: int = 0


class Unregistered(Event, frozen=True):
    """The server took back capabilities."""

    registrations: tuple[Registration, ...]


class RefreshAsked(Event, frozen=True):
    """What was read before is out of date; `method` says of which kind."""

    method: str


class EditAsked(Event, frozen=True):
    """The server wants an edit made, and waits for `Session.edit_done`. `edit` is raw."""

    id: RawJson
    edit: RawJson


class MessageShown(Event, frozen=True):
    """Words of the server for people: a log line or a message. 1 is an error, 4 a log line."""

    level: int
    text: str


class Notified(Event, frozen=True):
    """Any other notification."""

    method: str
    params: RawJson | None


class Printed(Event, frozen=True):
    """The server writes text where only messages belong. It is skipped; told once."""

    sample: bytes


class BadMessage(Event, frozen=True):
    """The server sent something that is no message. It was skipped."""

    reason: str
    sample: bytes
