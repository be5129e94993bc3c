"""The usual way of `Ask`: one server, which is ready, is asked in the thread of the caller.

Nearly every request is like that, and its own cost counts: each generator between the caller and
the server is resumed for each wait. So this is one plain function. Whatever is not usual is left to
`ask_file.py`, which can also wait for more than one thing.
"""

from __future__ import annotations

import functools
import time

from lspkit.errors import ServerBrokenError, ServerUnavailableError
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import Ask
from lspkit.protocol.events import Answered
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import block
from lspkit.runtime.exchange.ask_server import (
    note_answer,
    request_deadline,
    request_document,
    send_and_read,
    wait_for_answer,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.replies import view_of
from lspkit.runtime.exchange.request_routes import Route, Routes
from lspkit.runtime.server.document_channel import UNTRUSTED
from lspkit.runtime.server.document_queue import ExclusiveCallWaiting
from lspkit.runtime.server.pending_request import PendingRequest


def ask_in_thread(context: Context, routes: Routes, effect: Ask, call: CallContext) -> Reply | None:
    """Ask the only server of a file; None if there is more to do than that."""
    if effect.text is not None or effect.server or effect.ignore_capabilities or not effect.in_step:
        return None
    route = None if call.is_over else routes.find(effect, call)
    if route is None:
        return None
    server, method, began = route.server, effect.method, time.monotonic()
    try:
        send = functools.partial(server.channel.ask_known, route.file, method, effect.build)
        pending, answer = send_and_read(server, send, call, call.deadline)
        if answer is None:
            reply = _wait(context, route, effect, call, pending, began)
        else:
            note_answer(context, server, answer, began)
            reply = Reply(server.id, answer.result, view_of(pending), method, pending.seq)
    except ExclusiveCallWaiting:
        return None
    except (ServerBrokenError, ServerUnavailableError) as problem:
        if server.may_be_replaced or problem.fields.get("rule") == UNTRUSTED:
            return None
        raise
    call.log_answers((server.id,))
    return reply


def _wait(
    context: Context,
    route: Route,
    effect: Ask,
    call: CallContext,
    pending: PendingRequest,
    began: float,
) -> Reply:
    """Wait for the answer to a request; sent again if the server has dropped it."""
    server, method = route.server, effect.method
    until = request_deadline(context, server, call, began)
    answer = block(wait_for_answer(context, server, pending, until, began), call)
    if isinstance(answer, Answered):
        return Reply(server.id, answer.result, view_of(pending), method, pending.seq)
    again = request_document(
        context,
        server,
        route.file,
        None,
        method,
        effect.build,
        until,
        call,
        gives_way=True,
        dropped=answer,
    )
    return block(again, call)
