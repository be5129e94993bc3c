"""A request under way, as the one who has made it sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import LspkitError
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.concurrency.waiter import Waiter

#: Params of a request, made from the document as it is when the request is queued.
Build = Callable[[str, Text, Encoding], Any]


class PendingRequest(msgspec.Struct):
    """A request under way. Its waiter gets `Answered`, `Failed` or `ConnectionLost`."""

    method: str
    waiter: Waiter
    #: None for a request about no document.
    view: View | None
    id: int = 0
    #: How much had been queued for the server when it was, itself included.
    posted: int = 0
    #: The number of the last write that the server was told of before it.
    seq: int = 0


class ConnectionLost(msgspec.Struct, frozen=True):
    """What a waiter gets when the server ends."""

    error: LspkitError


#: What ends a wait, in the words of who can change it.
REQUEST_TIMEOUT = "timing.requestTimeoutMs"
CALL_TIMEOUT = "the timeout of this call"


class NamedDeadline(float):
    """A time by the monotonic clock that remembers which setting it comes from."""

    def __new__(cls, at: float, setting: str = CALL_TIMEOUT) -> NamedDeadline:
        """The caller's own timeout, unless another setting is named."""
        made = super().__new__(cls, at)
        made.setting = setting
        return made

    setting: str


def setting_of(until: float, now: float) -> str:
    """Which setting has ended a wait that was to end then; empty if that is not known."""
    if now < until:
        return CALL_TIMEOUT  # it ends every wait that would go on for longer
    return until.setting if isinstance(until, NamedDeadline) else ""
