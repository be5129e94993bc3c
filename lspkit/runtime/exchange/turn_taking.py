"""Whoever waits for a server that is replaced meanwhile goes on with the one in its place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lspkit.errors import ServerBrokenError
from lspkit.runtime.concurrency.waiting import CallContext, Steps, uncancelled
from lspkit.runtime.server.document_queue import QueueEntry

if TYPE_CHECKING:
    from lspkit.runtime.exchange.ask_server import Asking
    from lspkit.runtime.files import File
    from lspkit.runtime.server.server import Server

#: Seconds after which a caller looks whether the turn that he waits for was lost, or is for a
#: server that is to be replaced.
LOST_TURN = 0.5


def in_turn(
    asking: Asking,
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
        if may_leave and server.outdated:
            return False
        patience = time.monotonic() + LOST_TURN
        if patience >= call.deadline:
            yield from asking.wait(server, turn, call.deadline, method)
        else:
            uncancelled((yield (turn, patience)))
        # Whoever had it may have been interrupted before he could give it on.
        if turn.turns is not None:
            turn.turns.tidy()
    return True


def successor(asking: Asking, server: Server, file: File, call: CallContext) -> Steps[Server]:
    """Who has taken the place of a server, started if need be; raises why nobody has."""
    servers, failures = yield from asking.serving(file, call)
    for one in servers:
        if one.id == server.id:
            return one
    nobody = ServerBrokenError(f"{server.id} is no longer there for this file", server=server.id)
    raise next((one for one in failures if one.fields.get("server") == server.id), nobody)
