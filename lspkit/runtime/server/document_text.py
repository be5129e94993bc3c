"""Which text a server is shown for a file: that on disk, or its overlay; and by which messages."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

import msgspec

from lspkit.protocol.open_documents import Document, Documents
from lspkit.protocol.session import Session
from lspkit.protocol.text import Text, Unsaved
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.files import File, Files, is_current
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition


class DocumentText(msgspec.Struct, frozen=True):
    """A text to send to a server."""

    text: Text
    #: As `Document.stamp`.
    stamp: object = None
    #: The text on disk, where the document has to be opened with that first.
    below: Text | None = None


#: Texts to send to a server later, by URI; None stands for the overlay at that time, or else for
#: the file on disk.
Untold = list[tuple[str, DocumentText | None]]


def to_be_told(files: Files, file: File, text: str | None) -> DocumentText | None:
    """The text of a file to send when a server is up."""
    if text is not None:
        return DocumentText(Text(text))
    if isinstance(file.stamp, Unsaved):
        return None  # the overlay may be gone by then
    content = files.read(file)
    return DocumentText(content.text, content.stamp)


def text_for(
    files: Files, file: File, given: Text | None, *, opens_as_on_disk: bool
) -> DocumentText:
    """A caller's own text, the overlay of the file, or the file on disk."""
    stamp: object = None
    if given is None:
        content = files.read(file)
        given, stamp = content.text, content.stamp
    is_on_disk = stamp is not None and not isinstance(stamp, Unsaved)
    below = files.disk_text(file.path) if opens_as_on_disk and not is_on_disk else None
    return DocumentText(given, stamp, below)


def overlay_of(files: Files, uri: str) -> DocumentText | None:
    """The present overlay of a file. Does no I/O."""
    content = files.overlays.get(uri_to_path(uri) or "")
    return None if content is None else DocumentText(content.text, content.stamp)


def is_up_to_date(document: Document, file: File) -> bool:
    """Whether the server has the text of the file as it is now."""
    return not document.unsure and is_current(document.stamp, file)


def is_outdated(document: Document, file: File) -> bool:
    """Whether a document has to be brought up to date: not if it shows a caller's own text."""
    return document.stamp is not None and not is_up_to_date(document, file)


def merely_opened(document: Document, notes: Iterable[tuple[str, Any]]) -> bool:
    """Whether the server was told nothing about a file that it could not see on disk."""
    uri, other = document.key.uri, ("textDocument/didChange", "textDocument/didClose")
    changed = any(said in other and about["textDocument"]["uri"] == uri for said, about in notes)
    return document.is_on_disk and not changed


def document_table(
    session: Session, definition: Definition, in_use: Callable[[], Container[str]]
) -> Documents:
    """The documents of a server that has just come up: none, and how it is told of them."""
    adapter = adapter_of(definition)
    return Documents(
        session.capabilities,
        session.encoding,
        in_use=in_use,
        change_with=adapter.change_params,
        touch_with=adapter.touch_params,
        adapt=adapter.sync_options,
        other_line_ends=definition.documents.other_line_ends,
    )
