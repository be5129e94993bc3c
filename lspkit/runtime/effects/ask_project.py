"""Questions about a whole project, whose answers rest on what a server has put into its index."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lspkit.errors import RequestTimeoutError
from lspkit.operations.effects import AskWorkspace, Reply
from lspkit.runtime.concurrency.waiting import CallContext, Outcome, Steps, Waiter, uncancelled
from lspkit.runtime.exchange.replies import about_the_file, unsupported
from lspkit.runtime.exchange.turn_taking import in_turn
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

if TYPE_CHECKING:
    from lspkit.runtime.exchange.ask_server import Asking

#: A server that may not have put everything into its index is asked again after so long.
AGAIN_AFTER = 0.02
#: Answers that say that there is no such thing.
NOTHING = (b"[]", b"null")


def asked_of_project(
    asking: Asking, server: Server, sample: File | None, effect: AskWorkspace, call: CallContext
) -> Steps[Reply]:
    """Ask about the project; a server that knows none yet is shown a file of it first."""
    yield from asking.ready(server, call)
    if sample is not None and not len(server.documents):
        yield from _introduced(asking, server, sample, call)
    if not server.session.supports(effect.method):
        raise unsupported(effect.method, server)
    until = asking.until(server, call)
    latest = server.told_at() + server.choice.definition.indexed_within
    pause, reply = AGAIN_AFTER, None
    while True:
        now = time.monotonic()
        try:
            reply = yield from _asked_in_turn(asking, server, effect, call, until)
        except RequestTimeoutError:
            if reply is None:
                raise
            return reply  # what it has said before is what there is
        if now >= latest or reply.result.strip() not in NOTHING:
            return reply
        uncancelled((yield (Waiter(), min(time.monotonic() + pause, latest))))
        pause *= 1.5


def _asked_in_turn(
    asking: Asking, server: Server, effect: AskWorkspace, call: CallContext, until: float
) -> Steps[Reply]:
    """What another caller shows the server, and nobody else, is no part of the project."""
    turn = QueueEntry()
    try:
        server.turns.queue("", turn)
        yield from in_turn(asking, server, turn, call, effect.method, may_leave=False)
        return (yield from asking.asked_whole(server, effect.method, effect.params, until))
    finally:
        turn.over = True
        server.turns.tidy()


def _introduced(asking: Asking, server: Server, sample: File, call: CallContext) -> Steps[None]:
    """Open a file, and wait until the server has seen it: many know no project before."""
    yield from asking.loaded(server, sample, None, call)
    until = asking.until(server, call)
    method = "textDocument/documentSymbol"
    if server.session.supports(method, server.key_of(sample.uri)):
        yield from asking.asked(server, sample, None, method, about_the_file, until)
    else:
        server.sync(sample, None)
    # It may answer about a file before it has put that into its index.
    while server.failure is None:
        news = server.news.next()
        if server.is_done_with(sample.uri):
            return
        if (yield (news, min(until, call.deadline))) is not Outcome.DONE:
            return  # then it is asked as it is
