"""When one server was told what: the order of texts, files on disk and reads.

Every notification that may change what a server finds has a number. A finding counts only if it
came after the numbers that it depends on.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.open_documents import OPEN_LIMIT

#: How many files that a server may not have read yet are remembered.
UNREAD = 32
#: With more documents than this, those that are not open any more are forgotten.
TOLD_OF = 4 * OPEN_LIMIT
#: For how many of the last notifications of changed files the state before is remembered.
STATES = 16
#: Seconds by which the clock of a file system may differ from that of the process.
MARGIN = 0.05
#: How many changes of files on disk are remembered.
DISK_CHANGES = 1000


class _Before(NamedTuple):
    """What a server had done before files on disk changed. Times are of the monotonic clock."""

    #: When it was last told anything.
    told: float
    #: The documents that it had finished, by URI.
    rested: Mapping[str, freshness_events.Rested]


class _DiskChange(NamedTuple):
    """A file on disk has changed."""

    uri: str
    #: When the server could be told.
    at: float
    #: When the second began in which the file was last written; None if the server does not compare
    #: files by that, or the file is new or gone.
    second: float | None

    def is_noticed(self, document: str, told: float, before: _Before | None) -> bool:
        """Whether the server sees another modification time than at its last work on a document.

        `told`: when it was last told of the document. It must have finished that before the second
        in which the file was written, and have begun nothing since.
        """
        rested = None if before is None else before.rested.get(document)
        if self.second is None or before is None or rested is None:
            return False
        return told <= rested.since and max(rested.at, before.told) + MARGIN < self.second


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
        #: The last files on disk that changed.
        self._disk: collections.deque[_DiskChange] = collections.deque(maxlen=DISK_CHANGES)
        #: When the last of those changed that are not remembered any more.
        self._forgotten = 0.0
        #: The state before the last changes, by when the server could be told of them.
        self._before: dict[float, _Before] = {}
        #: When the server last read each document as if it were new, by URI; or compared the files
        #: that the document depends on, and could notice every change.
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
        before = self._written.get(uri)
        written = self._note(uri)
        methods = {note for note, _ in notes}
        if "textDocument/didOpen" in methods or (
            "textDocument/didChange" in methods
            and before is not None
            and self._notices_all(uri, before.at)
        ):
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
            self._written = {one: self._written[one] for one in self._written if one in known}
            self._looked = {one: self._looked[one] for one in self._looked if one in known}
            self._pending = {one: self._pending[one] for one in self._pending if one in known}
        return written

    def touched(self, uri: str) -> None:
        """A document got a new version with the text that it has."""
        self.seq += 1
        self._looked[uri] = self._note(uri).at

    def saved(self) -> None:
        """The server was told that a document is on disk."""
        self._saved = freshness_events.Saved(seq=self.seq, at=time.monotonic())

    def files_changed(
        self,
        changed: Mapping[str, float | None],
        told: Iterable[str],
        rested: Mapping[str, freshness_events.Rested],
    ) -> None:
        """Files on disk have changed, by URI; the server was told of some of them.

        With the second of the change, if the server compares files by it. `rested`: the documents
        that it has finished, by URI.
        """
        now = time.monotonic()
        if rested:
            self._before[now] = _Before(max(self._changed.at, self._told_at), rested)
            if len(self._before) > STATES:
                del self._before[next(iter(self._before))]
        for uri, second in changed.items():
            if len(self._disk) == DISK_CHANGES:
                self._forgotten = self._disk[0].at
            self._disk.append(_DiskChange(uri, now, second))
        self.seq += 1
        for uri in told:
            self._unread.pop(uri, None)
            self._unread[uri] = self._told_of_files = self.seq
        for uri in list(self._unread)[:-UNREAD]:
            del self._unread[uri]
        self._changed = freshness_events.Written(seq=self.seq, at=now)

    @property
    def disk_has_changed(self) -> bool:
        """Whether it was told of any file since it last read all of them."""
        return bool(self._disk)

    def _notices_all(self, uri: str, told: float) -> bool:
        """Whether a server that compares files would notice all that it missed for a document."""
        return self._looked.get(uri, 0.0) >= self._forgotten and all(
            one.is_noticed(uri, told, self._before.get(one.at)) for one in self._missed(uri)
        )

    def _missed(self, uri: str) -> Iterator[_DiskChange]:
        """The changes of other files since the server last looked at those, the last one first."""
        looked = self._looked.get(uri, 0.0)
        for one in reversed(self._disk):
            if one.at <= looked:
                return
            if one.uri != uri:
                yield one

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
            return any(True for _ in self._missed(uri))

    def saw_disk(self) -> None:
        """The server has read all files again."""
        with self.lock:
            self._disk.clear()

    def pending(self, uri: str) -> list[tuple[str, int]]:
        """The other open documents whose last change it may not have processed."""
        with self.lock:
            opened = self._opened() - {uri}
            return [(one, number) for one, number in self._pending.items() if one in opened]

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
