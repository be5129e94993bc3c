"""The servers of a file, brought up to date with the disk before they are asked.

Changes on disk from before the call are delivered to the servers first, and open documents follow
their files.
"""

from __future__ import annotations

from lspkit.errors import LspkitError, RequestTimeoutError
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Step, Steps
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import (
    is_library,
    servers_of_library,
)
from lspkit.runtime.file_content import was_read_since
from lspkit.runtime.files import File
from lspkit.runtime.server.server import Server

#: Marks in `CallContext.done` that the disk was scanned for this call.
CAUGHT_UP = "caught up with the disk"
#: Why the state of the disk, or of a server, is not known.
UNSEEN = "there was no time to look at all files that may have changed on disk"
UNTOLD = "could not be told in time of files that have changed on disk"


def locate(context: Context, path: str, text: str | None, call: CallContext) -> File:
    """The file at a path; with a text of its own, a call may name a file that does not exist."""
    layout = context.pool.disk_events.layout() if CAUGHT_UP in call.done else None
    missing = text is not None
    return context.files.locate(path, may_be_missing=missing, since=call.began, layout=layout)


def servers_of(
    context: Context, file: File, call: CallContext, text: str | None = None
) -> Steps[tuple[list[Server], list[LspkitError]]]:
    """The servers of a file after the changes on disk from before the call, and failures."""
    if is_library(context, file):
        return servers_of_library(context, file, call)
    before, read = context.pool.assignments.turnover, file if text is None else None
    found = context.pool.servers_for(file.path, call, read)
    yield from catch_up_with_disk(context, call)
    deliver_events(context, found[0], call)
    if context.pool.assignments.turnover == before:
        return found
    return context.pool.servers_for(file.path, call, read)


def catch_up_with_disk(context: Context, call: CallContext) -> Steps[None] | tuple[()]:
    """Tell every server of the changes on disk from before the call, once per call.

    Usually there is nothing to wait for: then it is done when this returns.
    """
    reading = context.pool.disk_events.reading()
    if reading is not None:
        return _after_first_reading(context, reading, call)
    if CAUGHT_UP not in call.done:
        _look_at_disk(context, call)
    return ()


def catch_up_again(context: Context, server: Server, call: CallContext) -> None:
    """Tell a server of the changes on disk up to now, also those during the call."""
    _look_at_disk(context, call)
    deliver_events(context, [server], call)


def _look_at_disk(context: Context, call: CallContext) -> None:
    if not context.pool.disk_events.catch_up(call.deadline):
        raise RequestTimeoutError(UNSEEN)
    call.done.add(CAUGHT_UP)


def _after_first_reading(context: Context, reading: Step, call: CallContext) -> Steps[None]:
    waiter, until = reading
    yield (waiter, min(until, call.deadline))
    _look_at_disk(context, call)


def deliver_events(context: Context, servers: list[Server], call: CallContext) -> None:
    """Wait until these servers were told of the changes."""
    for server in servers:
        if not context.pool.disk_events.told(server, call.deadline):
            raise RequestTimeoutError(f"{server.id} {UNTOLD}", server=server.id, state=server.state)


def refresh_documents(context: Context, server: Server, call: CallContext) -> None:
    """Bring every open document up to date with the disk, except those with another text.

    Once for all files of a call: later changes are not its concern.
    """
    if server in call.done:
        return
    call.done.add(server)
    with server.channel.lock:
        opened = [one for one in server.channel.documents if one.stamp is not None]
    for document in opened:
        uri, stamp = document.key.uri, document.stamp
        if was_read_since(stamp, call.began) or context.files.has_stamp(uri, stamp):
            continue
        file = context.files.again(uri, since=call.began)
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
