"""Changes that lspkit itself makes on disk, and overlays.

The servers are told of every change before this returns, so the next request comes after it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable

from lspkit.edit_types import AppliedEdit, WorkspaceEdit
from lspkit.edits import apply, single_file
from lspkit.edits.text_edits import encode
from lspkit.errors import LspkitError
from lspkit.protocol.text import BYTE_ORDER_MARK
from lspkit.protocol.uris import path_to_uri
from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, FileEvent
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.host.replaced_files import ReplacedFiles
from lspkit.runtime.host.sync_files import sync_file
from lspkit.workspace_boundary import locate


def write_file(context: Context, replaced: ReplacedFiles, path: str, text: str) -> None:
    """Write a file."""
    context.pool.disk_events.changed_by_us(_write(context, replaced, path, text))


def delete_file(context: Context, path: str) -> None:
    """Delete a file."""
    real = single_file.remove(path, context.files.boundary)
    context.pool.disk_events.changed_by_us([FileEvent(real, DELETED)])


def move_file(context: Context, path: str, new_path: str) -> None:
    """Move a file."""
    old, new = single_file.move(path, new_path, context.files.boundary, make_folders=True)
    events = [FileEvent(old, DELETED), FileEvent(new, CREATED)]
    context.pool.disk_events.changed_by_us(events)


def _write(context: Context, replaced: ReplacedFiles, path: str, text: str) -> list[FileEvent]:
    boundary = context.files.boundary
    there = locate(path, boundary, may_be_missing=True)
    marked = there.stat is not None and single_file.begins_with(path, BOM_UTF8, boundary)
    adds_mark = marked and not text.startswith(BYTE_ORDER_MARK)
    data = encode(BOM_UTF8 if adds_mark else b"", text, path)
    if there.stat is not None:
        replaced.hold(there.path)
    real = single_file.replace(path, data, boundary, make_folders=True)
    return [FileEvent(real, CREATED if there.stat is None else CHANGED)]


def apply_edit(
    context: Context, edit: WorkspaceEdit, versions: dict[str, int] | None
) -> AppliedEdit:
    """Apply an edit, all or none."""
    if versions is None:
        versions = document_versions(context, edit)
    applied = apply.apply(edit, context.files.boundary, versions=versions)
    context.pool.disk_events.changed_by_us(_events(applied))
    return applied


def undo_edit(context: Context, applied: AppliedEdit) -> None:
    """Undo an edit, all or none."""
    apply.undo(applied, context.files.boundary)
    events = [FileEvent(event.path, _REVERSED[event.kind]) for event in _events(applied)]
    context.pool.disk_events.changed_by_us(events)


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


_REVERSED = {CREATED: DELETED, DELETED: CREATED, CHANGED: CHANGED}


def _events(applied: AppliedEdit) -> list[FileEvent]:
    """The file events of an edit."""
    events: list[FileEvent] = []
    for touched in applied.touched:
        was, now = touched.was in ("file", "link"), touched.now in ("file", "link")
        if was or now:
            kind = CHANGED if was and now else CREATED if now else DELETED
            events.append(FileEvent(str(touched.path), kind))
    return events
