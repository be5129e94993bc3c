"""What is said to one server: its documents, and the step from "as the server knows it" to "as the
caller means it".

That step, the encoding of the position, and the queueing of the change and of the question are done
under the server's one lock, with no I/O inside: files are looked at and read before, and what was
read is only used if the document has not moved on meanwhile. So a question always follows the text
that it is about, and its answer is read against that very text.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from lspkit.diagnostics import settle
from lspkit.diagnostics.proof import ProofRule
from lspkit.errors import PathError, ServerUnavailableError
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.open_documents import OPEN_LIMIT, Documents, View
from lspkit.protocol.session import Session, State
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.concurrency.waiting import CallContext, Waiter
from lspkit.runtime.files import File, Files, is_current
from lspkit.runtime.server.connection import Connection
from lspkit.runtime.server.document_queue import DocumentQueue
from lspkit.runtime.server.document_text import (
    DocumentText,
    Untold,
    merely_opened,
    overlay_of,
    text_for,
    to_be_told,
)
from lspkit.runtime.server.pending_request import Build, PendingRequest

#: So many files are remembered that a server may not have read: it reads one after the other.
UNREAD = 32
#: With more documents that it was told about, those that are not open any more are forgotten.
TOLD_OF = 4 * OPEN_LIMIT
#: So many changes of files on disk are remembered.
DISK_CHANGES = 1000


class DocumentChannel:
    """Questions to one server, and the documents that it knows. `Server` adds its life."""

    def __init__(
        self,
        session: Session,
        key_of: Callable[[str], DocumentKey],
        files: Files,
        *,
        opens_as_on_disk: bool,
    ) -> None:
        #: A document by its URI. Its language is its own: one process has files of several.
        self.key_of = key_of
        self._files = files
        #: Whether a text that is not on disk comes as a change of what is there.
        self._opens_as_on_disk = opens_as_on_disk
        #: Whether a file may be shown to it, by its path, wherever that has come from.
        self.admits: Callable[[str], bool] = lambda _: True
        #: Guards everything below, and the session and queue of the connection.
        self.lock = threading.Lock()
        self.session = session
        self.documents = Documents(session.capabilities, "utf-16")
        self.connection: Connection | None = None
        #: Callers who check one document take turns, or ask while another shows it a text of his
        #: own; and so do those who have it run a command.
        self.turns, self.commands = DocumentQueue(), DocumentQueue()
        #: When it was last asked something, by the monotonic clock; and who is not done with it.
        self.last_used = time.monotonic()
        self.users: set[CallContext] = set()
        #: Counts what the server was told that may change its findings.
        self.seq = 0
        #: The last of these that matters to others, when the last of all was, and each document's.
        self._changed = settle.Written(seq=0, at=0.0)
        self._told_at = 0.0
        self._written: dict[str, settle.Written] = {}
        self._saved: settle.Saved | None = None
        #: The last files on disk that changed, each with when; and when each document was last
        #: looked at as if it were new.
        self._disk: collections.deque[tuple[float, str]] = collections.deque(maxlen=DISK_CHANGES)
        self._looked: dict[str, float] = {}
        #: Open documents whose last change it may not have taken in: URI, number of the write.
        self._pending: dict[str, int] = {}
        #: Files on disk that it was told of and may not have read: URI, number of the note.
        self._unread: dict[str, int] = {}
        #: What it could not be told before it was up, by URI.
        self.untold: Untold = []
        self._caught_up = False

    def _connected(self) -> Connection:
        """The connection of a server that can be asked, or the reason why it cannot."""
        raise NotImplementedError

    def ask(self, method: str, params: Any) -> PendingRequest:
        """Queue a request about no document."""
        ticket = PendingRequest(method, Waiter(), None)
        with self.lock:
            self._queue(ticket, [], params)
        return ticket

    def say(self, method: str, params: Any) -> None:
        """Queue a notification about no document."""
        with self.lock:
            self._post([(method, params)])

    def ask_about(self, file: File, text: str | None, method: str, build: Build) -> PendingRequest:
        """Bring the document up to date and queue a request about it, in one step."""
        self._refuse_foreign(file)
        key = self.key_of(file.uri)
        given = None if text is None else Text(text)
        shown: DocumentText | None = None
        while True:
            with self.lock:
                ticket = self._ask_about(file, key, given, shown, method, build)
            if ticket is not None:
                return ticket
            shown = self._shown(file, given)  # outside the lock, then compare and set

    def _refuse_foreign(self, file: File) -> None:
        """Raise if the server must not see the file, or not any more: then it is closed."""
        if not self.admits(file.path):
            if self.documents.get(file.uri) is not None:
                self.forget(file.uri)
            why = "lies in a repository of its own, which is not trusted"
            raise ServerUnavailableError(f"{file.path} {why}", rule="untrusted")

    def _shown(self, file: File, given: Text | None) -> DocumentText:
        return text_for(self._files, file, given, opens_as_on_disk=self._opens_as_on_disk)

    def _ask_about(
        self,
        file: File,
        key: DocumentKey,
        given: Text | None,
        shown: DocumentText | None,
        method: str,
        build: Build,
    ) -> PendingRequest | None:
        document = self.documents.get(file.uri)
        encoding = self.session.encoding
        notes: list[Any] = []
        if (
            given is None
            and document is not None
            and not document.unsure
            and is_current(document.stamp, file)
        ):
            params = build(key.uri, document.text, encoding)
        else:
            if shown is None:
                is_open = document is not None and not document.unsure
                if given is None or (self._opens_as_on_disk and not is_open):
                    return None
                shown = DocumentText(given)
            # First the params, which may be refused: then nothing has changed and nothing is sent.
            params = build(key.uri, shown.text, encoding)
            document, notes = self.documents.sync(key, shown.text, shown.stamp, shown.below)
        view = View(key.uri, document.text, document.version, encoding)
        ticket = PendingRequest(method, Waiter(), view)
        if method:
            self._queue(ticket, notes, params)
        else:
            self._post(notes)
            ticket.posted = self._connected().queued
            ticket.waiter.complete()
        self.documents.commit(document)
        if notes:
            self._wrote(key.uri, notes, matters_to_others=not merely_opened(document, notes))
        ticket.seq = self.seq
        return ticket

    def _wrote(self, uri: str, notes: list[Any], *, matters_to_others: bool) -> None:
        """The server was told something about a document. The lock is held."""
        self.seq += 1
        written = self._note_written(uri)
        if any(note == "textDocument/didOpen" for note, _ in notes):
            self._looked[uri] = written.at
        if matters_to_others:
            self._changed = written
            self._pending[uri] = self.seq
        if any(note == "textDocument/didSave" for note, _ in notes):
            self._saved = settle.Saved(seq=self.seq, at=written.at)

    def _note_written(self, uri: str) -> settle.Written:
        """Remember that it was told something about a document just now. The lock is held."""
        written = settle.Written(seq=self.seq, at=time.monotonic())
        self._written[uri], self._told_at = written, written.at
        if len(self._written) > TOLD_OF:
            # What was told about a document that is closed by now decides nothing any more.
            known = {one.key.uri for one in self.documents} | {uri}
            self._written = {one: self._written[one] for one in self._written if one in known}
            self._looked = {one: self._looked[one] for one in self._looked if one in known}
            self._pending = {one: self._pending[one] for one in self._pending if one in known}
        return written

    def sync(self, file: File, text: str | None) -> PendingRequest:
        """Bring the document up to date, and ask nothing."""
        return self.ask_about(file, text, "", _nothing)

    def tell(self, file: File, text: str | None) -> None:
        """Bring the document up to date, now or as soon as the server is up; waits for nothing."""
        if self._is_coming_up():
            shown = to_be_told(self._files, file, text)
            with self.lock:
                if self._is_coming_up():
                    self.untold.append((file.uri, shown))
                    return
        self.sync(file, text)

    def _is_coming_up(self) -> bool:
        """Whether it is too early to tell it anything."""
        alive = self.session.state in (State.NEW, State.INITIALIZING, State.RUNNING)
        return alive and not self._caught_up

    def _catch_up(self) -> list[str]:
        """The server is up: tell what it was too early for, in order. The lock is held.

        Nobody has asked it anything yet: whatever is shown in place of files comes first. Those
        that have to be read are left to the caller, by URI.
        """
        self._caught_up = True
        untold, self.untold = self.untold, []
        unread: list[str] = []
        for uri, told in untold:
            shown = told if told is not None and told.stamp is None else None
            shown = shown or overlay_of(self._files, uri) or told
            if shown is None:
                unread.append(uri)
                continue
            key = self.key_of(uri)
            document, notes = self.documents.sync(key, shown.text, shown.stamp)
            self._post(notes)
            self.documents.commit(document)
            self._wrote(uri, notes, matters_to_others=True)
        return unread

    def restore(self, uri: str, file: File | None) -> None:
        """Let the server see the disk again after a caller's own text."""
        with self.lock:
            document = self.documents.get(uri)
            if document is None or document.stamp is not None:
                return
        if file is not None and file.stamp is not None:
            try:
                self.sync(file, None)
                return
            except PathError:
                pass  # nobody can read it
        self.forget(uri)

    def forget(self, uri: str) -> None:
        """The file is gone."""
        with self.lock:
            self._post(self.documents.close(uri))
            self.documents.commit()
            self._wrote(uri, [], matters_to_others=True)

    def _post(self, notes: list[Any]) -> None:
        connection = self._connected()
        if notes:
            connection.post(*[self.session.notify(method, params) for method, params in notes])

    def _queue(self, ticket: PendingRequest, notes: list[Any], params: Any) -> None:
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

    def written(self, uri: str, rule: ProofRule) -> settle.Written:
        """The last thing that it was told, and this source's findings may depend on."""
        if rule.sees == "disk":
            return self._changed  # a document that was merely opened is there already
        own = self._written.get(uri, self._changed)
        return own if rule.alone or own.seq >= self._changed.seq else self._changed

    def told_at(self) -> float:
        """When it was last told about a document or a file, by the monotonic clock."""
        with self.lock:
            return max(self._changed.at, self._told_at)

    def is_behind(self, uri: str) -> bool:
        """Whether something else has changed since it was last told about this document."""
        with self.lock:
            own = self._written.get(uri)
            return own is not None and own.seq < self._changed.seq

    def basis(self, uri: str, rule: ProofRule) -> list[settle.FreshnessEvent]:
        """What has to come first for anything to count, as it is now."""
        with self.lock:
            saved = [] if self._saved is None else [self._saved]
            return [self.written(uri, rule), *saved]

    def follow_disk(self, file: File, *, opens: bool = False) -> None:
        """Bring an open document up to date, unless it shows a text of a caller's own by now.

        With `opens`, one that is not open is opened.
        """
        self._refuse_foreign(file)
        key = self.key_of(file.uri)
        shown: DocumentText | None = None
        while True:
            with self.lock:
                document = self.documents.get(file.uri)
                if document is None and not opens:
                    return
                if document is not None and document.stamp is None:
                    return
                if self._ask_about(file, key, None, shown, "", _nothing) is not None:
                    return
            shown = self._shown(file, None)

    def shows_disk(self, uri: str) -> bool:
        """Whether a document is open with what is on disk, and not with a caller's own text."""
        with self.lock:
            document = self.documents.get(uri)
            return document is None or document.stamp is not None

    def touch(self, uri: str) -> View | None:
        """Give a document a new version with the text that it has; None if that cannot be."""
        with self.lock:
            document, notes = self.documents.touch(uri)
            if document is None or not notes:
                return None
            self._post(notes)
            self.documents.commit(document)
            self.seq += 1
            self._looked[uri] = self._note_written(uri).at
            return View(uri, document.text, document.version, self.session.encoding)

    def nudge(self, uri: str) -> bool:
        """Say once more that a document is on disk; False if the server does not want to hear."""
        with self.lock:
            notes = self.documents.save(uri)
            self._post(notes)
            if notes:
                self._saved = settle.Saved(seq=self.seq, at=time.monotonic())
            return bool(notes)

    def missed_disk(self, uri: str) -> bool:
        """Whether other files on disk have changed since it looked at this document as if new."""
        with self.lock:
            looked = self._looked.get(uri, 0.0)
            return any(at > looked and changed != uri for at, changed in self._disk)

    def saw_disk(self) -> None:
        """The server has read all files again."""
        with self.lock:
            self._disk.clear()

    def notes_of_files(
        self, changed: Iterable[str], changes: list[dict[str, Any]], reread: Iterable[str] = ()
    ) -> None:
        """Files on disk have changed, by URI; tell of those that the server wants to hear of.

        It has to be made to read others.
        """
        with self.lock:
            now = time.monotonic()
            self._disk.extend((now, uri) for uri in changed)
            for uri in reread:
                self._post(self.documents.reread(self.key_of(uri)))
            if changes:
                self._tell_of_files(changes)
            self.seq += 1
            for change in changes:
                self._unread.pop(change["uri"], None)
                self._unread[change["uri"]] = self.seq
            for uri in list(self._unread)[:-UNREAD]:
                del self._unread[uri]
            self._changed = settle.Written(seq=self.seq, at=now)

    def _tell_of_files(self, changes: list[dict[str, Any]]) -> None:
        """The lock is held."""
        self._post([("workspace/didChangeWatchedFiles", {"changes": changes})])

    def pending(self, uri: str) -> list[tuple[str, int]]:
        """The other open documents whose last change it may not have taken in."""
        with self.lock:
            opened = {one.key.uri for one in self.documents} - {uri}
            return [(one, number) for one, number in self._pending.items() if one in opened]

    def took_in(self, uri: str, number: int) -> None:
        """It has, unless there was another one since; what depends on it is behind from now on."""
        with self.lock:
            if self._pending.get(uri) == number:
                del self._pending[uri]
                self.seq += 1
                self._changed = settle.Written(seq=self.seq, at=time.monotonic())

    def unread(self) -> list[tuple[str, int]]:
        """The files on disk that it may not have read, but those that are open."""
        with self.lock:
            opened = {one.key.uri for one in self.documents}
            return [(uri, number) for uri, number in self._unread.items() if uri not in opened]

    def has_read(self, uri: str, number: int) -> None:
        """It has, unless it was told of another change since."""
        with self.lock:
            if self._unread.get(uri) == number:
                del self._unread[uri]

    def finish(self, ticket: PendingRequest) -> None:
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
