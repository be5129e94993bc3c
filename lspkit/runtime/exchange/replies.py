"""Combining the answers and failures of several servers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from lspkit.errors import LspkitError, UnsupportedError
from lspkit.operations.host import Question
from lspkit.operations.host_results import Reply
from lspkit.operations.reply_parsing import OWN_FAULTS, failure_caveats, with_caveats
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.runtime.server.server import Server
from lspkit.servers.selection.choose import might_answer

T = TypeVar("T")

log = logging.getLogger("lspkit.runtime")

#: For requests without a document.
NO_TEXT = Text("")


def sorted_out(results: Sequence[T | Exception]) -> tuple[list[T], list[LspkitError]]:
    """The results, and the failures of servers.

    A failure that is not the server's (a cancel, a bad path or position) is raised.
    """
    good: list[T] = []
    failed: list[LspkitError] = []
    for result in results:
        if isinstance(result, OWN_FAULTS):
            failed.append(result)
        elif isinstance(result, Exception):
            raise result
        else:
            good.append(result)
    return good, failed


def of_the_able(failures: list[LspkitError], method: str) -> list[LspkitError]:
    """The failures, with `UnsupportedError` for servers that never answer this method.

    A linter that is held back has not failed to find a definition.
    """
    return [
        failure
        if might_answer(server := str(failure.fields.get("server", "")), method)
        else unsupported(method, server)
        for failure in failures
    ]


def worst_of(failures: list[LspkitError], method: str) -> LspkitError:
    """The failure that says most, of at least one: `UnsupportedError` says least."""
    able = [failure for failure in failures if not isinstance(failure, UnsupportedError)]
    if able:
        return able[0]
    ids = tuple(server for failure in failures for server in getattr(failure, "servers", ()))
    return UnsupportedError(
        f"{method} is not supported by {', '.join(ids)}", operation=method, servers=ids
    )


def no_longer_there(question: Question) -> UnsupportedError:
    """The request was for one server, which gave something before and has left."""
    message = f"{question.server} is no longer a server of {question.path}: request the item again"
    return UnsupportedError(message, operation=question.method, servers=(question.server,))


def report_undecodable(
    context: Context, problems: Sequence[LspkitError], failed: Sequence[str]
) -> None:
    """Count answers that cannot be decoded, and record them for the caller."""
    context.call.log_undecodable(failed, problems)
    for problem in problems:
        log.debug("%s", problem.message)
        for server in context.pool.servers():
            if server.id == getattr(problem, "server", ""):
                with server.channel.lock:
                    server.channel.session.counts["answers of no use"] += 1
                break


def unsupported(method: str, server: str) -> UnsupportedError:
    """The error for a server that does not support a method."""
    message = f"{method} is not supported by {server}"
    return UnsupportedError(message, operation=method, servers=(server,))


def nowhere(server: Server) -> View:
    """The view of a request without a document."""
    return View("", NO_TEXT, 0, server.channel.session.encoding)


def view_of(pending: PendingRequest) -> View:
    """The view of the document that a request was about."""
    if pending.view is None:
        raise TypeError(f"{pending.method} is not about a document")
    return pending.view


def collect_replies(
    results: Sequence[Reply | Exception], failures: list[LspkitError], method: str, call: Call
) -> list[Reply]:
    """The answers of the servers; raises if there is none.

    Failures are recorded for the caller, and are caveats of the first answer.
    """
    replies, failed = sorted_out(results)
    problems = of_the_able([*failed, *failures], method)
    call.log_answers((reply.server for reply in replies), problems)
    if not replies:
        raise worst_of(problems, method)
    return [with_caveats(replies[0], failure_caveats(problems)), *replies[1:]]
