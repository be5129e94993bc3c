"""Waiting until a server has read its configuration again."""

from __future__ import annotations

import time

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps, uncancelled
from lspkit.runtime.exchange.ask_server import wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.server import Server

#: Seconds to wait. A server that has said nothing by then may have missed the change, and is
#: restarted.
PATIENCE = 3.0
#: Why a server that has to be replaced has no findings.
OUTDATED = "it has to be started anew, since files have changed that it reads only once"


def wait_for_reread(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait until it says so, if its configuration has changed; otherwise it has to be restarted."""
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
