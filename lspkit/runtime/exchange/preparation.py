"""Preparing a server for a request about a file.

The server must be ready, its companion must be ready, and its project loaded. A companion answers
requests of another server in the same root (`Adapter.companion`).
"""

from __future__ import annotations

import logging
import math
import time

from lspkit.errors import CancelledError, LspkitError, RequestTimeoutError
from lspkit.runtime.exchange.ask_server import wait_for, wait_until_up
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.server.process_state import ProcessState
from lspkit.runtime.server.server import Server

log = logging.getLogger("lspkit.runtime")

#: The part of the timeout of a call or request that a companion may use.
SHARE = 0.5
#: Seconds to wait for a word about the configuration. A server that has said nothing by then may
#: have missed the change, and is restarted.
PATIENCE = 3.0


def wait_for_project(context: Context, server: Server) -> None:
    """Wait until the server, which has a document, has loaded its project."""
    began = time.monotonic()
    begin_by = began + server.record.loading.begins_within
    while server.end is None:
        activity = server.activity.next()
        busy, late = bool(server.channel.session.progress.work), time.monotonic() >= begin_by
        if server.record.has_loaded(late=late):
            return
        if busy or late or begin_by >= context.call.deadline:
            wait_for(context, server, activity, context.call.deadline, began=began)
        else:
            context.call.wait(activity, begin_by)


def wait_while_reloading(context: Context, server: Server) -> None:
    """Wait while the server loads its project, or reads its configuration, again.

    One that does not say in time that it has read its configuration has to be replaced.
    """
    began = time.monotonic()
    while server.state is ProcessState.RELOADING:
        activity, since = server.activity.next(), server.record.rereads_since()
        if server.state is not ProcessState.RELOADING:
            return
        latest = math.inf if since is None else since + PATIENCE
        if time.monotonic() >= latest:
            context.pool.renew(server)
        elif latest > context.call.deadline:
            wait_for(context, server, activity, context.call.deadline, began=began)
        else:
            context.call.wait(activity, latest)


def companion_of(context: Context, server: Server, path: str) -> Server | None:
    """The server that answers this server's requests about a file; None if there is none."""
    key = (server.adapter.companion, server.root)
    servers = [
        candidate
        for candidate in context.pool.in_use_by(context.call, key)
        if candidate.state is not ProcessState.NEW
    ]
    if key not in [(candidate.id, candidate.root) for candidate in servers]:
        servers, _ = context.pool.servers_for(path, context.call)  # may start it, or start it again
    return next((candidate for candidate in servers if (candidate.id, candidate.root) == key), None)


def wait_for_companion(context: Context, server: Server, file: File) -> None:
    """Wait for the companion: otherwise its start would use up the server's time.

    After a timeout the server continues without the companion's answers.
    """
    other: Server | None = None
    try:
        other = companion_of(context, server, file.path)
        if other is None or other.is_loaded or other is server.late_companion:
            return
        left = min(context.call.deadline - time.monotonic(), context.pool.request_timeout(server))
        its = context.part(SHARE * max(left, 0.0))
        wait_until_up(its, other)
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
    wait_until_up(context, server)
    if server.adapter.companion:
        wait_for_companion(context, server, file)
    if server.is_loaded and server.record.has_loaded(late=False):
        return
    server.channel.sync(file, text)
    wait_for_project(context, server)
