"""Whether a server that reads files in the background has read what has changed on disk.

It is told of a file, and answers the next request from the old text, since another thread reads.
But it can be asked for its text of a file. Only closed files that it was told of are asked for,
each until the text is that on disk.
"""

from __future__ import annotations

import time

from lspkit.errors import RequestFailedError
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, METHOD_NOT_FOUND, decode_any
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps, Waiter, uncancelled
from lspkit.runtime.exchange.ask_server import wait_for_answer
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.server import Server

#: Seconds after which a file that the server does not know is no part of its project.
UNKNOWN = 1.0
#: Seconds between two requests about one file.
PAUSE = 0.01


def wait_until_read(context: Context, server: Server, call: CallContext) -> Steps[None]:
    """Wait until the server has read all files that it was told of."""
    method = server.choice.definition.exceptions.read_back
    if not method:
        return
    for uri, number in server.channel.clock.unread():
        until = time.monotonic() + UNKNOWN
        while not (yield from _is_read(context, server, uri, method, until, call)):
            uncancelled((yield (Waiter(), time.monotonic() + PAUSE)))
        server.channel.clock.has_read(uri, number)


def _is_read(
    context: Context, server: Server, uri: str, method: str, until: float, call: CallContext
) -> Steps[bool]:
    there = context.files.text_at(uri_to_path(uri) or "")
    pending = server.channel.ask(method, {"uri": uri})
    answered = yield from wait_for_answer(context, server, pending, call.deadline)
    if isinstance(answered, RequestFailedError):
        if answered.server_code == CONTENT_MODIFIED:
            return False
        ignore_capabilities = answered.server_code == METHOD_NOT_FOUND  # by an older version
        return there is None or ignore_capabilities or time.monotonic() >= until
    known = decode_any(answered.result)
    return there is not None and known == there.value.replace("\r\n", "\n")
