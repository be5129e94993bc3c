"""The effects `SyncFile` and `TakeChanges`."""

from __future__ import annotations

from lspkit.edit_types import ChangedFiles
from lspkit.operations.effects import SyncFile, TakeChanges
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import catch_up_with_disk


def sync_file(context: Context, effect: SyncFile, call: CallContext) -> None:
    """Perform `SyncFile`, in the caller's thread, so that the order of calls is kept."""
    file = context.files.locate(effect.path, may_be_missing=effect.text is not None)
    read = file if effect.text is None else None
    for server in context.pool.servers_for(file.path, call, read)[0]:
        server.visited.discard(file.uri)  # the caller's own document stays open
        server.channel.tell(file, effect.text)


def take_changes(context: Context, effect: TakeChanges, call: CallContext) -> Steps[ChangedFiles]:
    """Perform `TakeChanges`: the files that have changed on disk since a mark."""
    yield from catch_up_with_disk(context, call)
    return context.pool.disk_events.changed(effect.after)
