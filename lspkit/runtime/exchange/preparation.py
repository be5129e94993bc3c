"""Preparing a server for a request about a file.

The server must be ready, its companion must be ready, and its project loaded. A companion answers
requests of another server in the same root (`Adapter.companion`).
"""

from __future__ import annotations

import logging
import time

from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.runtime.exchange.ask_server import wait_for, wait_until_ready
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: The part of the timeout of a call or request that a companion may use.
SHARE = 0.5


def wait_for_project(context: Context, server: Server) -> None:
    """Wait until the server, which has a document, has loaded its project."""
    began = time.monotonic()
    begin_by = began + server.record.loading.begins_within
    while server.channel.failure is None:
        activity = server.activity.next()
        busy, late = bool(server.channel.session.progress.work), time.monotonic() >= begin_by
        if server.record.loading.look(busy=busy, late=late):
            server.record.believe()
            return
        if busy or late or begin_by >= context.call.deadline:
            wait_for(context, server, activity, context.call.deadline, began=began)
        else:
            context.call.wait(activity, begin_by)


def wait_while_reloading(context: Context, server: Server) -> None:
    """Wait while the server is loading its project again."""
    began = time.monotonic()
    while server.record.loading.again and server.channel.failure is None:
        activity = server.activity.next()
        if server.record.loading.again:
            wait_for(context, server, activity, context.call.deadline, began=began)


def companion_of(context: Context, server: Server, path: str) -> Server | None:
    """The server that answers this server's requests about a file; None if there is none."""
    key = (server.adapter.companion, server.root)
    servers = [one for one in context.pool.in_use_by(context.call, key) if one.begun]
    if key not in [(one.id, one.root) for one in servers]:
        servers, _ = context.pool.servers_for(path, context.call)  # may start it, or start it again
    return next((one for one in servers if (one.id, one.root) == key), None)


def wait_for_companion(context: Context, server: Server, file: File) -> None:
    """Wait for the companion: otherwise its start would use up the server's time.

    After a timeout the server continues without the companion's answers.
    """
    other: Server | None = None
    try:
        other = companion_of(context, server, file.path)
        if other is None or other.record.loading.done or other is server.late_companion:
            return
        left = min(context.call.deadline - time.monotonic(), context.pool.request_timeout(server))
        its = context.part(SHARE * max(left, 0.0))
        wait_until_ready(its, other)
        if file.stamp is not None:
            other.channel.follow_disk(file, opens=True)
        wait_for_project(its, other)
    except CancelledError:
        raise
    except LspkitError as problem:
        if isinstance(problem, RequestTimeoutError):
            server.late_companion = other
        log.debug("%s goes on without a companion: %s", server.id, problem)


def prepare_server(context: Context, server: Server, file: File, text: str | None) -> None:
    """Wait until the server has loaded the project of its first document."""
    wait_until_ready(context, server)
    if server.adapter.companion:
        wait_for_companion(context, server, file)
    if server.record.loading.done:
        server.record.believe()
        return
    server.channel.sync(file, text)
    wait_for_project(context, server)
