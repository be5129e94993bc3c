"""Servers that answer requests of another server in the same root (`Definition.forwards`)."""

from __future__ import annotations

import logging
import time

from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.ask_server import request_timeout, wait_until_ready
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.loading import wait_for_project
from lspkit.runtime.files import File
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: The part of the timeout of a call or request that a companion may use.
SHARE = 0.5


def companion_of(server: Server, path: str, pool: Pool, call: CallContext) -> Server | None:
    """The server that answers this server's requests about a file; None if there is none."""
    forwards = server.choice.definition.forwards
    key = (forwards.to if forwards is not None else "", server.root)
    servers = [one for one in pool.in_use_by(call, key) if one.begun]
    if key not in [(one.id, one.root) for one in servers]:
        servers, _ = pool.servers_for(path, call)  # may start it, or start it again
    return next((one for one in servers if (one.id, one.root) == key), None)


def wait_for_companion(
    context: Context, server: Server, file: File, call: CallContext
) -> Steps[None]:
    """Wait for the companion: otherwise its start would use up the server's time.

    After a timeout the server continues without the companion's answers.
    """
    other: Server | None = None
    try:
        other = companion_of(server, file.path, context.pool, call)
        if other is None or other.record.loading.done or other is server.goes_on_without:
            return
        left = min(call.deadline - time.monotonic(), request_timeout(context, server))
        its = CallContext(SHARE * max(left, 0.0))
        yield from wait_until_ready(context, other, its)
        if file.stamp is not None:
            other.channel.follow_disk(file, opens=True)
        yield from wait_for_project(context, other, its)
    except CancelledError:
        raise
    except LspkitError as problem:
        if isinstance(problem, RequestTimeoutError):
            server.goes_on_without = other
        log.debug("%s goes on without a companion: %s", server.id, problem)
