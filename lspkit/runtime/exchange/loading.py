"""Waiting until a server has loaded its project."""

from __future__ import annotations

import time

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Outcome, Steps, Waiter
from lspkit.runtime.exchange.ask_server import wait_for
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.server import Server


def wait_for_project(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait until the server, which has a document, has loaded its project."""
    began = time.monotonic()
    begin_by = began + server.record.loading.begins_within
    while server.channel.failure is None:
        news = server.news.next()
        busy, late = bool(server.channel.session.progress.work), time.monotonic() >= begin_by
        if server.record.loading.look(busy=busy, late=late):
            server.record.believe()
            return
        until = call.deadline if busy or late else begin_by
        outcome = yield (news, until)
        if outcome is not Outcome.DONE and until == call.deadline:
            yield from wait_for(context, server, Waiter(), 0.0)  # raises with the reason


def wait_while_reloading(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait while the server is loading its project again."""
    while server.record.loading.again and server.channel.failure is None:
        news = server.news.next()
        if server.record.loading.again:
            yield from wait_for(context, server, news, call.deadline)
