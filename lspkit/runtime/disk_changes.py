"""Which changes on disk a server may not have seen."""

from __future__ import annotations

import collections
import os
from collections.abc import Mapping
from time import monotonic
from time import time as wall_clock

from lspkit.protocol.watched import CHANGED, FileEvent

#: So many changes of files on disk are remembered.
MOST = 1000


def written_in(event: FileEvent) -> int | None:
    """The second in which a file was changed; None if it came or went, or its clock is wrong."""
    if event.kind != CHANGED:
        return None
    try:
        written = os.stat(event.path).st_mtime
    except OSError:
        return None
    return int(written) if written <= wall_clock() else None


class DiskChanges:
    """The files that changed, and the documents with which a server has looked at them since.

    Guarded by the server's lock. Times are those of the monotonic clock, seconds those of the wall.
    """

    def __init__(self, *, notices_seconds: bool) -> None:
        #: Whether it notices itself, with a change of a document, that a file which this one takes
        #: in was written in another second than before.
        self._notices_seconds = notices_seconds
        #: When, which file, and the second in which it was written; None if that tells nothing.
        self._last: collections.deque[tuple[float, str, int | None]] = collections.deque(
            maxlen=MOST
        )
        #: When each document was last looked at with everything that it takes in.
        self._looked: dict[str, float] = {}
        #: The version of a document that it was done with, and the second in which it was.
        self._rested: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._last)

    def note(self, changed: Mapping[str, int | None]) -> None:
        """These have changed, by URI, each in a second if that is known."""
        now = monotonic()
        self._last.extend((now, uri, second) for uri, second in changed.items())

    def missed(self, uri: str) -> bool:
        """Whether other files have changed since it looked at this document as if it were new."""
        return bool(self._since_last_look(uri))

    def looked(self, uri: str) -> None:
        """It is told to look at a document as if it were new."""
        self._looked[uri] = monotonic()

    def rests(self, uri: str, version: int) -> None:
        """It was done with this version of a document before now."""
        self._rested[uri] = version, int(wall_clock())

    def changes(self, uri: str, version: int) -> None:
        """It is told of a change to a document that had this version.

        It notices what was written in a later second than the last one in which it can have read
        it. A file that came or went may be taken in instead of another, which it does not notice.
        """
        rested, second = self._rested.get(uri, (0, 0))
        if not self._notices_seconds or rested != version:
            return
        if all(one is not None and one > second for one in self._since_last_look(uri)):
            self.looked(uri)

    def all_seen(self) -> None:
        """It has read all files again."""
        self._last.clear()

    def _since_last_look(self, uri: str) -> list[int | None]:
        looked = self._looked.get(uri, 0.0)
        return [second for at, one, second in self._last if at > looked and one != uri]
