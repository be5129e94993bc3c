"""The reports of one server about files, by URI and source.

A server may have several sources of findings: its pushes, and each kind of pull. A new report
replaces only the last one of the same source. Items are kept raw and decoded when they are read.
The epoch counts every report, also one without changes, so that callers can wait for a newer one.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from lspkit.limits import LARGEST_MEMORY, MOST_REPORTED_FILES
from lspkit.protocol.wire.results import read_diagnostics

#: The source of pushes, and of ordered answers, which have the same findings.
PUSHED = ""


class StoredReport(msgspec.Struct, frozen=True):
    """One report of one source about one file."""

    uri: str
    #: The version of the document, if known.
    version: int | None
    items: bytes
    #: When it arrived, by the driver's clock.
    at: float
    #: Its number among all reports of this server.
    epoch: int
    source: str = PUSHED
    #: `previousResultId` for the next pull.
    result_id: str | None = None
    #: When it was requested, if it was.
    asked_at: float | None = None
    #: The number of the client whose texts the server was shown; 0 if it saw those on disk.
    client: int = 0


class DiagnosticsStore:
    """The findings of one server. Guarded by that server's lock."""

    def __init__(self) -> None:
        self.epoch = 0
        #: Reports with findings that were removed to make room.
        self.dropped = 0
        #: By URI; the most recently reported one is last.
        self._reports: dict[str, dict[str, StoredReport]] = {}
        self._size = 0

    def push(
        self, uri: str, version: int | None, items: bytes, at: float, client: int = 0
    ) -> StoredReport:
        """Store a push."""
        return self.pulled(uri, version, items, at, source=PUSHED, client=client)

    def pulled(
        self,
        uri: str,
        version: int | None,
        items: bytes,
        at: float,
        source: str = "pull",
        result_id: str | None = None,
        asked_at: float | None = None,
        client: int = 0,
    ) -> StoredReport:
        """Store the answer to a pull."""
        self.epoch += 1
        report = StoredReport(
            uri, version, items, at, self.epoch, source, result_id, asked_at, client
        )
        known = self.last(uri, source)
        if known is None or known.version is None or version is None or version >= known.version:
            # A report about an older text, which arrives late, is not stored.
            self._reports[uri] = {**self._reports.pop(uri, {}), source: report}
            self._size += _size(report) - (0 if known is None else _size(known))
            self._make_room()
        return report

    def _make_room(self) -> None:
        """Remove the oldest reports; a check of their files waits for new ones."""
        while len(self._reports) > MOST_REPORTED_FILES or self._size > LARGEST_MEMORY:
            oldest = self._reports.pop(next(iter(self._reports))).values()
            self._size -= sum(map(_size, oldest))
            self.dropped += any(not is_empty(report.items) for report in oldest)

    def last(self, uri: str, source: str = PUSHED) -> StoredReport | None:
        """The newest report of a source about a file."""
        return self._reports.get(uri, {}).get(source)

    def known(self) -> list[StoredReport]:
        """The newest reports with findings, of all files."""
        reports = (report for sources in self._reports.values() for report in sources.values())
        return [report for report in reports if not is_empty(report.items)]

    def asked_about(self) -> list[str]:
        """The URIs of files with pulled reports."""
        return [uri for uri, sources in self._reports.items() if set(sources) - {PUSHED}]

    def newest(self, uri: str) -> float:
        """When a file's newest report was requested, or else arrived."""
        reports = self._reports.get(uri, {}).values()
        return max((report.asked_at or report.at for report in reports), default=0.0)

    def about(self, uri: str) -> list[StoredReport]:
        """The newest report of every source about a file."""
        return list(self._reports.get(uri, {}).values())

    def drop(self, uri: str) -> None:
        """Remove the reports about a deleted file."""
        self._size -= sum(map(_size, self._reports.pop(uri, {}).values()))

    def forget(self) -> None:
        """Remove all reports: the server has exited."""
        self._reports.clear()
        self._size = 0


def _size(report: StoredReport) -> int:
    return len(report.items) + len(report.result_id or "")


def disclaimer(lists: Iterable[bytes], beginnings: tuple[str, ...]) -> str:
    """The finding by which a server says that it has not checked: one with such a beginning."""
    candidates = [
        items for items in lists if any(beginning.encode() in items for beginning in beginnings)
    ]
    texts = [item.text for items in candidates for item in read_diagnostics(items).items]
    return next((text.partition("\n")[0] for text in texts if text.startswith(beginnings)), "")


def is_only_disclaimer(lists: Iterable[bytes], beginnings: tuple[str, ...]) -> bool:
    """Whether all findings are such disclaimers, or there are none."""
    if not beginnings:
        return all(map(is_empty, lists))
    texts = [item.text for items in lists for item in read_diagnostics(items).items]
    return all(text.startswith(beginnings) for text in texts)


def is_empty(items: bytes) -> bool:
    """Whether a raw list is empty."""
    return items.translate(None, b" \t\r\n") in (b"[]", b"", b"null")
