"""Decoding of servers' answers.

A server whose answer cannot be decoded has failed, like one that answers with an error: it is left
out if another server has answered, otherwise its error is raised. If only some items cannot be
decoded, the others are the answer, and the loss is reported to the host. In both cases the answer
has a caveat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from lspkit import errors
from lspkit.answer import SERVER_FAILED, Answer
from lspkit.operations.host import Host
from lspkit.operations.host_results import Reply
from lspkit.protocol.wire.results import Read
from lspkit.types import Caveat
from lspkit.visible_text import count

T = TypeVar("T")

#: Errors that concern one server and not the others.
OWN_FAULTS = (
    errors.ServerBrokenError,
    errors.ServerUnavailableError,
    errors.RequestFailedError,
    errors.RequestTimeoutError,
    errors.UnsupportedError,
)


def decode_replies(
    host: Host,
    replies: list[Reply],
    read: Callable[[bytes], Read[T]],
    *,
    says: Callable[[T], object] = lambda _: True,
    whole: bool = False,
) -> list[tuple[Reply, list[T]]]:
    """Each answer with its items.

    `says` tells whether an item has any content without its undecodable parts. `whole` is for
    answers that must not be used in part, such as edits.
    """
    decoded: list[tuple[Reply, list[T]]] = []
    problems: list[errors.RequestFailedError] = []
    failed: list[str] = []
    for reply in replies:
        result = read(reply.result)
        if result.dropped:
            lost = whole or not any(says(item) for item in result.items)
            problems.append(undecodable_error(reply, 0 if lost else result.dropped))
            if lost:
                failed.append(reply.server)
                continue
        decoded.append((reply, result.items))
    if problems:
        host.report_undecodable(problems, failed)
        if not decoded:
            raise problems[0]
        reply, items = decoded[0]
        decoded[0] = with_caveats(reply, failure_caveats(problems)), items
    return decoded


def answer_from(decoded: Iterable[tuple[Reply, object]], items: Iterable[T]) -> Answer[T]:
    """The results that were made from decoded replies, with the caveats of the replies."""
    caveats: list[Caveat] = []
    for reply, _ in decoded:
        caveats += reply.caveats
    return Answer(items, caveats)


def with_caveats(reply: Reply, caveats: tuple[Caveat, ...]) -> Reply:
    """The reply with further caveats."""
    return msgspec.structs.replace(reply, caveats=(*reply.caveats, *caveats)) if caveats else reply


def failure_caveats(problems: Iterable[errors.LspkitError]) -> tuple[Caveat, ...]:
    """What is missing because servers have failed; one that cannot answer has not."""
    return tuple(
        Caveat(SERVER_FAILED, str(problem), str(problem.fields.get("server", "")))
        for problem in problems
        if not isinstance(problem, errors.UnsupportedError)
    )


def undecodable_error(reply: Reply, parts: int = 0) -> errors.RequestFailedError:
    """The error for an answer that cannot be decoded, or for this number of its parts."""
    what = f"the answer of {reply.server} to {reply.method or 'a request'}"
    message = f"{what} cannot be read: it does not conform to the protocol"
    if parts:
        message = f"{count(parts, 'part')} of {what} cannot be read"
    return errors.RequestFailedError(message, server=reply.server)
