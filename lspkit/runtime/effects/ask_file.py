"""The effect `Ask`: sends a request to all servers of a file at the same time.

If a server is replaced before it has answered, its successor is asked.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lspkit.errors import ServerBrokenError, ServerUnavailableError
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import Ask
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.wire.raw_items import read_location_ranges, read_raw_items
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.effects.ask_in_thread import ask_in_thread
from lspkit.runtime.exchange.ask_server import (
    request_deadline,
    request_document,
    request_server,
    wait_for_turn,
    wait_until_ready,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import locate, restore_document, servers_of
from lspkit.runtime.exchange.library_files import locate_to_read
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.project_index import wait_for_index
from lspkit.runtime.exchange.replies import NO_TEXT, collect_replies, no_longer_there, unsupported
from lspkit.runtime.exchange.request_routes import Routes, is_confused
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting, QueueEntry
from lspkit.runtime.server.server import Server
from lspkit.types import Caveat

DECLARATION = "textDocument/declaration"
#: How often both requests for references are sent, until they are about one text.
MOST_TRIES = 3


def ask_servers_of_file(
    context: Context, routes: Routes, effect: Ask, call: CallContext
) -> list[Reply] | Steps[list[Reply]]:
    """Perform `Ask`."""
    call.disk_state = None  # found anew: the last one may be of an earlier `Ask` of the call
    if (call.whole or call).blocks:
        reply = ask_in_thread(context, routes, effect, call)
        if reply is not None:
            return [reply]
    return _ask_all(context, effect, call)


def _ask_all(context: Context, effect: Ask, call: CallContext) -> Steps[list[Reply]]:
    if effect.text is None and effect.may_be_library:
        file = locate_to_read(context, effect.path, call.began)
    else:
        file = locate(context, effect.path, effect.text, call)
    servers, failures = yield from servers_of(context, file, call, effect.text)
    if effect.server:
        servers = [one for one in servers if one.id == effect.server]
        if not servers and not failures:
            raise no_longer_there(effect)
    elif effect.ignore_capabilities:
        servers = servers[:1]
    if len(servers) == 1 and not failures:
        reply = yield from _ask_one(context, servers[0], file, effect, call)
        call.log_answers((reply.server,))
        return [reply]
    jobs = [_ask_one(context, server, file, effect, call) for server in servers]
    results = yield from together(jobs, call)
    return collect_replies(results, failures, effect.method, call)


def _ask_one(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext
) -> Steps[Reply]:
    if is_confused(server, effect):
        return _ask_references(context, server, file, effect, call)
    return _ask_as_is(context, server, file, effect, call)


def _ask_as_is(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext
) -> Steps[Reply]:
    """Ask a server, or its successor if it is replaced before it has answered."""
    first = True
    while True:
        try:
            reply = yield from _ask_this(context, server, file, effect, call, may_leave=first)
            if reply is not None:
                return reply
        except (ServerBrokenError, ServerUnavailableError):
            # The effects of a request that lspkit does not know are unknown: it is not repeated.
            may_go_on = server.false_start or (first and server.record.outdated)
            if effect.ignore_capabilities or not may_go_on:
                raise
        server = yield from _successor(context, server, file, call)
        first = False


def _ask_this(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext, *, may_leave: bool
) -> Steps[Reply | None]:
    """None if the server has to be replaced and was not asked."""
    definition = server.choice.definition
    if effect.method in definition.exceptions.messages.answers_before:
        yield from wait_until_ready(context, server, call)
    elif not server.is_ready or not server.record.loading.done or definition.forwards:
        yield from prepare_server(context, server, file, effect.text, call)
    if not effect.ignore_capabilities and not server.channel.session.supports(
        effect.method, server.channel.key_of(file.uri)
    ):
        raise unsupported(effect.method, server.id)
    caveats: tuple[Caveat, ...] = ()
    if effect.span != "file" and server.choice.definition.index is not None:
        caveats = yield from _caveats_of(context, server, file, effect, call)
    reply = yield from _send(context, server, file, effect, call, may_leave=may_leave)
    return msgspec.structs.replace(reply, caveats=caveats) if reply and caveats else reply


def _caveats_of(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext
) -> Steps[tuple[Caveat, ...]]:
    """Wait for what the answer has to span, and return what it may lack nevertheless."""
    rule = server.choice.definition.index
    if rule is None or effect.span == "file":
        return ()
    if effect.span != "definitions":
        patient = effect.span == "all"
        return tuple((yield from wait_for_index(context, server, file, call, patient=patient)))
    if not rule.definitions:
        return ()
    found = yield from wait_for_index(context, server, file, call)
    # Without an index, a declaration is the answer, and it is right.
    return tuple(one for one in found if one.kind == "index loading")


def _send(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext, *, may_leave: bool
) -> Steps[Reply | None]:
    """Send the request; None if the server has to be replaced and was not asked."""
    method, about = effect.method, file.uri if effect.in_step else ""
    if about and effect.text is None and not server.channel.queue.has_exclusive_calls:
        until = request_deadline(context, server, call)
        try:
            asked = request_document(
                context, server, file, None, method, effect.build, until, call, gives_way=True
            )
            return (yield from asked)
        except ExclusiveCallWaiting:
            pass
    # A caller's own text must not be shown while another caller waits for an answer.
    exclusive = effect.text is not None and server.choice.definition.compares_files
    with QueueEntry(exclusive=exclusive) as turn:
        try:
            server.channel.queue.join(about, turn)
            waiting = wait_for_turn(context, server, turn, call, method, may_leave=may_leave)
            if not (yield from waiting):
                return None
            until = request_deadline(context, server, call)
            if about:
                asked = request_document(
                    context, server, file, effect.text, method, effect.build, until, call
                )
            else:
                params = effect.build(file.uri, NO_TEXT, server.channel.session.encoding)
                asked = request_server(context, server, method, params, until, call)
            return (yield from asked)
        finally:
            if turn.done and effect.text is not None:
                restore_document(context, server, file.uri)


def _successor(context: Context, server: Server, file: File, call: CallContext) -> Steps[Server]:
    """The successor of a server, started if needed; raises if there is none."""
    servers, failures = yield from servers_of(context, file, call)
    for one in servers:
        if one.id == server.id:
            return one
    missing = ServerBrokenError(f"{server.id} does not serve this file any more", server=server.id)
    raise next((one for one in failures if one.fields.get("server") == server.id), missing)


def _ask_references(
    context: Context, server: Server, file: File, effect: Ask, call: CallContext
) -> Steps[Reply]:
    """References from a server that omits others when asked for them without declarations.

    It is asked for all references and for the declarations of the name, which are removed here.
    """

    def every(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        return {**effect.build(uri, text, encoding), "context": {"includeDeclaration": True}}

    def place(uri: str, text: Text, encoding: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = effect.build(uri, text, encoding)
        return {name: value for name, value in params.items() if name != "context"}

    with_declarations = msgspec.structs.replace(effect, build=every)
    declarations = msgspec.structs.replace(effect, method=DECLARATION, build=place)
    for _ in range(MOST_TRIES):
        reply = yield from _ask_as_is(context, server, file, with_declarations, call)
        declared = yield from _ask_as_is(context, server, file, declarations, call)
        if declared.view.text.value == reply.view.text.value:
            return msgspec.structs.replace(reply, result=_without(reply.result, declared.result))
    return reply


def _without(references: bytes, declarations: bytes) -> bytes:
    """The references that are no declaration. Those that cannot be decoded stay."""
    declared, pieces = read_location_ranges(declarations).items, read_raw_items(references)
    if pieces.dropped:
        return references
    places = ((piece, read_location_ranges(piece).items) for piece in pieces.items)
    kept = [piece for piece, place in places if not place or place[0] not in declared]
    return b"[" + b",".join(kept) + b"]"
