"""The effects `FindPlaces` and `ReadText`: the files that answers name, and their texts."""

from __future__ import annotations

import functools
import os

from lspkit.operations.effect_results import FoundFile
from lspkit.operations.effects import FindPlaces, ReadText
from lspkit.protocol.text import Text
from lspkit.protocol.uris import normalize_uri
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import locate_to_read, note_libraries
from lspkit.servers.project.project_files import PASSED_OVER
from lspkit.workspace_boundary import is_inside

#: Files of answers whose place is remembered: the same ones come with many answers.
REMEMBERED = 4096


def read_text(context: Context, effect: ReadText) -> Text:
    """The text that a caller gives, or that of the file."""
    if effect.text is not None:
        return Text(effect.text)
    return context.files.read(locate_to_read(context, effect.path)).text


def find_places(context: Context, effect: FindPlaces) -> dict[str, FoundFile]:
    """The files that URIs of an answer name. Those of libraries can be asked about afterwards."""
    found: dict[str, FoundFile] = {}
    files, asked, unreadable = context.files, effect.asked_uri, []
    opened = _open_texts(context, effect) if effect.texts else {}
    for uri in effect.uris:
        path, readable = files.place(uri)
        if readable is None:
            unreadable.append(uri)
            found[uri] = FoundFile(path, opened.get(uri))
            continue
        text, marked = opened.get(uri), False
        if text is None and effect.texts and uri != asked and normalize_uri(uri) != asked:
            content = files.content_at(readable)
            if content is not None:
                text, marked = content.text, content.marked
        own = _is_own(readable, files.boundary.root)
        found[uri] = FoundFile(path, text, marked, own)
    if unreadable:
        note_libraries(context, effect.server, asked, unreadable)
    return found


@functools.lru_cache(REMEMBERED)
def _is_own(readable: str, root: str) -> bool:
    """Whether a file is in the workspace, and in none of its folders with code of others."""
    inside = readable[len(root) :] if is_inside(readable, root) else readable
    return not PASSED_OVER.intersection(inside.split(os.sep)[:-1])


def _open_texts(context: Context, effect: FindPlaces) -> dict[str, Text]:
    """Texts of documents that the server has open: its answers refer to those, not to the disk."""
    if effect.uris == (effect.asked_uri,):
        return {}
    texts: dict[str, Text] = {}
    for server in context.pool.servers():
        if server.id != effect.server or len(server.channel.documents) < 2:
            continue
        with server.channel.lock:
            for uri in effect.uris:
                document = server.channel.documents.get(normalize_uri(uri))
                if document is not None:
                    texts[uri] = document.text
    return texts
