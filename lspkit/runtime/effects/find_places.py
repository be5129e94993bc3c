"""The effects `FindPlaces` and `ReadText`: the files that answers name, and their texts."""

from __future__ import annotations

import functools
import os

from lspkit.operations.effect_results import FoundFile
from lspkit.operations.effects import FindPlaces, ReadText
from lspkit.protocol.text import Text
from lspkit.protocol.uris import normalize_uri
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.library_files import locate_to_read, note_libraries
from lspkit.runtime.file_content import Content
from lspkit.servers.project.project_files import PASSED_OVER
from lspkit.workspace_boundary import is_inside

#: Files of answers that are remembered: the same ones come with many answers.
REMEMBERED = 4096


def read_text(context: Context, effect: ReadText) -> Text:
    """The text that a caller gives, or that of the file."""
    if effect.text is not None:
        return Text(effect.text)
    return context.files.read(locate_to_read(context, effect.path)).text


def find_places(context: Context, effect: FindPlaces, call: CallContext) -> dict[str, FoundFile]:
    """The files that URIs of an answer name. Those of libraries can be asked about afterwards."""
    found: dict[str, FoundFile] = {}
    files, asked, unreadable = context.files, effect.asked_uri, []
    opened = _open_texts(context, effect) if effect.texts and not effect.alone else {}
    for uri in effect.uris:
        place = files.place(uri)
        path, is_asked, text, marked = place.readable, place.uri == asked, opened.get(uri), False
        if path is None:
            unreadable.append(uri)
        elif text is None and effect.texts and not is_asked:
            content = files.unchanged_content(path, call.disk_state, call.began)
            if content is None:
                content = _content_of(context, path, call)
            if content is not None:
                text, marked = content.text, content.marked
        own = path is None or _is_own(path, files.boundary.root)
        found[uri] = FoundFile(place.path, text, marked, own, is_asked)
    if unreadable:
        note_libraries(context, effect.server, asked, unreadable)
    return found


@functools.lru_cache(REMEMBERED)
def _is_own(readable: str, root: str) -> bool:
    """Whether a file is in none of the folders with code of others."""
    inside = readable[len(root) :] if is_inside(readable, root) else readable
    return PASSED_OVER.isdisjoint(inside.split(os.sep)[:-1])


def _content_of(context: Context, path: str, call: CallContext) -> Content | None:
    """The content of a file; if its folder is watched, the look at it is noted."""
    files, state = context.files, call.disk_state
    content = files.content_at(path)
    if content is not None and state is not None:
        covers = context.pool.disk_events.layout().covers
        if covers(os.path.dirname(path), files.boundary.root):
            files.look_again(path, content.stamp, state)
    return content


def _open_texts(context: Context, effect: FindPlaces) -> dict[str, Text]:
    """Texts of documents that the server has open: its answers refer to those, not to the disk."""
    texts: dict[str, Text] = {}
    if effect.uris == (effect.asked_uri,):
        return texts
    for server in context.pool.servers():
        channel = server.channel
        if server.id != effect.server or len(channel.documents) < 2:
            continue
        with channel.lock:
            for uri in effect.uris:
                document = channel.documents.get(normalize_uri(uri))
                if document is not None:
                    texts[uri] = document.text
    return texts
