"""Waiting until a server has read what has changed on disk.

A server that reads in the background is told of a file, and answers the next request from the old
text. But it can be asked for its text of a file. Only closed files that it was told of are asked
for, each until the text is that on disk.
"""

from __future__ import annotations

import os
import time

from lspkit.errors import RequestFailedError, RequestTimeoutError
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, METHOD_NOT_FOUND, decode_any
from lspkit.regular_files import open_regular
from lspkit.runtime.exchange.ask_server import request_deadline, wait_for_answer
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.server.server import Server

#: Why a server that has to be replaced has no findings.
OUTDATED = "it has to be restarted, since files have changed that it reads only once"
#: Seconds after which a file that the server does not know is no part of its project, and after
#: which it has read a file that is not UTF-8.
UNKNOWN = 1.0
#: Seconds between two requests about one file.
PAUSE = 0.01


def wait_until_read(context: Context, server: Server) -> None:
    """Wait until the server has read all files that it was told of."""
    method = server.adapter.text_request
    if not method:
        return
    deadline = request_deadline(context, server)
    for uri, number in server.channel.clock.unread():
        until = time.monotonic() + UNKNOWN
        while not _is_read(context, server, uri, method, until, deadline):
            context.call.pause(min(time.monotonic() + PAUSE, deadline))
            if time.monotonic() >= deadline:
                name = os.path.basename(uri_to_path(uri) or uri)
                why = f"{server.id} has not read {name}, which has changed on disk"
                raise RequestTimeoutError(why, server=server.id, state=server.rights.word)
        server.channel.clock.has_read(uri, number)


def _is_read(
    context: Context, server: Server, uri: str, method: str, until: float, deadline: float
) -> bool:
    there = _content_of(uri_to_path(uri) or "")
    pending = server.channel.ask(method, {"uri": uri})
    answered = wait_for_answer(context, server, pending, deadline)
    if isinstance(answered, RequestFailedError):
        if answered.server_code == CONTENT_MODIFIED:
            return False
        is_unsupported = answered.server_code == METHOD_NOT_FOUND  # by an older version
        return there is None or is_unsupported or time.monotonic() >= until
    known = decode_any(answered.result)
    if there is None:
        return False
    try:
        # With a byte order mark, which rust-analyzer keeps.
        return bool(known == there.decode().replace("\r\n", "\n"))
    except UnicodeDecodeError:
        # rust-analyzer has an empty text instead. Which one another version has is not known.
        return known == "" or time.monotonic() >= until


def _content_of(path: str) -> bytes | None:
    """The bytes of a file on disk, whatever text a caller has given it; None if there is none.

    It may be a link: the server follows links, too.
    """
    try:
        with open(path, "rb", opener=open_regular) as stream:
            return stream.read()
    except (OSError, ValueError):
        return None
