"""Changes that lspkit itself makes on disk, and overlays.

The servers are told of every change before this returns, so the next request comes after it.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterable

from lspkit.diagnostics.report import Change
from lspkit.edit_types import WorkspaceEdit
from lspkit.edits import apply
from lspkit.edits.descriptor import Descriptor, open_descriptor
from lspkit.errors import LspkitError
from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, FileEvent
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.exchange.context import Context
from lspkit.workspace_boundary import locate

#: How many files are kept open, the last ones.
HELD = 8
_HOLD = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
_HOLD |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ReplacedFiles:
    """Keeps files open for a while that have been replaced. For any thread.

    When a file is replaced, the system may give its inode number to the next new file. Programs
    identify files by that number. In races of two files clangd sometimes reported that a source
    includes itself, as if it took the header for it by its number; that this is the cause was not
    proven. An open file keeps its number.
    """

    def __init__(self) -> None:
        #: Without a lock: adding, which drops the oldest, and clearing are atomic.
        self._held: collections.deque[Descriptor] = collections.deque(maxlen=HELD)
        self._closed = False

    def hold(self, path: str) -> None:
        """The file at this path is about to be replaced."""
        try:
            descriptor = open_descriptor(path, _HOLD)
        except OSError:
            return  # it is gone, or no descriptor is left: it is not kept open
        self._held.append(descriptor)
        if self._closed:  # perhaps just now
            self._held.clear()

    def close(self) -> None:
        """Close all of them, and also those that come later."""
        self._closed = True
        self._held.clear()


def write_file(context: Context, replaced: ReplacedFiles, path: str, text: str) -> Change:
    """Write a file."""
    there = locate(path, context.files.boundary, may_be_missing=True)
    if there.stat is not None:
        replaced.hold(there.path)
    return _report(context, apply.write(path, text, context.files.boundary))


def delete_file(context: Context, path: str) -> Change:
    """Delete a file."""
    return _report(context, apply.delete(path, context.files.boundary))


def move_file(context: Context, path: str, new_path: str) -> Change:
    """Move a file."""
    return _report(context, apply.move(path, new_path, context.files.boundary))


def apply_edit(context: Context, edit: WorkspaceEdit, versions: dict[str, int] | None) -> Change:
    """Apply an edit, all or none."""
    if versions is None:
        versions = document_versions(context, edit)
    change = apply.apply(edit, context.files.boundary, versions=versions)
    return _report(context, change)


def undo_edit(context: Context, change: Change) -> Change:
    """Undo a change, all or none."""
    return _report(context, apply.undo(change, context.files.boundary))


def _report(context: Context, change: Change) -> Change:
    """Notify the servers of a change."""
    context.pool.disk_events.changed_by_us(_events(change))
    return change


def document_versions(context: Context, edit: WorkspaceEdit) -> dict[str, int]:
    """The document versions of the server that proposes the edit."""
    versions: dict[str, int] = {}
    for server in context.pool.servers():
        if server.id == edit.server:
            with server.channel.lock:
                versions |= {
                    document.key.uri: document.version for document in server.channel.documents
                }
    return versions


def show_texts(context: Context, texts: dict[str, str]) -> int:
    """Show texts instead of files, as soon as possible to the servers of these files."""
    located = {
        context.files.locate(path, may_be_missing=True).path: text for path, text in texts.items()
    }
    # Before the overlay: typescript-language-server ignores events of files that it has open, and
    # would keep reporting a file as missing that has just been created.
    context.pool.disk_events.catch_up(context.call.deadline)
    number = context.files.overlays.begin(located)
    _send_overlays(context, located)
    return number


def end_overlay(context: Context, number: int) -> None:
    """The servers see the disk again, or the overlay below."""
    _send_present_texts(context, context.files.overlays.end(number))


def switch_client(context: Context, client: object) -> None:
    """Show the servers the texts of another client, in place of those that they are shown."""
    synced: dict[str, str] = {}
    for server in context.pool.servers():
        synced |= server.channel.take_synced()
    hidden = [*context.files.overlays.paths(), *synced]
    synced = context.files.overlays.switch(client, synced)
    _send_present_texts(context, hidden)
    if shown := context.files.overlays.paths():
        context.pool.disk_events.catch_up(context.call.deadline)  # before, as above
        _send_overlays(context, shown)
    for path, text in synced.items():
        try:
            sync_file(context, path, text)
        except LspkitError:
            continue  # as above


def sync_file(context: Context, path: str, text: str | None) -> None:
    """Send the text of a file to its servers. Does not wait, so the order of calls is kept."""
    file = context.files.locate(path, may_be_missing=text is not None)
    read = file if text is None else None
    for server in context.pool.servers_for(file.path, context.call, read)[0]:
        server.visited.discard(file.uri)  # the caller's own document stays open
        server.channel.tell(file, text)


def _send_overlays(context: Context, paths: Iterable[str]) -> None:
    """Show the servers of these files their overlays."""
    for path in paths:
        try:
            file = context.files.locate(path)
            for server in context.pool.servers_for(file.path, context.call)[0]:
                server.channel.tell(file, None)
        except LspkitError:
            continue  # it has no server; a request about it raises why


def _send_present_texts(context: Context, paths: Iterable[str]) -> None:
    """Show the servers that have these files open what is there: an overlay, or the disk."""
    for path in paths:
        uri = path_to_uri(path)
        for server in context.pool.servers():
            with server.channel.lock:
                is_open = server.channel.documents.get(uri) is not None
            file = context.files.again(uri)
            if not is_open or file is None or not server.is_up:
                continue
            try:
                if file.stamp is None:
                    server.channel.forget(uri)
                else:
                    server.channel.sync(file, None)
            except LspkitError:
                continue


def _events(change: Change) -> list[FileEvent]:
    """The file events of a change."""
    events: list[FileEvent] = []
    for touched in change.touched:
        was, now = touched.was in ("file", "link"), touched.now in ("file", "link")
        if was or now:
            kind = CHANGED if was and now else CREATED if now else DELETED
            events.append(FileEvent(str(touched.path), kind))
    return events
