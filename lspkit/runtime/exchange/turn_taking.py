"""Waiting for a place in the queue of a document, also while its server is being replaced."""

from __future__ import annotations

import time

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps, uncancelled
from lspkit.runtime.exchange.ask_server import wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server

#: Seconds after which a waiting caller checks whether the entry before it was abandoned, or whether
#: the server has to be replaced.
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
    """Wait until the entry is complete; the caller sets `turn.over` afterwards.

    With `may_leave`, returns False for a server that has to be replaced, without waiting.
    """
    while not turn.done:
        if may_leave and server.record.outdated:
            return False
        patience = time.monotonic() + LOST_TURN
        if patience >= call.deadline:
            yield from wait_for(context, server, turn, call.deadline, method)
        else:
            uncancelled((yield (turn, patience)))
        # A caller before this one may have been interrupted before it called `tidy`.
        if turn.queue is not None:
            turn.queue.tidy()
    return True
