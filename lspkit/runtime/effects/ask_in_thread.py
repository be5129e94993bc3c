"""The usual way of `Ask`: one server, which is ready, is asked in the thread of the caller.

Nearly every request is like that, and its own cost counts: each generator between the caller and
the server is resumed for each wait. So this is one plain function. Whatever is not usual is left to
`ask_file.py`, which can also wait for more than one thing.
"""

from __future__ import annotations

import time

from lspkit.errors import PathError, ServerBrokenError, ServerUnavailableError
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import Ask, Span
from lspkit.protocol.events import Answered
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import block
from lspkit.runtime.exchange.ask_server import (
    answer_of,
    request_deadline,
    request_document,
    send_request,
    wait_for_answer,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import CAUGHT_UP
from lspkit.runtime.exchange.replies import view_of
from lspkit.runtime.files import File
from lspkit.runtime.process.server_output import Claims
from lspkit.runtime.server.document_channel import UNTRUSTED
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting
from lspkit.runtime.server.pending_request import PendingRequest, Question
from lspkit.runtime.server.server import Server
from lspkit.servers.definition import Definition

REFERENCES = "textDocument/references"


def ask_in_thread(context: Context, effect: Ask, call: CallContext) -> list[Reply] | None:
    """Ask the only server of a file; None if there is more to do than that."""
    if effect.text is not None or effect.server or effect.ignore_capabilities or not effect.in_step:
        return None
    disk = context.pool.disk_events
    if call.is_over or not disk.is_watching or disk.reading() is not None:
        return None
    if not disk.catch_up(call.deadline):
        return None
    call.done.add(CAUGHT_UP)
    layout = disk.layout()
    try:
        file = context.files.locate(effect.path, since=call.began, layout=layout)
    except PathError:
        return None
    server = context.pool.only_server(file.path, call, layout)
    if server is None or not _is_prepared(server, effect) or not disk.told(server, call.deadline):
        return None
    if not server.channel.session.supports(effect.method, server.channel.key_of(file.uri)):
        return None
    try:
        reply = _ask(context, server, file, effect, call)
    except ExclusiveCallWaiting:
        return None
    except (ServerBrokenError, ServerUnavailableError) as problem:
        if server.may_be_replaced or problem.fields.get("rule") == UNTRUSTED:
            return None
        raise
    call.log_answers((server.id,))
    return [reply]


def _is_prepared(server: Server, effect: Ask) -> bool:
    """Whether the request can be sent now and as it is."""
    definition = server.choice.definition
    connection = server.channel.connection
    return (
        server.is_ready
        and connection is not None
        and connection.has_room()
        and server.record.loading.done
        and definition.forwards is None
        and not _needs_index(definition, effect.span)
        and not is_confused(server, effect.method)
        and not server.channel.queue.has_exclusive_calls
    )


def _needs_index(definition: Definition, span: Span) -> bool:
    """Whether the answer has to span what the server may not know yet."""
    rule = definition.index
    return rule is not None and (rule.definitions if span == "definitions" else span != "file")


def is_confused(server: Server, method: str) -> bool:
    """Whether the server omits references when it is asked for them without declarations."""
    return method == REFERENCES and server.choice.definition.confuses_declarations


def _ask(context: Context, server: Server, file: File, effect: Ask, call: CallContext) -> Reply:
    """Send the request and wait for its answer."""
    channel, method, began = server.channel, effect.method, time.monotonic()
    until = request_deadline(context, server, call)

    def send(claims: Claims | None) -> PendingRequest:
        question = Question(method, effect.build, claims, is_admitted=True)
        return channel.ask_about(file, None, question)

    pending = send_request(server, send, call, until)
    if pending.waiter.done:
        answer = answer_of(context, server, pending, began)
    else:
        answer = block(wait_for_answer(context, server, pending, until, began), call)
    if isinstance(answer, Answered):
        return Reply(server.id, answer.result, view_of(pending), method, pending.seq)
    again = request_document(
        context,
        server,
        file,
        None,
        method,
        effect.build,
        until,
        call,
        gives_way=True,
        dropped=answer,
    )
    return block(again, call)
