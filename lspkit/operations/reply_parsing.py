"""What can be read of the answers of servers.

A server whose answer makes no sense has not said that there is nothing. It has failed, like one
that refuses: it is left out as long as another has answered, and else its failure is the caller's.
Where only parts make no sense the rest is the answer, and whoever wants to know is told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from lspkit.errors import (
    RequestFailedError,
    RequestTimeoutError,
    ServerBrokenError,
    ServerUnavailableError,
    UnsupportedError,
)
from lspkit.operations.effects import Effect, Reply, ReportUndecodable
from lspkit.protocol.results import Read

T = TypeVar("T")

#: What may be wrong with one server while the others are well.
OWN_FAULTS = (
    ServerBrokenError,
    ServerUnavailableError,
    RequestFailedError,
    RequestTimeoutError,
    UnsupportedError,
)


def decode_replies(
    replies: list[Reply],
    read: Callable[[bytes], Read[T]],
    *,
    says: Callable[[T], object] = lambda _: True,
    whole: bool = False,
) -> Generator[Effect, Any, list[tuple[Reply, list[T]]]]:
    """Each answer with its items.

    `says` tells whether an item says anything at all, now that its bad parts are gone. `whole` is
    for what must not be had in parts: half an edit is worse than none.
    """
    found: list[tuple[Reply, list[T]]] = []
    problems: list[RequestFailedError] = []
    failed: list[str] = []
    for reply in replies:
        told = read(reply.result)
        if told.dropped:
            lost = whole or not any(says(item) for item in told.items)
            problems.append(undecodable_error(reply, 0 if lost else told.dropped))
            if lost:
                failed.append(reply.server)
                continue
        found.append((reply, told.items))
    if problems:
        yield ReportUndecodable(tuple(problems), tuple(failed))
        if not found:
            raise problems[0]
    return found


def undecodable_error(reply: Reply, parts: int = 0) -> RequestFailedError:
    """The error for an answer that makes no sense, or so many parts of which make none."""
    what = f"the answer of {reply.server} to {reply.method or 'a question'}"
    message = f"{what} cannot be read: it is not as the protocol has it"
    if parts:
        message = f"{parts} {'part' if parts == 1 else 'parts'} of {what} cannot be read"
    return RequestFailedError(message, server=reply.server)
