"""Preparing a server for a request about a file.

The server must be ready, its companion must be ready, and its project loaded.
"""

from __future__ import annotations

from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.ask_server import wait_until_ready
from lspkit.runtime.exchange.companion_servers import wait_for_companion
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.loading import wait_for_project
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server


def prepare_server(
    context: Context, server: Server, file: File, text: str | None, call: CallContext
) -> Steps[None]:
    """Wait until the server has loaded the project of its first document."""
    yield from wait_until_ready(context, server, call)
    if server.choice.definition.forwards is not None:
        yield from wait_for_companion(context, server, file, call)
    if server.record.loading.done:
        server.record.believe()
        return
    server.channel.sync(file, text)
    yield from wait_for_project(context, server, call)
