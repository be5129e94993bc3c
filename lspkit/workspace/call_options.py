"""The keyword arguments that methods of a workspace have in common."""

from __future__ import annotations

from typing import Any, TypedDict

from lspkit.runtime.concurrency.call import CancelLike
from lspkit.runtime.engine_api import Limits


class CallOptions(TypedDict, total=False):
    """Options of every blocking method."""

    #: Seconds for the whole call, including the start of a server.
    timeout: float | None
    #: Ends the call early.
    cancel: CancelLike | None


class FileCallOptions(CallOptions, total=False):
    """Options of every request about a file."""

    #: The text to use instead of the file's content, for this call only.
    text: str | None


class PositionCallOptions(FileCallOptions, total=False):
    """Options of every request about a position, besides line and column."""

    #: A name in the file (`Class.method`), or, with a line, a word on that line.
    symbol: str | None


#: The limits of a call without options.
UNLIMITED = Limits()


def limits_of(more: FileCallOptions) -> tuple[Limits, dict[str, Any]]:
    """The limits among the options, and the other options. The request refuses unknown ones."""
    if not more:
        return UNLIMITED, {}
    rest: dict[str, Any] = {**more}
    return Limits(rest.pop("timeout", None), rest.pop("cancel", None)), rest
