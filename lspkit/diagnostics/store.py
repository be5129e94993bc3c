"""What one server has said about files, by URI, as it came.

The newest push and the newest answer to a pull are kept per file, with their raw items, which are
decoded when somebody reads them; one never replaces the other. An epoch counts every report, also
one that says the same again, so that "something newer than what I saw" can be told.
"""

from __future__ import annotations

import msgspec


class Push(msgspec.Struct, frozen=True):
    """One `publishDiagnostics`, or one answer to a pull."""

    uri: str
    version: int | None
    items: bytes
    #: When it came, by the driver's clock.
    at: float
    #: Its number among all reports of this server.
    epoch: int


class Store:
    """The findings of one server. Guarded by that server's lock."""

    def __init__(self) -> None:
        self.epoch = 0
        self._pushes: dict[str, Push] = {}
        self._pulls: dict[str, Push] = {}

    def push(self, uri: str, version: int | None, items: bytes, at: float) -> Push:
        """Take a push; it replaces the last one about the file."""
        self.epoch += 1
        push = Push(uri, version, items, at, self.epoch)
        self._pushes[uri] = push
        return push

    def pulled(self, uri: str, version: int, items: bytes, at: float) -> Push:
        """Take the answer to a pull; it replaces the last one about the file."""
        self.epoch += 1
        pull = Push(uri, version, items, at, self.epoch)
        self._pulls[uri] = pull
        return pull

    def last(self, uri: str) -> Push | None:
        """The newest push about a file."""
        return self._pushes.get(uri)

    def known(self) -> list[Push]:
        """The newest reports about every file that the server has something to say about."""
        reports = [*self._pushes.values(), *self._pulls.values()]
        return [report for report in reports if not _is_empty(report.items)]

    def forget(self) -> None:
        """The server is gone."""
        self._pushes.clear()
        self._pulls.clear()


def _is_empty(items: bytes) -> bool:
    return items.translate(None, b" \t\r\n") in (b"[]", b"", b"null")
