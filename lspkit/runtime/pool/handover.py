"""What goes over from one process of a server to the next: the documents that were open.

A text that stands for a file for longer has to be there before anybody asks, so it is kept or
looked up before the next process starts. The others are opened again as they are on disk, which is
what the server sees there anyway, as soon as there is time for it.
"""

from __future__ import annotations

from collections.abc import Callable

from lspkit.errors import LspkitError
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.files import Files
from lspkit.runtime.server.document_text import DocumentText, Untold
from lspkit.runtime.server.server import Server
from lspkit.servers import Choice


def texts_of(server: Server) -> Untold:
    """What the next process is to know. Not a text of a single question: it is asked again."""
    with server.channel.lock:
        asked = server.channel.queue.taken()
        texts: Untold = []
        for one in server.channel.documents:
            synced = one.stamp is None and one.key.uri not in asked
            texts.append((one.key.uri, DocumentText(one.text) if synced else None))
        return texts + server.channel.untold


def show_overlays(server: Server, files: Files, choices: Callable[[str], list[Choice]]) -> None:
    """Let a server that is about to start know of the texts that stand for files of its own."""
    for path in files.overlays.paths():
        try:
            if any((one.id, one.root) == (server.id, server.root) for one in choices(path)):
                server.channel.tell(files.locate(path), None)
        except LspkitError:
            continue  # nobody serves it any more
    _drop_refused(server)


def _drop_refused(server: Server) -> None:
    """Leave out what was open in the process before and may not be shown any more."""
    channel = server.channel
    refused = {uri for uri, _ in channel.untold if not channel.admits(uri_to_path(uri) or "")}
    with channel.lock:
        channel.untold = [one for one in channel.untold if one[0] not in refused]


def reopen(server: Server, files: Files) -> None:
    """Open again what was open before the restart, as it is on disk now."""
    for uri in server.reopen:
        path = uri_to_path(uri)
        try:
            # Whoever checks it right now has shown it already, perhaps with a text of his own.
            if path is not None and uri not in server.channel.queue.taken():
                server.channel.sync(files.locate(path), None)
        except LspkitError:
            continue  # gone, or no longer ours to read
