"""The servers of a file, brought up to date with the disk before they are asked.

What had changed on disk when a call began is delivered to the servers first, and open documents
follow the files that they show.
"""

from __future__ import annotations

from lspkit.errors import LspkitError, RequestTimeoutError
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Step, Steps
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File, was_read_since
from lspkit.runtime.server.server import Server

#: Marks in `CallContext.done` that the disk was looked at for this call.
CAUGHT_UP = "caught up with the disk"
#: Why the state of the disk, or of a server, is not known.
UNSEEN = "there was no time to look at all files that may have changed on disk"
UNTOLD = "could not be told in time of files that have changed on disk"


def locate(context: Context, path: str, text: str | None, call: CallContext) -> File:
    """The file that a caller means; who gives a text of his own may mean one to come."""
    return context.files.locate(path, may_be_missing=text is not None, since=call.began)


def servers_of(
    context: Context, file: File, call: CallContext, text: str | None = None
) -> Steps[tuple[list[Server], list[LspkitError]]]:
    """The servers of a file by what had changed on disk when the call began, and who is not."""
    before, read = context.pool.turnover, file if text is None else None
    found = context.pool.servers_for(file.path, call, read)
    yield from catch_up_with_disk(context, call)
    deliver_events(context, found[0], call)
    if context.pool.turnover == before:
        return found
    return context.pool.servers_for(file.path, call, read)


def catch_up_with_disk(context: Context, call: CallContext) -> Steps[None] | tuple[()]:
    """Let every server hear of what had changed on disk when the call began, once for all.

    Seldom is there anything to wait for: then it is done when this returns.
    """
    reading = context.pool.disk_events.reading()
    if reading is not None:
        return _after_first_reading(context, reading, call)
    if CAUGHT_UP not in call.done:
        _look_at_disk(context, call)
    return ()


def _look_at_disk(context: Context, call: CallContext) -> None:
    if not context.pool.disk_events.catch_up(call.deadline):
        raise RequestTimeoutError(UNSEEN)
    call.done.add(CAUGHT_UP)


def _after_first_reading(context: Context, reading: Step, call: CallContext) -> Steps[None]:
    waiter, until = reading
    yield (waiter, min(until, call.deadline))
    _look_at_disk(context, call)


def deliver_events(context: Context, servers: list[Server], call: CallContext) -> None:
    """See to it that these have heard of it."""
    for server in servers:
        if not context.pool.disk_events.told(server, call.deadline):
            raise RequestTimeoutError(f"{server.id} {UNTOLD}", server=server.id, state=server.state)


def refresh_documents(context: Context, server: Server, call: CallContext) -> None:
    """Bring every open document up to date with the disk, but those that show other text.

    Once for all files that a call is about: what has changed later is none of its business.
    """
    if server in call.done:
        return
    call.done.add(server)
    with server.channel.lock:
        opened = [one for one in server.channel.documents if one.stamp is not None]
    for document in opened:
        if was_read_since(document.stamp, call.began):
            continue
        uri = document.key.uri
        file = context.files.again(uri, since=call.began)
        if file is not None and file.stamp is None:
            server.channel.forget(uri)
        elif file is not None and document.stamp != file.stamp:
            try:
                server.channel.follow_disk(file)
            except LspkitError:
                continue  # no text any more; whoever asks about it is told


def restore_document(context: Context, server: Server, uri: str) -> None:
    """Let the server see the disk again, where its path may lead elsewhere by now."""
    try:
        server.channel.restore(uri, context.files.again(uri))
    except LspkitError:
        return  # it has ended
