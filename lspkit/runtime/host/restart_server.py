"""Restarting one server, when a user asks for it."""

from __future__ import annotations

import time

from lspkit.errors import NoServerError, RequestTimeoutError
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.pool.pool import Pool
from lspkit.servers.selection.choose import definitions

#: Seconds to wait for the old processes: more than it takes to kill those that hang.
STOP_LIMIT = 10.0


def restart_server(context: Context, name: str) -> list[str]:
    """Replace all processes of a server; returns their roots.

    The old processes end first: they may lock files of the server.
    """
    pool = context.pool
    id = _id_of(name, pool)
    servers = sorted(
        (server for server in pool.servers() if server.id == id), key=lambda server: server.root
    )
    for server in servers:
        pool.retire(server)
    stopped = Waiter()

    def stop() -> None:
        try:
            pool.retirement.stop(servers)
        finally:
            stopped.complete()

    if servers and pool.retirement.do(stop):
        context.call.wait(stopped, time.monotonic() + STOP_LIMIT)
        if context.call.is_over:
            raise RequestTimeoutError(f"{id} was stopped, but not started again in time")
    for server in servers:
        pool.server_of(server.choice, context.call)
    return [server.root for server in servers]


def _id_of(name: str, pool: Pool) -> str:
    """The id of a server that is called by its id or an alias."""
    for definition in definitions(pool.config):
        if name == definition.id or name in definition.aliases:
            return definition.id
    raise NoServerError(f"no server is called {name!r}: `lspkit status` shows all servers")
