"""When one server was told what: the order of texts, files on disk and reads.

Every notification that may change what a server finds has a number. A finding counts only if it
came after the numbers that it depends on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.open_documents import OPEN_LIMIT

#: How many files that a server may not have read yet are remembered.
UNREAD = 32
#: With more documents than this, those that are not open any more are forgotten.
TOLD_OF = 4 * OPEN_LIMIT


class ChangeClock:
    """Numbers of what a server was told. `lock` is that of its channel; it guards all fields.

    Methods that record something are called with the lock held; the others take it.
    """

    def __init__(self, lock: threading.Lock, opened: Callable[[], set[str]]) -> None:
        self.lock = lock
        #: Returns the URIs of the open documents. Called with the lock held.
        self._opened = opened
        #: The number of the last notification that may change the server's findings.
        self.seq = 0
        #: The last notification that matters to other documents.
        self._changed = freshness_events.Written(seq=0, at=0.0)
        #: When the last notification was sent.
        self._told_at = 0.0
        #: The last notification about each document, by URI.
        self._written: dict[str, freshness_events.Written] = {}
        self._saved: freshness_events.Saved | None = None
        #: The last two files on disk that changed, by URI, and when the server could be told: for
        #: any document, the last change of another file is one of these.
        self._disk: dict[str, float] = {}
        #: When the server last read each document as if it were new, by URI.
        self._looked: dict[str, float] = {}
        #: Open documents with an unprocessed last change, perhaps: URI, number of the notification.
        self._pending: dict[str, int] = {}
        #: The number of the last notification of files on disk.
        self._told_of_files = 0
        #: Files on disk that it was told of and may not have read: URI, number of the notification.
        self._unread: dict[str, int] = {}

    # With the lock held

    def wrote(self, uri: str, notes: list[Any], *, matters_to_others: bool) -> None:
        """The server was told something about a document."""
        self.seq += 1
        written = self._note(uri)
        methods = {note for note, _ in notes}
        if "textDocument/didOpen" in methods:
            self._looked[uri] = written.at
        if matters_to_others:
            self._changed = written
            self._pending[uri] = self.seq
        if "textDocument/didSave" in methods:
            self.saved()

    def _note(self, uri: str) -> freshness_events.Written:
        written = freshness_events.Written(seq=self.seq, at=time.monotonic())
        self._written[uri], self._told_at = written, written.at
        if len(self._written) > TOLD_OF:
            # Notifications about documents that are closed decide nothing any more.
            known = self._opened() | {uri}
            self._written = {key: self._written[key] for key in self._written if key in known}
            self._looked = {key: self._looked[key] for key in self._looked if key in known}
            self._pending = {key: self._pending[key] for key in self._pending if key in known}
        return written

    def touched(self, uri: str) -> None:
        """A document got a new version with the text that it has."""
        self.seq += 1
        self._looked[uri] = self._note(uri).at

    def saved(self) -> None:
        """The server was told that a document is on disk."""
        self._saved = freshness_events.Saved(seq=self.seq, at=time.monotonic())

    def files_changed(self, changed: Iterable[str], notified: Iterable[str]) -> None:
        """Files on disk have changed, by URI; the server was notified of some of them."""
        now = time.monotonic()
        for uri in changed:
            self._disk.pop(uri, None)
            self._disk[uri] = now
            if len(self._disk) > 2:
                del self._disk[next(iter(self._disk))]
        self.seq += 1
        for uri in notified:
            self._unread.pop(uri, None)
            self._unread[uri] = self._told_of_files = self.seq
        for uri in list(self._unread)[:-UNREAD]:
            del self._unread[uri]
        self._changed = freshness_events.Written(seq=self.seq, at=now)

    @property
    def disk_has_changed(self) -> bool:
        """Whether it was told of any file since it last read all of them."""
        return bool(self._disk)

    def _written_for(self, uri: str, rule: ProofRule) -> freshness_events.Written:
        """The last notification that the findings of this source may depend on."""
        if rule.sees == "disk":
            return self._changed  # an opened document is on disk already
        own = self._written.get(uri, self._changed)
        return own if rule.alone or own.seq >= self._changed.seq else self._changed

    # Taking the lock

    def basis(self, uri: str, rule: ProofRule) -> list[freshness_events.FreshnessEvent]:
        """The events that must precede a finding for it to count, as of now."""
        with self.lock:
            saved = [] if self._saved is None else [self._saved]
            return [self._written_for(uri, rule), *saved]

    def told_at(self) -> float:
        """When the server was last told of a document or a file, by the monotonic clock."""
        with self.lock:
            return max(self._changed.at, self._told_at)

    def is_behind(self, uri: str) -> bool:
        """Whether something else has changed since the last notification about this document."""
        with self.lock:
            own = self._written.get(uri)
            return own is not None and own.seq < self._changed.seq

    def missed_disk(self, uri: str) -> bool:
        """Whether other files on disk have changed since it read this document as if new."""
        with self.lock:
            others = (at for other, at in reversed(self._disk.items()) if other != uri)
            return next(others, 0.0) > self._looked.get(uri, 0.0)

    def saw_disk(self) -> None:
        """The server has read all files again."""
        with self.lock:
            self._disk.clear()

    def pending(self, uri: str) -> list[tuple[str, int]]:
        """The other open documents whose last change it may not have processed."""
        with self.lock:
            opened = self._opened() - {uri}
            return [(other, number) for other, number in self._pending.items() if other in opened]

    def took_in(self, uri: str, number: int) -> None:
        """It has processed that change; findings that depend on the document are outdated now."""
        with self.lock:
            if self._pending.get(uri) == number:
                del self._pending[uri]
                self.seq += 1
                self._changed = freshness_events.Written(seq=self.seq, at=time.monotonic())

    def told_of_files(self) -> int:
        """The number of the last notification of files on disk."""
        with self.lock:
            return self._told_of_files

    def unread(self) -> list[tuple[str, int]]:
        """The files on disk that it may not have read, except open ones."""
        with self.lock:
            opened = self._opened()
            return [(uri, number) for uri, number in self._unread.items() if uri not in opened]

    def has_read(self, uri: str, number: int) -> None:
        """It has read the file, unless it was told of another change since."""
        with self.lock:
            if self._unread.get(uri) == number:
                del self._unread[uri]
