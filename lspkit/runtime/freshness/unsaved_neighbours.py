"""Texts that are not on disk, and whether a server sees them when it checks another file.

Likewise files whose changes on disk are not known.

Such a text is an overlay or comes from `sync`. The text of a single call belongs to that call, and
counts for other files only if that call checks them, too.
"""

from __future__ import annotations

import os

import msgspec

from lspkit.diagnostics.store import is_empty
from lspkit.operations.host_results import Examined
from lspkit.protocol.uris import path_to_uri, uri_to_path
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import Files
from lspkit.runtime.server.server import Server
from lspkit.servers.project.file_relevance import concerns, unseen
from lspkit.workspace_boundary import is_inside


class UnsavedNeighbours(msgspec.Struct, frozen=True):
    """Unsaved texts of other files than the one that a server checks."""

    #: A file with a text that is not on disk and that the findings may depend on; or empty.
    name: str = ""
    #: Why the server does not see that text, or another one; empty if it sees all.
    unseen: str = ""


def unsaved_neighbours(
    context: Context, server: Server, uri: str, own: str = ""
) -> UnsavedNeighbours:
    """The unsaved texts around a document or in a project; `own` may have a text of this call."""
    definition, files, pool = server.choice.definition, context.files, context.pool
    neighbours = UnsavedNeighbours(unseen=pool.disk_events.unseen)
    synced = {path for other in pool.servers() for path in _synced(other)}
    if not (synced or own or files.overlays.shown):
        return neighbours  # as nearly always
    path_of_own = uri_to_path(own)
    if path_of_own is not None and server.channel.shows_unsaved(own):
        synced.add(path_of_own)
    for path in sorted({*files.overlays.paths(), *synced} - {uri_to_path(uri)}):
        name = os.path.basename(path)
        if not concerns(definition, name, is_inside=is_inside(path, server.root)):
            continue
        name = os.path.relpath(path, files.boundary.root)
        is_there = os.path.exists(path)
        why = unseen(
            definition,
            name,
            is_shown=server.channel.shows_unsaved(path_to_uri(path)),
            is_there=is_there,
            has_folder=is_there or os.path.isdir(os.path.dirname(path)),
        )
        neighbours = UnsavedNeighbours(neighbours.name or name, neighbours.unseen or why)
    return neighbours


def doubt_of_new_file(server: Server, path: str, text: str | None, files: Files) -> str:
    """Why a server misjudges a file because it does not exist on disk; empty if it does not.

    `text` is that of the call; without it, the file has an overlay.
    """
    if os.path.exists(path):
        return ""
    overlay = files.overlays.get(path)
    if text is None:
        text = "" if overlay is None else overlay.text.value
    return server.adapter.misjudges_new(os.path.relpath(path, files.boundary.root), text)


def _synced(server: Server) -> list[str]:
    """The files whose text was synced, without those of a single call."""
    with server.channel.lock:
        if not (server.channel.pending_texts or server.channel.documents.has_single_texts()):
            return []  # as nearly always
        uris = {document.key.uri for document in server.channel.documents if document.stamp is None}
        uris -= server.channel.queue.taken()
        uris |= {
            uri
            for uri, text in server.channel.pending_texts
            if text is not None and text.stamp is None
        }
    return [path for uri in uris if (path := uri_to_path(uri)) is not None]


def judge(examined: Examined, server: Server, neighbours: UnsavedNeighbours) -> Examined:
    """Whether findings count if the server may not have seen a text that they depend on.

    Findings of a type checker would be about a different project. A linter reads few other files:
    its findings count, but an empty list proves nothing.
    """
    if not neighbours.unseen or examined.how == "none":
        return examined
    if server.choice.definition.role == "types":
        return msgspec.structs.replace(
            examined, view=None, lists=(), how="none", reason=neighbours.unseen
        )
    how = "not applicable" if all(map(is_empty, examined.lists)) else "quiet"
    return msgspec.structs.replace(examined, how=how, reason=neighbours.unseen)
