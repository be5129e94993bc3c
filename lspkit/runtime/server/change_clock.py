"""When one server was told what: the order of texts, files on disk and reads.

Every note that may change what a server finds has a number. A finding counts only if it came after
the numbers that it depends on. All methods are called with the lock of the channel held.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Iterable
from typing import Any

from lspkit.diagnostics import settle
from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.open_documents import OPEN_LIMIT

#: So many files are remembered that a server may not have read: it reads one after the other.
UNREAD = 32
#: With more documents than this, those that are not open any more are forgotten.
TOLD_OF = 4 * OPEN_LIMIT
#: So many changes of files on disk are remembered.
DISK_CHANGES = 1000


class ChangeClock:
    """Numbers of what a server was told. Guarded by the lock of its channel."""

    def __init__(self) -> None:
        #: The number of the last note that may change the server's findings.
        self.seq = 0
        #: The last note that matters to other documents.
        self._changed = settle.Written(seq=0, at=0.0)
        #: When the last note of all was sent.
        self._told_at = 0.0
        #: The last note about each document, by URI.
        self._written: dict[str, settle.Written] = {}
        self._saved: settle.Saved | None = None
        #: The last files on disk that changed, each with when.
        self._disk: collections.deque[tuple[float, str]] = collections.deque(maxlen=DISK_CHANGES)
        #: When the server last looked at each document as if it were new, by URI.
        self._looked: dict[str, float] = {}
        #: Open documents whose last change it may not have taken in: URI, number of the note.
        self._pending: dict[str, int] = {}
        #: Files on disk that it was told of and may not have read: URI, number of the note.
        self._unread: dict[str, int] = {}

    def wrote(
        self, uri: str, notes: list[Any], opened: set[str], *, matters_to_others: bool
    ) -> None:
        """The server was told something about a document; `opened` are the open ones."""
        self.seq += 1
        written = self._note(uri, opened)
        if any(note == "textDocument/didOpen" for note, _ in notes):
            self._looked[uri] = written.at
        if matters_to_others:
            self._changed = written
            self._pending[uri] = self.seq
        if any(note == "textDocument/didSave" for note, _ in notes):
            self.saved()

    def _note(self, uri: str, opened: set[str]) -> settle.Written:
        written = settle.Written(seq=self.seq, at=time.monotonic())
        self._written[uri], self._told_at = written, written.at
        if len(self._written) > TOLD_OF:
            # What was told about a document that is closed by now decides nothing any more.
            known = opened | {uri}
            self._written = {one: self._written[one] for one in self._written if one in known}
            self._looked = {one: self._looked[one] for one in self._looked if one in known}
            self._pending = {one: self._pending[one] for one in self._pending if one in known}
        return written

    def touched(self, uri: str, opened: set[str]) -> None:
        """A document got a new version with the text that it has."""
        self.seq += 1
        self._looked[uri] = self._note(uri, opened).at

    def saved(self) -> None:
        """The server was told that a document is on disk."""
        self._saved = settle.Saved(seq=self.seq, at=time.monotonic())

    def files_changed(self, changed: Iterable[str], told: Iterable[str]) -> None:
        """Files on disk have changed, by URI; of some the server was told."""
        now = time.monotonic()
        self._disk.extend((now, uri) for uri in changed)
        self.seq += 1
        for uri in told:
            self._unread.pop(uri, None)
            self._unread[uri] = self.seq
        for uri in list(self._unread)[:-UNREAD]:
            del self._unread[uri]
        self._changed = settle.Written(seq=self.seq, at=now)

    def written(self, uri: str, rule: ProofRule) -> settle.Written:
        """The last note that the findings of this source may depend on."""
        if rule.sees == "disk":
            return self._changed  # a document that was merely opened is there already
        own = self._written.get(uri, self._changed)
        return own if rule.alone or own.seq >= self._changed.seq else self._changed

    def basis(self, uri: str, rule: ProofRule) -> list[settle.FreshnessEvent]:
        """What has to come first for a finding to count."""
        saved = [] if self._saved is None else [self._saved]
        return [self.written(uri, rule), *saved]

    def told_at(self) -> float:
        """When the server was last told of a document or a file, by the monotonic clock."""
        return max(self._changed.at, self._told_at)

    def is_behind(self, uri: str) -> bool:
        """Whether something else has changed since the last note about this document."""
        own = self._written.get(uri)
        return own is not None and own.seq < self._changed.seq

    def missed_disk(self, uri: str) -> bool:
        """Whether other files on disk have changed since it looked at this document as if new."""
        looked = self._looked.get(uri, 0.0)
        return any(at > looked and changed != uri for at, changed in self._disk)

    @property
    def disk_has_changed(self) -> bool:
        """Whether it was told of any file since it has last read all of them."""
        return bool(self._disk)

    def saw_disk(self) -> None:
        """The server has read all files again."""
        self._disk.clear()

    def pending(self, opened: set[str]) -> list[tuple[str, int]]:
        """The open documents whose last change it may not have taken in."""
        return [(one, number) for one, number in self._pending.items() if one in opened]

    def took_in(self, uri: str, number: int) -> None:
        """It has taken that change in; what depends on the document is behind from now on."""
        if self._pending.get(uri) == number:
            del self._pending[uri]
            self.seq += 1
            self._changed = settle.Written(seq=self.seq, at=time.monotonic())

    def unread(self, opened: set[str]) -> list[tuple[str, int]]:
        """The files on disk that it may not have read, but those that are open."""
        return [(uri, number) for uri, number in self._unread.items() if uri not in opened]

    def has_read(self, uri: str, number: int) -> None:
        """It has read the file, unless it was told of another change since."""
        if self._unread.get(uri) == number:
            del self._unread[uri]
