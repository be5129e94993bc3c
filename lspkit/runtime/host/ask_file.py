"""Sends a request to all servers of a file at the same time.

If a server is replaced before it has answered, its successor is asked.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from lspkit.errors import ServerBrokenError, ServerUnavailableError, UnsupportedError
from lspkit.operations.host import Question, Span
from lspkit.operations.host_results import Reply
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.results import read_location_ranges, read_raw_items
from lspkit.runtime.concurrency.parallel import attempt, in_parallel
from lspkit.runtime.exchange.ask_server import (
    NO_TEXT,
    SentRequest,
    await_reply,
    begin_document_request,
    collect_replies,
    no_longer_there,
    request_document,
    request_server,
    unsupported,
    wait_for_turn,
    wait_until_up,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import locate, locate_to_read, restore_document, servers_of
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.project_index import wait_for_index
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting, QueueEntry
from lspkit.runtime.server.server import Server
from lspkit.types import Caveat

DECLARATION = "textDocument/declaration"
#: How many processes of a server are asked if each is replaced before it has answered; and how
#: often both requests for references are sent, until they are about one text.
MOST_TRIES = 3


def ask_servers_of_file(context: Context, question: Question) -> list[Reply]:
    """The answers of the servers of a file that support the method."""
    if question.text is None and question.may_be_library:
        file = locate_to_read(context, question.path, context.call.began)
    else:
        file = locate(context, question.path, question.text)
    servers, failures = servers_of(context, file, question.text)
    if question.server:
        servers = [server for server in servers if server.id == question.server]
        if not servers and not failures:
            raise no_longer_there(question)
    elif question.ignore_capabilities:
        servers = servers[:1]
    else:
        servers, unable = _able(servers, file, question.method)
        failures = [*failures, *unable]
    results = _ask_all(context, servers, file, question)
    if len(results) == 1 and not failures:
        [result] = results
        if isinstance(result, Exception):
            raise result
        context.call.log_answers((result.server,))
        return [result]
    return collect_replies(results, failures, question.method, context.call)


def _able(
    servers: list[Server], file: File, method: str
) -> tuple[list[Server], list[UnsupportedError]]:
    """The servers that may answer a method. Of one that is ready it is known whether it does."""
    able: list[Server] = []
    unable: list[UnsupportedError] = []
    for server in servers:
        supports = server.channel.session.supports
        if server.is_up and not supports(method, server.channel.key_of(file.uri)):
            unable.append(unsupported(method, server.id))
        else:
            able.append(server)
    return able, unable


def _ask_all(
    context: Context, servers: list[Server], file: File, question: Question
) -> list[Reply | Exception]:
    """Ask these servers at the same time. A failure is the result of its server."""
    if not all(_is_prepared(server, question) for server in servers):
        jobs = [partial(_ask_one, context, server, file, question) for server in servers]
        return in_parallel(context.threads, jobs)
    # All requests are sent before the first answer is waited for.
    sent = [attempt(partial(_begin, context, server, file, question)) for server in servers]
    return [
        _finish(context, server, file, question, request)
        for server, request in zip(servers, sent, strict=True)
    ]


def _is_prepared(server: Server, question: Question) -> bool:
    """Whether a server can be asked now, and nothing has to be waited for before."""
    return (
        question.in_step
        and question.text is None
        and not question.ignore_capabilities
        and server.is_free
        and server.takes_calls
        and not server.adapter.companion
        and not _needs_index(server, question.span)
        and not _is_confused(server, question)
    )


def _needs_index(server: Server, span: Span) -> bool:
    """Whether the answer has to span what the server may not know yet."""
    index = server.adapter.index
    if span == "definitions":
        return index is not None and bool(index.title)
    return span != "file" and (index is not None or server.choice.definition.project is not None)


def _is_confused(server: Server, question: Question) -> bool:
    """Whether the server would omit references, since it is asked for them without declarations."""
    return question.omits_declarations and server.choice.definition.confuses_declarations


def _begin(context: Context, server: Server, file: File, question: Question) -> SentRequest:
    method, build = question.method, question.build
    return begin_document_request(context, server, file, None, method, build, gives_way=True)


def _finish(
    context: Context,
    server: Server,
    file: File,
    question: Question,
    sent: SentRequest | Exception,
) -> Reply | Exception:
    """The answer to a request. If the server has to be asked anew, that is done here."""
    reply = sent if isinstance(sent, Exception) else attempt(partial(await_reply, context, sent))
    has_ended = isinstance(reply, ServerBrokenError | ServerUnavailableError)
    if isinstance(reply, ExclusiveCallWaiting) or (has_ended and server.may_ask_again):
        return attempt(partial(_ask_one, context, server, file, question))
    return reply


def _ask_one(context: Context, server: Server, file: File, question: Question) -> Reply:
    if _is_confused(server, question):
        return _ask_references(context, server, file, question)
    return _ask_as_is(context, server, file, question)


def _ask_as_is(context: Context, server: Server, file: File, question: Question) -> Reply:
    """Ask a server, or its successor if it is replaced before it has answered."""
    tries = 0
    while True:
        tries += 1
        try:
            reply = _ask_this(context, server, file, question, may_leave=tries == 1)
            if reply is not None:
                return reply
        except (ServerBrokenError, ServerUnavailableError):
            # The effects of a request that lspkit does not know are unknown: it is not repeated.
            if question.ignore_capabilities or not server.may_ask_again or tries == MOST_TRIES:
                raise
        server = _successor(context, server, file)


def _ask_this(
    context: Context, server: Server, file: File, question: Question, *, may_leave: bool
) -> Reply | None:
    """None if the server has to be replaced and was not asked."""
    if not server.adapter.needs_project(question.method):
        wait_until_up(context, server)
    elif not server.is_up or not server.is_loaded or server.adapter.companion:
        prepare_server(context, server, file, question.text)
    if not question.ignore_capabilities and not server.channel.session.supports(
        question.method, server.channel.key_of(file.uri)
    ):
        raise unsupported(question.method, server.id)
    caveats: tuple[Caveat, ...] = ()
    if _needs_index(server, question.span):
        caveats = _wait_for_span(context, server, file, question.span)
    reply = _send(context, server, file, question, may_leave=may_leave)
    return msgspec.structs.replace(reply, caveats=caveats) if reply and caveats else reply


def _wait_for_span(context: Context, server: Server, file: File, span: Span) -> tuple[Caveat, ...]:
    """Wait for what the answer has to span, and return what it may lack nevertheless."""
    caveats = wait_for_index(context, server, file, patient=span == "all")
    if span != "definitions":
        return tuple(caveats)
    # Without an index, a declaration is the answer, and it is right.
    return tuple(caveat for caveat in caveats if caveat.kind == "index loading")


def _send(
    context: Context, server: Server, file: File, question: Question, *, may_leave: bool
) -> Reply | None:
    """Send the request; None if the server has to be replaced and was not asked."""
    method, about = question.method, file.uri if question.in_step else ""
    if about and question.text is None and not server.channel.queue.has_exclusive_calls:
        try:
            return await_reply(context, _begin(context, server, file, question))
        except ExclusiveCallWaiting:
            pass
    # A caller's own text must not be shown while another caller waits for an answer.
    exclusive = question.text is not None and server.choice.definition.compares_files
    with QueueEntry(exclusive=exclusive) as turn:
        try:
            server.channel.queue.join(about, turn)
            if not wait_for_turn(context, server, turn, method, may_leave=may_leave):
                return None
            if about:
                return request_document(
                    context, server, file, question.text, method, question.build
                )
            params = question.build(file.uri, NO_TEXT, server.channel.session.encoding)
            return request_server(context, server, method, params)
        finally:
            if turn.done and question.text is not None:
                restore_document(context, server, file.uri)


def _successor(context: Context, server: Server, file: File) -> Server:
    """The successor of a server, started if needed; raises if there is none."""
    servers, failures = servers_of(context, file)
    for successor in servers:
        if successor.id == server.id:
            return successor
    missing = ServerBrokenError(f"{server.id} does not serve this file any more", server=server.id)
    raise next(
        (failure for failure in failures if failure.fields.get("server") == server.id), missing
    )


def _ask_references(context: Context, server: Server, file: File, question: Question) -> Reply:
    """References from a server that omits others when asked for them without declarations.

    It is asked for all references and for the declarations of the name, which are removed here.
    """

    def every(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        return {**question.build(uri, text, encoding), "context": {"includeDeclaration": True}}

    def place(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = question.build(uri, text, encoding)
        return {name: value for name, value in params.items() if name != "context"}

    with_declarations = msgspec.structs.replace(question, build=every)
    declarations = msgspec.structs.replace(question, method=DECLARATION, build=place)
    for _ in range(MOST_TRIES):
        reply = _ask_as_is(context, server, file, with_declarations)
        declared = _ask_as_is(context, server, file, declarations)
        if declared.view.text.value == reply.view.text.value:
            return msgspec.structs.replace(reply, result=_remove(reply.result, declared.result))
    return reply


def _remove(references: bytes, declarations: bytes) -> bytes:
    """The references that are no declaration. Those that cannot be decoded stay."""
    declared, pieces = read_location_ranges(declarations).items, read_raw_items(references)
    if pieces.dropped:
        return references
    places = ((piece, read_location_ranges(piece).items) for piece in pieces.items)
    kept = [piece for piece, place in places if not place or place[0] not in declared]
    return b"[" + b",".join(kept) + b"]"
