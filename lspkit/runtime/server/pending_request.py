"""A request that waits for its answer, and the deadline of that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import LspkitError
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.concurrency.waiter import Waiter

#: Makes the params of a request from the document as it is when the request is queued.
Build = Callable[[str, Text, Encoding], Any]


class PendingRequest(msgspec.Struct):
    """A request without an answer. Its waiter gets `Answered`, `Failed` or `ConnectionLost`."""

    method: str
    waiter: Waiter
    #: None for a request about no document.
    view: View | None
    id: int = 0
    #: Bytes ever queued for the server, up to and including this request.
    posted: int = 0
    #: The number of the last change that the server was told of before it.
    seq: int = 0


class ConnectionLost(msgspec.Struct, frozen=True):
    """What a waiter gets when the server ends."""

    error: LspkitError


#: Names of the limit that ended a wait, as its user knows them.
REQUEST_TIMEOUT = "timing.requestTimeoutMs"
CALL_TIMEOUT = "the timeout of this call"


class NamedDeadline(float):
    """A time by the monotonic clock, with the setting that it comes from: the caller's timeout."""

    setting = CALL_TIMEOUT


class RequestDeadline(NamedDeadline):
    """A time by the monotonic clock that comes from the configured timeout of a request."""

    setting = REQUEST_TIMEOUT


def setting_of(until: float, now: float) -> str:
    """Which setting ended a wait until that time; empty if that is not known."""
    if now < until:
        return CALL_TIMEOUT  # it cuts every longer wait
    return until.setting if isinstance(until, NamedDeadline) else ""
