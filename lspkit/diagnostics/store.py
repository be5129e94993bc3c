"""What one server has said about files, by URI and source, as it came.

A server may have several sources of findings: what it pushes, and each kind that it can be asked
for. The newest report of a source replaces that source's last one and no other. Items are kept raw
and decoded when somebody reads them. An epoch counts every report, also one that says the same
again, so that "something newer than what I saw" can be told.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from lspkit.limits import LARGEST_MEMORY, MOST_REPORTED_FILES
from lspkit.protocol.results import read_diagnostics

#: The source of what a server says unasked, and of its ordered answers, which say the same.
PUSHED = ""


class StoredReport(msgspec.Struct, frozen=True):
    """One report of one source about one file."""

    uri: str
    #: Of the document that it speaks of, where that is known.
    version: int | None
    items: bytes
    #: When it came, by the driver's clock.
    at: float
    #: Its number among all reports of this server.
    epoch: int
    source: str = PUSHED
    #: What the server wants to hear when it is asked the next time.
    result_id: str | None = None
    #: When it was asked for, where it was.
    asked_at: float | None = None


class DiagnosticsStore:
    """The findings of one server. Guarded by that server's lock."""

    def __init__(self) -> None:
        self.epoch = 0
        #: Reports that had something to say and were given up for newer ones.
        self.dropped = 0
        #: By URI, the one that was spoken about last at the end.
        self._reports: dict[str, dict[str, StoredReport]] = {}
        self._size = 0

    def push(self, uri: str, version: int | None, items: bytes, at: float) -> StoredReport:
        """Take what was said unasked."""
        return self._keep(uri, version, items, at)

    def pulled(
        self,
        uri: str,
        version: int | None,
        items: bytes,
        at: float,
        *,
        source: str = "pull",
        result_id: str | None = None,
        asked_at: float | None = None,
    ) -> StoredReport:
        """Take what was asked for."""
        return self._keep(uri, version, items, at, source, result_id, asked_at)

    def _keep(
        self,
        uri: str,
        version: int | None,
        items: bytes,
        at: float,
        source: str = PUSHED,
        result_id: str | None = None,
        asked_at: float | None = None,
    ) -> StoredReport:
        self.epoch += 1
        said = StoredReport(uri, version, items, at, self.epoch, source, result_id, asked_at)
        known = self.last(uri, source)
        if known is None or known.version is None or version is None or version >= known.version:
            # One about an older text may come late.
            self._reports[uri] = {**self._reports.pop(uri, {}), source: said}
            self._size += _size(said) - (0 if known is None else _size(known))
            self._make_room()
        return said

    def _make_room(self) -> None:
        """Give up what was said longest ago; whoever asks about that again has to wait for news."""
        while len(self._reports) > MOST_REPORTED_FILES or self._size > LARGEST_MEMORY:
            oldest = self._reports.pop(next(iter(self._reports))).values()
            self._size -= sum(map(_size, oldest))
            self.dropped += any(not is_empty(one.items) for one in oldest)

    def last(self, uri: str, source: str = PUSHED) -> StoredReport | None:
        """The newest report of a source about a file."""
        return self._reports.get(uri, {}).get(source)

    def known(self) -> list[StoredReport]:
        """The newest reports about every file that the server has something to say about."""
        reports = (report for sources in self._reports.values() for report in sources.values())
        return [report for report in reports if not is_empty(report.items)]

    def asked_about(self) -> list[str]:
        """The files that it was asked about, by URI."""
        return [uri for uri, sources in self._reports.items() if set(sources) - {PUSHED}]

    def newest(self, uri: str) -> float:
        """When a file was last asked about, or else spoken about."""
        said = self._reports.get(uri, {}).values()
        return max((one.asked_at or one.at for one in said), default=0.0)

    def about(self, uri: str) -> list[StoredReport]:
        """The newest report of every source about a file."""
        return list(self._reports.get(uri, {}).values())

    def drop(self, uri: str) -> None:
        """The file is no more."""
        self._size -= sum(map(_size, self._reports.pop(uri, {}).values()))

    def forget(self) -> None:
        """The server is gone."""
        self._reports.clear()
        self._size = 0


def _size(said: StoredReport) -> int:
    return len(said.items) + len(said.result_id or "")


def disclaimer(lists: Iterable[bytes], beginnings: tuple[str, ...]) -> str:
    """The finding by which a server says that it has not looked: one that begins like that."""
    said = [items for items in lists if any(one.encode() in items for one in beginnings)]
    texts = [one.text for items in said for one in read_diagnostics(items).items]
    return next((one.partition("\n")[0] for one in texts if one.startswith(beginnings)), "")


def is_only_disclaimer(lists: Iterable[bytes], beginnings: tuple[str, ...]) -> bool:
    """Whether a server has only said that it has not looked, or nothing at all."""
    if not beginnings:
        return all(map(is_empty, lists))
    texts = [one.text for items in lists for one in read_diagnostics(items).items]
    return all(one.startswith(beginnings) for one in texts)


def is_empty(items: bytes) -> bool:
    """Whether a raw list holds nothing."""
    return items.translate(None, b" \t\r\n") in (b"[]", b"", b"null")
