"""The documents and requests of one server.

Before a request, the server's text of the document becomes the caller's. That change, the encoding
of the position, and the queueing of change and request happen under the server's one lock, without
I/O: files are read before, and the content is used only if the document has not changed meanwhile.
So a request always follows the text that it is about, and its answer refers to that text.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Container, Iterable
from typing import Any

import msgspec

from lspkit.errors import PathError, ServerBrokenError, ServerUnavailableError
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.open_documents import OPEN_LIMIT, Document, Documents, Note, View
from lspkit.protocol.session import Session, State
from lspkit.protocol.text import Text, Unsaved
from lspkit.protocol.uris import uri_to_path
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.files import File, Files, is_current
from lspkit.runtime.server.change_clock import ChangeClock
from lspkit.runtime.server.connection import Connection
from lspkit.runtime.server.document_queue import DocumentQueue
from lspkit.runtime.server.observations import Observations
from lspkit.runtime.server.pending_request import Build, PendingRequest
from lspkit.runtime.server.process_state import End, Life
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition

#: The rule by which a file is not shown to a server.
UNTRUSTED = "untrusted"
DID_SAVE = "textDocument/didSave"


class DocumentText(msgspec.Struct, frozen=True):
    """A text to send to a server."""

    text: Text
    #: As `Document.stamp`.
    stamp: object = None
    #: The text on disk, where the document has to be opened with that first.
    below: Text | None = None


#: Texts to send to a server later, by URI; None stands for the overlay at that time, or else for
#: the file on disk.
PendingTexts = list[tuple[str, DocumentText | None]]


class DocumentChannel:
    """The documents and requests of one server, in the order in which it is told of them."""

    def __init__(self, session: Session, definition: Definition, files: Files) -> None:
        self._id = definition.id
        #: A document by its URI. Its language is part of it: one process serves several languages.
        self.key_of: Callable[[str], DocumentKey] = functools.lru_cache(maxsize=OPEN_LIMIT)(
            definition.key_of
        )
        self._files = files
        #: Whether a text that is not on disk is sent as a change of the text on disk.
        self._opens_as_on_disk = definition.documents.unsaved == "changed"
        #: Whether one `didSave` is enough for all documents that changed on disk together.
        self._saves_once = definition.documents.saves_once
        #: Whether a file may be shown to it, by its path.
        self.admits: Callable[[str], bool] = lambda _: True
        #: Guards everything below, and the session and queue of the connection.
        self.lock = threading.Lock()
        self.session = session
        self.documents = Documents(session.capabilities, "utf-16")
        self.connection: Connection | None = None
        #: The state of the server.
        self.life = Life()
        #: What the server has said so far.
        self.observations = Observations(definition)
        #: The order of what the server was told.
        self.clock = ChangeClock(self.lock, self.opened)
        #: Checks of one document are serialised, and so are commands; a call with a text of its
        #: own has the server to itself.
        self.queue, self.commands = DocumentQueue(self.lock), DocumentQueue(self.lock)
        #: When it was last used, by the monotonic clock; and the calls that still use it.
        self.last_used = time.monotonic()
        self.users: set[Call] = set()
        #: Documents of which `save_held` sends one `didSave`.
        self._held: list[str] = []
        #: Texts to send when it is up, by URI.
        self.pending_texts: PendingTexts = []
        #: How many changes of files it was told of, as `send_file_notes` counts them.
        self.files_told = 0

    def _connected(self) -> Connection:
        """The connection of a running server; raises why there is none."""
        if self.life.end is not None:
            raise self.life.end.error.copy()
        if self.connection is None or self.session.state is not State.RUNNING:
            raise ServerBrokenError(f"{self._id} is {self.life.rights.word}", server=self._id)
        return self.connection

    def ask(self, method: str, params: Any) -> PendingRequest:
        """Queue a request about no document."""
        pending = PendingRequest(method, Waiter(), None)
        with self.lock:
            self.enqueue(pending, params)
            self.last_used = time.monotonic()
        return pending

    def say(self, method: str, params: Any) -> None:
        """Queue a notification about no document."""
        with self.lock:
            self.post([(method, params)])

    def ask_about(self, file: File, text: str | None, method: str, build: Build) -> PendingRequest:
        """Bring the document up to date and queue a request about it, in one step.

        Without a method, nothing is asked.
        """
        self._refuse_foreign(file)
        given = None if text is None else Text(text)
        shown: DocumentText | None = None
        while True:
            with self.lock:
                pending = self._ask_about(file, given, shown, method, build)
            if pending is not None:
                return pending
            shown = self._shown(file, given)  # outside the lock, then compare and set

    def _refuse_foreign(self, file: File) -> None:
        """Raise if the server must not see the file; if it is open, close it."""
        if not self.admits(file.path):
            if self.documents.get(file.uri) is not None:
                self.forget(file.uri)
            why = "lies in a repository of its own, which is not trusted"
            raise ServerUnavailableError(f"{file.path} {why}", rule=UNTRUSTED)

    def _shown(self, file: File, given: Text | None) -> DocumentText:
        return text_for(self._files, file, given, opens_as_on_disk=self._opens_as_on_disk)

    def _ask_about(
        self,
        file: File,
        given: Text | None,
        shown: DocumentText | None,
        method: str,
        build: Build,
    ) -> PendingRequest | None:
        document, key = self.documents.get(file.uri), self.key_of(file.uri)
        encoding = self.session.encoding
        notes: list[Note] = []
        if given is None and document is not None and is_up_to_date(document, file):
            params = build(key.uri, document.text, encoding)
        else:
            if shown is None:
                is_open = document is not None and not document.unsure
                if given is None or (self._opens_as_on_disk and not is_open):
                    return None
                shown = DocumentText(given)
            # `build` may raise: it runs first, before anything is changed or sent.
            params = build(key.uri, shown.text, encoding)
            document, notes = self.documents.sync(key, shown.text, shown.stamp, shown.below)
        view = View(key.uri, document.text, document.version, encoding)
        pending = PendingRequest(method, Waiter(), view)
        if method:
            self.enqueue(pending, params, notes)
            self.last_used = time.monotonic()
        else:
            self.post(notes)
            pending.posted = self._connected().queued
            pending.waiter.complete()
        self._record_sent(document, notes)
        pending.seq = self.clock.seq
        return pending

    def _record_sent(self, document: Document, notes: list[Note]) -> None:
        """The notifications about a document are on their way. The lock is held."""
        self.documents.commit(document)
        if notes:
            uri = document.key.uri
            if notes[0][0] != DID_SAVE:  # where that comes first, no text was sent
                self.observations.sent(uri, document.version, time.monotonic())
            self.clock.wrote(uri, notes, matters_to_others=not merely_opened(document, notes))

    @property
    def client_number(self) -> int:
        """The number of the client whose calls run, if it shows texts; else 0."""
        return self._files.overlays.client_number

    def client_shown(self) -> int:
        """The same if this server is shown such a text, else 0. The lock is held."""
        number = self.client_number
        return (
            number if number and any(not document.is_on_disk for document in self.documents) else 0
        )

    def opened(self) -> set[str]:
        """The URIs of the open documents. The lock is held."""
        return {document.key.uri for document in self.documents}

    def sync(self, file: File, text: str | None) -> PendingRequest:
        """Bring the document up to date, without a request."""
        return self.ask_about(file, text, "", _nothing)

    def tell(self, file: File, text: str | None) -> None:
        """Bring the document up to date, now or as soon as the server is up. Does not wait."""
        if self.life.rights.is_coming:
            shown = to_be_told(self._files, file, text)
            with self.lock:
                if self.life.rights.is_coming:
                    self.pending_texts.append((file.uri, shown))
                    return
        self.sync(file, text)

    def take_synced(self) -> dict[str, str]:
        """The texts that callers have synced, by path. Those that were not sent never will be."""
        with self.lock:
            texts = {
                document.key.uri: document.text
                for document in self.documents
                if document.stamp is None
            }
            unsent = [entry for entry in self.pending_texts if entry[1] and entry[1].stamp is None]
            texts |= {uri: shown.text for uri, shown in unsent if shown is not None}
            self.pending_texts = [entry for entry in self.pending_texts if entry not in unsent]
        return {path: text.value for uri, text in texts.items() if (path := uri_to_path(uri))}

    def catch_up(self) -> list[str]:
        """The server is up: send what had to wait, in order. The lock is held.

        No request has been sent yet: overlays come first. Returns the URIs of files that the caller
        has to read.
        """
        pending_texts, self.pending_texts = self.pending_texts, []
        unread: list[str] = []
        for uri, text in pending_texts:
            shown = text if text is not None and text.stamp is None else None
            shown = shown or overlay_of(self._files, uri) or text
            if shown is None:
                unread.append(uri)
                continue
            key = self.key_of(uri)
            document, notes = self.documents.sync(key, shown.text, shown.stamp)
            self.post(notes)
            self.documents.commit(document)
            self.clock.wrote(uri, notes, matters_to_others=True)
        return unread

    def restore(self, uri: str, file: File | None) -> None:
        """Show the server the file on disk again after a caller's own text."""
        with self.lock:
            document = self.documents.get(uri)
            if document is None or document.stamp is not None:
                return
        if file is not None and file.stamp is not None:
            try:
                self.sync(file, None)
                return
            except PathError:
                pass  # it cannot be read
        self.forget(uri)

    def forget(self, uri: str) -> None:
        """The file is gone, and so are its findings."""
        with self.lock:
            self._close(uri)

    def _close(self, uri: str) -> None:
        self.post(self.documents.close(uri))
        self.documents.commit()
        self.clock.wrote(uri, [], matters_to_others=True)
        self.observations.store.drop(uri)

    def post(self, notes: list[Any]) -> None:
        """Queue notifications. The lock is held."""
        connection = self._connected()
        if notes:
            connection.post(*[self.session.notify(method, params) for method, params in notes])

    def enqueue(
        self,
        pending: PendingRequest,
        params: Any,
        notes: Iterable[Note] = (),
    ) -> None:
        """Queue a request, after notifications. The lock is held."""
        connection, session = self.connection, self.session
        if connection is None or session.state is not State.RUNNING:
            connection = self._connected()  # raises
        try:
            uri = pending.view.uri if pending.view is not None else ""
            pending.id, frame = session.request(pending.method, params, pending.waiter, uri)
            if notes:
                connection.post(*[session.notify(method, about) for method, about in notes], frame)
            else:
                connection.post(frame)
            pending.posted = connection.queued
        except BaseException:
            self.session.forget(pending.waiter)
            raise

    def follow_disk(self, file: File, *, opens: bool = False, holds_save: bool = False) -> None:
        """Bring an open document up to date, unless it shows a caller's own text by now.

        With `opens`, one that is not open is opened. With `holds_save`, `save_held` has to follow.
        If the file is no longer a text of its own, the document is closed, and the error is raised.
        """
        self._refuse_foreign(file)
        shown: DocumentText | PathError | None = None
        while True:
            with self.lock:
                document = self.documents.get(file.uri)
                if not (opens if document is None else is_outdated(document, file)):
                    return
                if isinstance(shown, PathError):
                    self._close(file.uri)  # the server must not go by the old text
                    raise shown
                if shown is not None:
                    self._show(file.uri, shown, holds_save=holds_save and self._saves_once)
                    return
            try:
                shown = self._shown(file, None)
            except PathError as problem:
                shown = problem

    def _show(self, uri: str, shown: DocumentText, *, holds_save: bool) -> None:
        """Tell the server of a text. The lock is held."""
        key = self.key_of(uri)
        document, notes = self.documents.sync(key, shown.text, shown.stamp, shown.below)
        if holds_save and any(method == DID_SAVE for method, _ in notes):
            notes = [note for note in notes if note[0] != DID_SAVE]
            self._held.append(uri)
        self.post(notes)
        self._record_sent(document, notes)

    def save_held(self) -> None:
        """Send the `didSave` of documents that followed the disk, if it was held back."""
        with self.lock:
            held, self._held = self._held, []
        any(self.nudge(uri) for uri in reversed(held))  # the last one that is still open

    def shows_disk(self, uri: str) -> bool:
        """Whether a document is closed, or open with the text on disk."""
        with self.lock:
            document = self.documents.get(uri)
            return document is None or document.stamp is not None

    def shows_unsaved(self, uri: str) -> bool:
        """Whether a document is open with a text that is not on disk."""
        with self.lock:
            document = self.documents.get(uri)
            return document is not None and not document.is_on_disk

    def touch(self, uri: str) -> View | None:
        """Give a document a new version with its present text; None if that is not possible."""
        with self.lock:
            return self.renumber(uri)

    def renumber(self, uri: str) -> View | None:
        """`touch`, for a caller that holds the lock."""
        document, notes = self.documents.touch(uri)
        if document is None or not notes:
            return None
        self.post(notes)
        self.documents.commit(document)
        self.observations.sent(uri, document.version, time.monotonic())
        self.clock.touched(uri)
        return View(uri, document.text, document.version, self.session.encoding)

    def nudge(self, uri: str) -> bool:
        """Send `didSave` again; False if the server does not want it."""
        with self.lock:
            notes = self.documents.save(uri)
            self.post(notes)
            if notes:
                self.clock.saved()
            return bool(notes)

    def finish(self, pending: PendingRequest) -> None:
        """The caller no longer waits: a request without an answer is cancelled."""
        if pending.waiter.done:
            return
        with self.lock:
            cancel = self.session.cancel(pending.id)
            if cancel is not None and self.connection is not None:
                self.connection.post(cancel)

    def end(self, end: End) -> list[Waiter] | None:
        """The server has ended, or was never there: its requests get no answers any more.

        Returns who waits for them; None if it had ended before.
        """
        with self.lock:
            if self.life.end is not None:
                return None
            self.life.end = end
            self.life.move("end")
            if self.session.state not in (State.STOPPED, State.FAILED):
                orphans = self.session.lost()
            else:
                orphans = list(self.session.pending.values())
                self.session.pending.clear()
            self.observations.store.forget()
        return [pending.tag for pending in orphans if pending.tag is not None]

    def drop_after_fork(self) -> None:
        """In a forked child: another thread of the parent may have held the lock."""
        self.lock = self.clock.lock = threading.Lock()
        self.queue, self.commands = DocumentQueue(self.lock), DocumentQueue(self.lock)

    def in_use(self) -> set[str]:
        """Documents that a caller waits for. The lock is held."""
        # Copied in one step: an answer may come meanwhile.
        pending = list(self.session.pending.values())
        return {request.uri for request in pending} | self.queue.taken()


def _nothing(*_: object) -> None:
    """The params of no request."""


# Which text a server is shown for a file, and by which messages


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
    changed = any(
        method in other and about["textDocument"]["uri"] == uri for method, about in notes
    )
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
