"""Waiting until a server has read its configuration again."""

from __future__ import annotations

import time

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps, uncancelled
from lspkit.runtime.exchange.ask_server import wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.server import Server

#: Seconds that it may take. A server that does not say so by then may not have noticed, and a new
#: process of it knows better.
PATIENCE = 3.0
#: Why a server has nothing to say that is to be replaced.
OUTDATED = "it has to be started anew, since files have changed that it reads only once"


def wait_for_reread(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait for its word, if its configuration has changed; without it a new one is called for."""
    while (since := server.record.rereading) is not None and server.usable:
        news = server.news.next()
        if server.record.rereading is None:
            return
        latest = since + PATIENCE
        if time.monotonic() >= latest:
            context.pool.renew(server)
        elif latest > call.deadline:
            yield from wait_for(context, server, news, call.deadline)
        else:
            uncancelled((yield (news, latest)))
