"""Notifications that files on disk have changed, and what some servers need besides."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from lspkit.protocol.registrations import CHANGED, CREATED, separate_notes
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.server.document_channel import DocumentChannel
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition

#: A symbol that no project has.
NO_SYMBOL = "\u2205"


def send_file_notes(
    channel: DocumentChannel,
    definition: Definition,
    changed: Mapping[str, float | None],
    changes: list[dict[str, Any]],
    reread: Iterable[str] = (),
) -> None:
    """Files on disk have changed; notify the server of those it has registered for.

    `changed` are URIs with the second of the change, if the server compares files by it; `reread`
    are files that it must be made to read again.
    """
    with channel.lock:
        if definition.disk.skips_open:
            # Not those with a caller's own text: when it ends, the server may read the file.
            opened = {one.key.uri for one in channel.documents if isinstance(one.stamp, tuple)}
            changes = [one for one in changes if one["type"] != CHANGED or one["uri"] not in opened]
        if changes:
            # Some servers start work when they are told of files.
            channel.observations.told_of_files(time.monotonic())
        for uri in reread:
            channel.post(channel.documents.reread(channel.key_of(uri)))
        if changes:
            _tell(channel, definition, changes)
        told = [change["uri"] for change in changes]
        rested = channel.observations.rested(channel.opened())
        channel.clock.files_changed(changed, told, rested)


def _tell(channel: DocumentChannel, definition: Definition, changes: list[dict[str, Any]]) -> None:
    """Notify it; send a request, too, if it would lose an edit otherwise. The lock is held."""
    adapter = adapter_of(definition)
    created = any(one["type"] == CREATED for one in changes)
    if created and adapter.blocks_on_new_files:
        _end_requests(channel)
    for note in separate_notes(changes) if definition.disk.sorts_changes else [changes]:
        channel.post([("workspace/didChangeWatchedFiles", {"changes": note})])
    channel.files_told += len(changes)
    if 0 < adapter.loses_edits_after < channel.files_told:
        channel.files_told = 0
        pending = PendingRequest("workspace/symbol", Waiter(), None)
        channel.enqueue(pending, {"query": NO_SYMBOL})


def _end_requests(channel: DocumentChannel) -> None:
    """Change a document, so that it stops its work on requests, also on cancelled ones.

    Prefers a document without a request, because an answer about a changed one does not count. The
    lock is held.
    """
    asked = {pending.uri for pending in list(channel.session.pending.values())}
    opened = [one.key.uri for one in channel.documents]
    if opened:
        channel.renumber(min(opened, key=lambda uri: uri in asked))
