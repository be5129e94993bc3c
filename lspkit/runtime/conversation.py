"""What is said to one server: its documents, and the step from "as the server knows it" to "as the
caller means it".

That step, the encoding of the position, and the queueing of the change and of the question are done
under the server's one lock, with no I/O inside: files are looked at and read before, and what was
read is only used if the document has not moved on meanwhile. So a question always follows the text
that it is about, and its answer is read against that very text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from lspkit.errors import LspkitError
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.documents import Documents, View
from lspkit.protocol.session import Session, State
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.connection import Connection
from lspkit.runtime.files import Content, File, Files
from lspkit.runtime.turns import Turns
from lspkit.runtime.waiting import Waiter

#: Params of a request, made from the document as it is when the request is queued.
Build = Callable[[str, Text, Encoding], Any]


class Ticket(msgspec.Struct):
    """A request under way. Its waiter gets `Answered`, `Failed` or `Lost`."""

    method: str
    waiter: Waiter
    #: None for a request about no document.
    view: View | None
    id: int = 0
    #: How much had been queued for the server when it was, itself included.
    posted: int = 0


class Lost(msgspec.Struct, frozen=True):
    """What a waiter gets when the server ends."""

    error: LspkitError


class Conversation:
    """Questions to one server, and the documents that it knows. `Server` adds its life."""

    def __init__(self, session: Session, language: str, files: Files) -> None:
        self._language = language
        self._files = files
        #: Guards everything below, and the session and queue of the connection.
        self.lock = threading.Lock()
        self.session = session
        self.documents = Documents(session.capabilities, "utf-16")
        self.connection: Connection | None = None
        #: Callers who check one document take turns.
        self.turns = Turns()
        #: When it was last asked something, by the monotonic clock.
        self.last_used = time.monotonic()
        #: When each document was last written, and when anything was: findings may depend on it.
        self._written_at: dict[str, float] = {}
        #: What it could not be told before it was up: URI, and text if that is not the disk's.
        self._untold: list[tuple[str, str | None]] = []
        self.changed_at = 0.0

    def _connected(self) -> Connection:
        """The connection of a server that can be asked, or the reason why it cannot."""
        raise NotImplementedError

    def ask(self, method: str, params: Any) -> Ticket:
        """Queue a request about no document."""
        ticket = Ticket(method, Waiter(), None)
        with self.lock:
            self._queue(ticket, [], params)
        return ticket

    def ask_about(self, file: File, text: str | None, method: str, build: Build) -> Ticket:
        """Bring the document up to date and queue a request about it, in one step."""
        key = DocumentKey(file.uri, self._language)
        given = None if text is None else Text(text)
        content: Content | None = None
        while True:
            with self.lock:
                ticket = self._ask_about(file, key, given, content, method, build)
            if ticket is not None:
                return ticket
            content = self._files.read(file)  # outside the lock, then compare and set

    def _ask_about(
        self,
        file: File,
        key: DocumentKey,
        given: Text | None,
        content: Content | None,
        method: str,
        build: Build,
    ) -> Ticket | None:
        document = self.documents.get(file.uri)
        encoding = self.session.encoding
        notes: list[Any] = []
        stamp: object = document.stamp if document is not None else None
        if (
            given is None
            and document is not None
            and not document.unsure
            and document.stamp == file.stamp
        ):
            params = build(key.uri, document.text, encoding)
        else:
            text, stamp = given, None
            if text is None:
                if content is None:
                    return None
                text, stamp = content.text, content.stamp
            # First the params, which may be refused: then nothing has changed and nothing is sent.
            params = build(key.uri, text, encoding)
            document, notes = self.documents.sync(key, text, stamp)
        view = View(key.uri, document.text, document.version, encoding)
        ticket = Ticket(method, Waiter(), view)
        if method:
            self._queue(ticket, notes, params)
        else:
            self._post(notes)
            ticket.posted = self._connected().queued
            ticket.waiter.complete()
        self.documents.commit(document)
        if notes:
            self._written_at[key.uri] = time.monotonic()
            if stamp is None or any(method == "textDocument/didChange" for method, _ in notes):
                self.changed_at = time.monotonic()
        return ticket

    def sync(self, file: File, text: str | None) -> Ticket:
        """Bring the document up to date, and ask nothing."""
        return self.ask_about(file, text, "", _nothing)

    def tell(self, file: File, text: str | None) -> None:
        """Bring the document up to date, now or as soon as the server is up; waits for nothing."""
        with self.lock:
            early = self.session.state in (State.NEW, State.INITIALIZING)
            if early:
                self._untold.append((file.uri, text))
        if not early:
            self.sync(file, text)

    def _catch_up(self) -> list[str]:
        """The server is up: tell what it was too early for, in order. The lock is held.

        Texts that have to be read first are left to the caller, by URI.
        """
        untold, self._untold = self._untold, []
        for uri, text in untold:
            if text is not None:
                key = DocumentKey(uri, self._language)
                document, notes = self.documents.sync(key, Text(text), None)
                self._post(notes)
                self.documents.commit(document)
                self._written_at[uri] = self.changed_at = time.monotonic()
        return [uri for uri, text in untold if text is None]

    def restore(self, file: File) -> None:
        """Let the server see the disk again after a caller's own text."""
        with self.lock:
            document = self.documents.get(file.uri)
            if document is None or document.stamp is not None:
                return
        if file.stamp is None:
            self.forget(file.uri)
        else:
            self.sync(file, None)

    def forget(self, uri: str) -> None:
        """The file is gone."""
        with self.lock:
            self._post(self.documents.close(uri))
            self.documents.commit()
            self.changed_at = time.monotonic()

    def _post(self, notes: list[Any]) -> None:
        connection = self._connected()
        connection.post(*[self.session.notify(method, params) for method, params in notes])

    def _queue(self, ticket: Ticket, notes: list[Any], params: Any) -> None:
        connection = self._connected()
        self.last_used = time.monotonic()
        frames = [self.session.notify(method, said) for method, said in notes]
        try:
            uri = ticket.view.uri if ticket.view is not None else ""
            ticket.id, frame = self.session.request(ticket.method, params, ticket.waiter, uri)
            connection.post(*frames, frame)
            ticket.posted = connection.queued
        except BaseException:
            self.session.pending.pop(ticket.id, None)
            raise

    def written_at(self, uri: str) -> float:
        """When anything last changed that this document's findings may depend on."""
        return max(self._written_at.get(uri, 0.0), self.changed_at)

    def version_of(self, uri: str) -> int:
        """The version of the document as the server knows it; 0 if it is not open."""
        with self.lock:
            document = self.documents.get(uri)
            return 0 if document is None else document.version

    def nudge(self, uri: str) -> None:
        """Let the server look again at a document that is as it was."""
        with self.lock:
            self._post(self.documents.saving(uri))

    def finish(self, ticket: Ticket) -> None:
        """The caller no longer waits; a request without an answer is taken back."""
        if ticket.waiter.done:
            return
        with self.lock:
            cancel = self.session.cancel(ticket.id)
            if cancel is not None and self.connection is not None:
                self.connection.post(cancel)

    def _in_use(self) -> set[str]:
        """Documents that somebody waits for an answer about. The lock is held."""
        return {pending.uri for pending in self.session.pending.values()} | self.turns.taken()


def _nothing(_: str, __: Text, ___: Encoding) -> None:
    return None
