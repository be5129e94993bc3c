"""The open documents of a server, and the notifications that synchronise them.

Documents are identified by URI. Versions only grow, also after closing and reopening, so that a
version identifies one text while the server runs. With incremental sync the smallest single change
is sent.

Interrupts. A caller may be interrupted after a document was updated here and before its
notifications are sent. So `sync` leaves a document *unsure* until `commit`; the next `sync` closes
and reopens an unsure document, which is correct whatever the server has received.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import msgspec

from lspkit.protocol.capabilities import Capabilities, DocumentKey
from lspkit.protocol.text import Encoding, Text, Unsaved, smallest_change

#: A notification to send: method and params.
Note = tuple[str, dict[str, Any]]

_STAMP = operator.attrgetter("stamp")

#: Most open documents of one server.
OPEN_LIMIT = 500


class SyncOptions(msgspec.Struct, frozen=True):
    """Which notifications a server wants for one document."""

    open_close: bool
    #: `TextDocumentSyncKind`: 0 none, 1 full text, 2 incremental.
    change: int
    save: bool
    save_with_text: bool


class Document(msgspec.Struct):
    """One open document as the server knows it."""

    key: DocumentKey
    version: int
    text: Text
    #: The file's stamp when the text was read from it; `Unsaved` for the text of an overlay, None
    #: for the text of a single call.
    stamp: object = None
    #: Whether the server may not have received the last change.
    unsure: bool = True
    #: The version that it was opened with.
    opened: int = 0
    #: The first version with the present text. Later versions repeat it.
    since: int = 0

    @property
    def is_on_disk(self) -> bool:
        """Whether the text was read from the file."""
        return self.stamp is not None and not isinstance(self.stamp, Unsaved)

    @property
    def identifier(self) -> dict[str, str]:
        """`TextDocumentIdentifier`."""
        return {"uri": self.key.uri}


class View(msgspec.Struct, frozen=True):
    """A document at the time of a request: for encoding its position and decoding its answer."""

    uri: str
    text: Text
    version: int
    encoding: Encoding
    #: Whether the server had no other document open, so that it knew all others from disk.
    alone: bool = False


class Documents:
    """The open documents of one server. Guarded by that server's lock."""

    def __init__(
        self,
        capabilities: Capabilities,
        encoding: Encoding,
        *,
        limit: int = OPEN_LIMIT,
        in_use: Callable[[], Container[str]] = tuple,
        change_with: Mapping[str, Any] | None = None,
        touch_with: Mapping[str, Any] | None = None,
        adapt: Callable[[SyncOptions], SyncOptions] = lambda options: options,
        other_line_ends: str = "",
    ) -> None:
        self._capabilities = capabilities
        #: A document with one of these is opened anew instead of changed: the server would take
        #: another place for that of the change.
        self._other_line_ends = other_line_ends
        #: Returns the sync options to use in place of those that the server has asked for.
        self._adapt = adapt
        #: Additional params of every `didChange`, for extensions of the protocol; and further ones
        #: of a touch.
        self._change_with = dict(change_with or {})
        self._touch_with = dict(touch_with or {})
        self._encoding: Encoding = encoding
        self._limit = limit
        #: URIs that must stay open; called only when a document has to be closed.
        self._in_use = in_use
        #: By URI, least recently used first.
        self._open: collections.OrderedDict[str, Document] = collections.OrderedDict()
        self._last_version: dict[str, int] = {}
        #: Closed here, but possibly still open at the server.
        self._maybe_open: set[str] = set()
        #: Those of them that the last call closed.
        self._closed_now: set[str] = set()
        #: The sync options by document, and for which table of the capabilities they hold.
        self._options: dict[DocumentKey, SyncOptions] = {}
        self._options_for: object = None

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def has_single_texts(self) -> bool:
        """Whether a document shows the text of a single call."""
        return None in map(_STAMP, self._open.values())

    def get(self, uri: str) -> Document | None:
        """The document if it is open; it becomes the most recently used one."""
        document = self._open.get(uri)
        if document is not None:
            self._open.move_to_end(uri)
        return document

    def sync(
        self, key: DocumentKey, text: Text, stamp: object, below: Text | None = None
    ) -> tuple[Document, list[Note]]:
        """Synchronise `text`: returns the document, and the notifications to send, in order.

        With `below`, a closed document is opened with that text, and then changed.
        """
        document = self.get(key.uri)
        options = self.options(key)
        self._closed_now.clear()
        if document is None or document.key != key:
            notes = self._close(key.uri) if document is not None else []
            version = self._last_version.get(key.uri, 0) + 1
            document = Document(key, version, text, stamp, since=version)
            if key.uri in self._maybe_open and not notes:
                notes += self._close_notes(document, options)
                self._closed_now.add(key.uri)
            self._open[key.uri] = document
            notes += self._open_notes(document, options, below)
        elif document.unsure or self._misplaces_changes(document.text, text):
            document.unsure = True
            document.version += 1
            document.text, document.stamp, document.since = text, stamp, document.version
            notes = [
                *self._close_notes(document, options),
                *self._open_notes(document, options, below),
            ]
            notes += self._save_notes(document, options)  # it may have been lost with the change
        elif document.text.value == text.value:
            if stamp is None:
                return document, []  # the text is on disk as well
            written, document.stamp = not document.is_on_disk, stamp
            # An unsaved text is now on disk.
            return document, self._save_notes(document, options) if written else []
        else:
            document.unsure = True
            notes = self._change_notes(document, text, options)
            document.stamp = stamp
            notes += self._save_notes(document, options)
        self._last_version[key.uri] = document.version
        return document, notes + self._evict()

    def _misplaces_changes(self, old: Text, new: Text) -> bool:
        """Whether the server counts the lines of a text in another way than the protocol."""
        if old.value == new.value:
            return False
        return any(end in text.value for end in self._other_line_ends for text in (old, new))

    def commit(self, document: Document | None = None) -> None:
        """Confirm that the notifications of the last `sync`, `touch` or `close` are being sent."""
        if document is not None:
            document.unsure = False
        self._maybe_open -= self._closed_now
        self._closed_now.clear()

    def close(self, uri: str) -> list[Note]:
        """Close a document."""
        self._closed_now.clear()
        return self._close(uri)

    def _close(self, uri: str) -> list[Note]:
        if uri not in self._open:
            return []
        self._maybe_open.add(uri)
        self._closed_now.add(uri)
        document = self._open.pop(uri)
        return self._close_notes(document, self.options(document.key))

    def options(self, key: DocumentKey) -> SyncOptions:
        """The sync options for a document, from static capabilities and registrations."""
        # There is another table after each change of the capabilities.
        table = self._capabilities.answers
        if table is not self._options_for or len(self._options) > 4 * OPEN_LIMIT:
            self._options, self._options_for = {}, table
        known = self._options.get(key)
        if known is None:
            known = self._options[key] = self._options_of(key)
        return known

    def _options_of(self, key: DocumentKey) -> SyncOptions:
        sync = self._capabilities.static.get("textDocumentSync")
        if isinstance(sync, int) and not isinstance(sync, bool):
            # The old short form means open, change and save. fortls checks files only on save.
            sync = {"openClose": sync > 0, "change": sync, "save": sync > 0}
        elif not isinstance(sync, dict):
            sync = {}
        change = sync.get("change") or 0
        for registered in self._capabilities.options("textDocument/didChange", key):
            change = registered.get("syncKind") or change
        opens = bool(sync.get("openClose")) or bool(
            self._capabilities.options("textDocument/didOpen", key)
        )
        saves = self._capabilities.options("textDocument/didSave", key)
        if (save := sync.get("save")) not in (None, False):
            saves.append(save if isinstance(save, dict) else {})
        with_text = any(save.get("includeText") for save in saves)
        return self._adapt(SyncOptions(opens, change, bool(saves), with_text))

    def _open_notes(
        self, document: Document, options: SyncOptions, below: Text | None = None
    ) -> list[Note]:
        document.opened = document.version
        if not options.open_close:
            return []
        if below is not None and below.value != document.text.value and options.change:
            text, document.text = document.text, below
            return [
                *self._open_notes(document, options),
                *self._change_notes(document, text, options),
            ]
        item = {
            "uri": document.key.uri,
            "languageId": document.key.language,
            "version": document.version,
            "text": document.text.value,
        }
        return [("textDocument/didOpen", {"textDocument": item})]

    def _close_notes(self, document: Document, options: SyncOptions) -> list[Note]:
        if not options.open_close:
            return []
        return [("textDocument/didClose", {"textDocument": document.identifier})]

    def _change_notes(self, document: Document, text: Text, options: SyncOptions) -> list[Note]:
        old, document.text = document.text, text
        document.version += 1
        document.since = document.version
        if not options.change:
            return []
        change: dict[str, Any] = {"text": text.value}
        if options.change == 2:
            smallest = smallest_change(old, text, self._encoding)
            change = {
                "range": {"start": _wire(smallest.start), "end": _wire(smallest.end)},
                "text": smallest.text,
            }
        return [self._change_note(document, change, self._change_with)]

    def _change_note(
        self, document: Document, change: dict[str, Any], more: Mapping[str, Any]
    ) -> Note:
        identifier = {"uri": document.key.uri, "version": document.version}
        params = {"textDocument": identifier, "contentChanges": [change], **more}
        return ("textDocument/didChange", params)

    def touch(self, uri: str) -> tuple[Document | None, list[Note]]:
        """Give a document a new version with the same text, so that the server checks it again.

        Needs a `commit`, like `sync`. Nothing is sent for a document that is not open, or to a
        server that does not want changes.
        """
        self._closed_now.clear()
        document = self.get(uri)
        options = self.options(document.key) if document is not None else None
        if document is None or options is None or not options.change or document.unsure:
            return document, []
        document.unsure = True
        document.version += 1
        self._last_version[uri] = document.version
        change: dict[str, Any] = {"text": document.text.value}
        if options.change == 2 and not self._touch_with:
            change = {"range": {"start": _wire((0, 0)), "end": _wire((0, 0))}, "text": ""}
        more = {**self._change_with, **self._touch_with}
        return document, [self._change_note(document, change, more)]

    def reread(self, key: DocumentKey) -> list[Note]:
        """Open and close a document, so that the server reads the file from disk again.

        Not for an open document. The text does not matter: nothing is requested meanwhile.
        """
        options = self.options(key)
        if key.uri in self._open:
            return []
        version = self._last_version[key.uri] = self._last_version.get(key.uri, 0) + 1
        document = Document(key, version, Text(""), None)
        closing = self._close_notes(document, options)
        first = closing if key.uri in self._maybe_open else []
        return [*first, *self._open_notes(document, options), *closing]

    def _save_notes(self, document: Document, options: SyncOptions) -> list[Note]:
        """`didSave` for a text that is on disk, if the server wants it."""
        if not document.is_on_disk or not options.save:
            return []
        params: dict[str, Any] = {"textDocument": document.identifier}
        if options.save_with_text:
            params["text"] = document.text.value
        return [("textDocument/didSave", params)]

    def save(self, uri: str) -> list[Note]:
        """`didSave` for a document again: some servers check other files only then."""
        document = self._open.get(uri)
        return [] if document is None else self._save_notes(document, self.options(document.key))

    def _evict(self) -> list[Note]:
        """Close the least recently used documents over the limit.

        Not those in use, nor those with unsaved text, which the server would replace by the file.
        """
        surplus = len(self._open) - self._limit
        if surplus <= 0:
            return []
        newest, in_use = next(reversed(self._open)), self._in_use()
        idle = (
            uri
            for uri, document in self._open.items()
            if uri != newest and uri not in in_use and document.is_on_disk
        )
        # Not all of them: over the limit this is done for every document that is opened.
        oldest = list(itertools.islice(idle, surplus))
        return [note for uri in oldest for note in self._close(uri)]


def _wire(place: tuple[int, int]) -> dict[str, int]:
    return {"line": place[0], "character": place[1]}
