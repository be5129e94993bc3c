"""Texts that a caller shows, and the files that have changed."""

from __future__ import annotations

from lspkit.edit_types import ChangedFiles
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import catch_up_with_disk


def sync_file(context: Context, path: str, text: str | None) -> None:
    """Send the text of a file to its servers. Does not wait, so the order of calls is kept."""
    file = context.files.locate(path, may_be_missing=text is not None)
    read = file if text is None else None
    for server in context.pool.servers_for(file.path, context.call, read)[0]:
        server.visited.discard(file.uri)  # the caller's own document stays open
        server.channel.tell(file, text)


def changed_files(context: Context, after: int | None) -> ChangedFiles:
    """The files that have changed on disk since a mark."""
    catch_up_with_disk(context)
    return context.pool.disk_events.changed(after)
