"""Waiting for a place in the queue of a document, also while its server is being replaced."""

from __future__ import annotations

import time

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps, uncancelled
from lspkit.runtime.exchange.ask_server import wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

#: Seconds after which a caller looks whether the turn that he waits for was lost, or is for a
#: server that is to be replaced.
LOST_TURN = 0.5


def wait_for_turn(
    context: Context,
    server: Server,
    turn: QueueEntry,
    call: CallContext,
    method: str,
    *,
    may_leave: bool,
) -> Steps[bool]:
    """Wait until it is this caller's turn, who gives it on by `turn.over`.

    Who may leave does not wait for a server that is to be replaced: False then.
    """
    while not turn.done:
        if may_leave and server.record.outdated:
            return False
        patience = time.monotonic() + LOST_TURN
        if patience >= call.deadline:
            yield from wait_for(context, server, turn, call.deadline, method)
        else:
            uncancelled((yield (turn, patience)))
        # Whoever had it may have been interrupted before he could give it on.
        if turn.queue is not None:
            turn.queue.tidy()
    return True
