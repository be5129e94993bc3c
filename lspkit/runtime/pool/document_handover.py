"""Passing the open documents of one process of a server to the next.

An overlay must be sent before any request, so it is kept or looked up before the next process
starts. Other documents are opened again from disk, which the server reads anyway, when there is
time.
"""

from __future__ import annotations

from collections.abc import Callable

from lspkit.errors import LspkitError
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.files import Files
from lspkit.runtime.server.document_text import DocumentText, Untold
from lspkit.runtime.server.server import Server
from lspkit.servers.selection.choose import Choice


def texts_of(server: Server) -> Untold:
    """The texts for the next process, without those of a single call: that sends its text again."""
    with server.channel.lock:
        asked = server.channel.queue.taken()
        texts: Untold = []
        for one in server.channel.documents:
            synced = one.stamp is None and one.key.uri not in asked
            texts.append((one.key.uri, DocumentText(one.text) if synced else None))
        return texts + server.channel.untold


def show_overlays(server: Server, files: Files, choices: Callable[[str], list[Choice]]) -> None:
    """Send the overlays of its files to a server that is about to start."""
    for path in files.overlays.paths():
        try:
            if any((one.id, one.root) == (server.id, server.root) for one in choices(path)):
                server.channel.tell(files.locate(path), None)
        except LspkitError:
            continue  # no server serves it any more
    _drop_refused(server)


def _drop_refused(server: Server) -> None:
    """Drop documents of the previous process that may no longer be shown."""
    channel = server.channel
    refused = {uri for uri, _ in channel.untold if not channel.admits(uri_to_path(uri) or "")}
    with channel.lock:
        channel.untold = [one for one in channel.untold if one[0] not in refused]


def reopen(server: Server, files: Files) -> None:
    """Open again what was open before the restart, as it is on disk now."""
    for uri in server.reopen:
        path = uri_to_path(uri)
        try:
            # A check that is under way has opened it already, perhaps with its own text.
            if path is not None and uri not in server.channel.queue.taken():
                server.channel.sync(files.locate(path), None)
        except LspkitError:
            continue  # gone, or no longer allowed
