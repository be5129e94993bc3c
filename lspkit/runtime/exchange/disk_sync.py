"""The servers of a file, brought up to date with the disk before they are asked.

Changes on disk from before the call are delivered to the servers first, and open documents follow
their files.
"""

from __future__ import annotations

from lspkit.errors import LspkitError, RequestTimeoutError
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import (
    is_library,
    servers_of_library,
)
from lspkit.runtime.files import File, was_read_since
from lspkit.runtime.server.server import Server

#: Marks that the disk was scanned for this call.
CAUGHT_UP = "caught up with the disk"
#: Why the state of the disk, or of a server, is not known.
UNSEEN = "there was no time to look at all files that may have changed on disk"
UNTOLD = "could not be told in time of files that have changed on disk"


def locate(context: Context, path: str, text: str | None) -> File:
    """The file at a path; with a text of its own, a call may name a file that does not exist."""
    return context.files.locate(path, may_be_missing=text is not None, since=context.call.began)


def servers_of(
    context: Context, file: File, text: str | None = None
) -> tuple[list[Server], list[LspkitError]]:
    """The servers of a file after the changes on disk from before the call, and failures."""
    if is_library(context, file):
        return servers_of_library(context, file)
    before, read = context.pool.assignments.turnover, file if text is None else None
    assignment = context.pool.servers_for(file.path, context.call, read)
    catch_up_with_disk(context)
    deliver_events(context, assignment[0])
    if context.pool.assignments.turnover == before:
        return assignment
    return context.pool.servers_for(file.path, context.call, read)


def catch_up_with_disk(context: Context) -> None:
    """Tell every server of the changes on disk from before the call, once per call."""
    scan = context.pool.disk_events.first_scan()
    if scan is not None:
        context.call.wait(*scan)
        _look_at_disk(context)
        context.call.note_done(CAUGHT_UP)
    else:
        context.call.once(CAUGHT_UP, lambda: _look_at_disk(context))


def catch_up_again(context: Context, server: Server) -> None:
    """Tell a server of the changes on disk up to now, also those during the call."""
    _look_at_disk(context)
    deliver_events(context, [server])


def _look_at_disk(context: Context) -> None:
    if not context.pool.disk_events.catch_up(context.call.deadline):
        raise RequestTimeoutError(UNSEEN)


def deliver_events(context: Context, servers: list[Server]) -> None:
    """Wait until these servers were told of the changes."""
    for server in servers:
        if not context.pool.disk_events.deliver_to(server, context.call.deadline):
            raise RequestTimeoutError(
                f"{server.id} {UNTOLD}", server=server.id, state=server.rights.word
            )


def refresh_documents(context: Context, server: Server) -> None:
    """Bring every open document up to date with the disk, except those with another text.

    Once for all files of a call: later changes are not its concern.
    """
    context.call.once(server, lambda: _follow_disk(context, server))


def _follow_disk(context: Context, server: Server) -> None:
    with server.channel.lock:
        opened = [document for document in server.channel.documents if document.stamp is not None]
    for document in opened:
        uri, stamp = document.key.uri, document.stamp
        if was_read_since(stamp, context.call.began) or context.files.has_stamp(uri, stamp):
            continue
        file = context.files.again(uri, since=context.call.began)
        if file is not None and file.stamp is None:
            server.channel.forget(uri)
        elif file is not None and document.stamp != file.stamp:
            try:
                server.channel.follow_disk(file, holds_save=True)
            except LspkitError:
                continue  # no text any more; a request about it raises that
    server.channel.save_held()


def restore_document(context: Context, server: Server, uri: str) -> None:
    """Show the server the file on disk again; its path may lead elsewhere by now."""
    try:
        server.channel.restore(uri, context.files.again(uri))
    except LspkitError:
        return  # it has ended
