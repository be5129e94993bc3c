"""The keyword arguments that methods of a workspace have in common."""

from __future__ import annotations

from typing import Any, TypedDict

from lspkit.runtime.concurrency.waiting import CancelLike
from lspkit.runtime.engine_api import Limits


class CallOptions(TypedDict, total=False):
    """What every blocking method takes."""

    #: Seconds, for everything, also the start of a server.
    timeout: float | None
    #: Ends the call early.
    cancel: CancelLike | None


class FileCallOptions(CallOptions, total=False):
    """What every question about a file takes."""

    #: The text to assume instead of what is on disk, for this one call.
    text: str | None


class PositionCallOptions(FileCallOptions, total=False):
    """What every question about a place takes beside its line and column."""

    #: A name in the file (`Class.method`), or, with a line, a word on that line.
    symbol: str | None


def limits_of(more: FileCallOptions) -> tuple[Limits, dict[str, Any]]:
    """What the caller allows, and the rest. A word that nobody knows is refused by the request."""
    rest: dict[str, Any] = {**more}
    return Limits(rest.pop("timeout", None), rest.pop("cancel", None)), rest
