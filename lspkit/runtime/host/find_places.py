"""The files that answers name, and their texts."""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

from lspkit.operations.host_results import FoundFile
from lspkit.protocol.text import Text
from lspkit.protocol.uris import normalize_uri
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import locate_to_read, note_libraries
from lspkit.servers.project.project_files import PASSED_OVER
from lspkit.workspace_boundary import is_inside

#: Files of answers that are remembered: the same ones come with many answers.
REMEMBERED = 4096


def read_text(context: Context, path: str, text: str | None) -> Text:
    """The text that a caller gives, or that of the file."""
    if text is not None:
        return Text(text)
    return context.files.read(locate_to_read(context, path)).text


class Places(NamedTuple):
    """The files that an answer names."""

    server: str
    #: The document of the request: it distinguishes servers with the same id.
    asked_uri: str
    uris: tuple[str, ...]


def find_places(
    context: Context, wanted: Places, *, texts: bool, alone: bool
) -> dict[str, FoundFile]:
    """The files that URIs of an answer name. Those of libraries can be asked about afterwards."""
    files, places, unreadable = context.files, dict[str, FoundFile](), list[str]()
    opened = _open_texts(context, wanted) if texts and not alone else {}
    for uri in wanted.uris:
        place = files.place(uri)
        path, text, marked = place.readable, opened.get(uri), False
        is_asked = place.uri == wanted.asked_uri
        if path is None:
            unreadable.append(uri)
        elif text is None and texts and not is_asked:
            content = files.content_at(path)
            if content is not None:
                text, marked = content.text, content.marked
        own = path is None or _is_own(path, files.boundary.root)
        places[uri] = FoundFile(place.path, text, marked, own, is_asked)
    if unreadable:
        note_libraries(context, wanted.server, wanted.asked_uri, unreadable)
    return places


@functools.lru_cache(REMEMBERED)
def _is_own(readable: str, root: str) -> bool:
    """Whether a file is in none of the folders with code of others."""
    inside = readable[len(root) :] if is_inside(readable, root) else readable
    return PASSED_OVER.isdisjoint(inside.split(os.sep)[:-1])


def _open_texts(context: Context, wanted: Places) -> dict[str, Text]:
    """Texts of documents that the server has open: its answers refer to those, not to the disk."""
    texts: dict[str, Text] = {}
    if wanted.uris == (wanted.asked_uri,):
        return texts
    for server in context.pool.servers():
        channel = server.channel
        if server.id != wanted.server or len(channel.documents) < 2:
            continue
        with channel.lock:
            for uri in wanted.uris:
                document = channel.documents.get(normalize_uri(uri))
                if document is not None:
                    texts[uri] = document.text
    return texts
