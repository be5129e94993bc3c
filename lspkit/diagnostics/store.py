"""What one server has said about files, by URI, as it came.

The newest push per file is kept with its raw items; they are decoded when somebody reads them. An
epoch counts every report, also one that says the same again, so that "something newer than what I
saw" can be told.
"""

from __future__ import annotations

import msgspec


class Push(msgspec.Struct, frozen=True):
    """One `publishDiagnostics`."""

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

    def push(self, uri: str, version: int | None, items: bytes, at: float) -> Push:
        """Take a push; it replaces the last one about the file."""
        self.epoch += 1
        push = Push(uri, version, items, at, self.epoch)
        self._pushes[uri] = push
        return push

    def last(self, uri: str) -> Push | None:
        """The newest push about a file."""
        return self._pushes.get(uri)

    def known(self) -> list[Push]:
        """The newest push of every file that the server has something to say about."""
        return [push for push in self._pushes.values() if not _is_empty(push.items)]

    def forget(self) -> None:
        """The server is gone."""
        self._pushes.clear()


def _is_empty(items: bytes) -> bool:
    return items.translate(None, b" \t\r\n") in (b"[]", b"", b"null")
