"""Sends files to their servers before the first request, without blocking the caller.

An agent that reads a file will probably edit it soon; its servers should be running by then. A
thread of the workspace sends one file at a time: with several, another thread might have to be
started, which takes longer than a read may take.

Thread-safe without a lock: each change of a field is atomic.
"""

from __future__ import annotations

import collections
import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.agent")

#: Seconds during which another read of the same file is ignored.
READ_AGAIN = 1.0
#: Most files in the queue; of more, the oldest are dropped.
MOST = 64
#: Reads that are recorded before old ones are removed.
REMEMBERED = 1000


class Prewarmer:
    """The queue of files that will be sent to their servers."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: When a file was last read, by the monotonic clock.
        self._read_at: dict[str, float] = {}
        #: Files that have not been sent yet.
        self._waiting: collections.deque[str] = collections.deque(maxlen=MOST)
        #: Those among them that were read, and not edited.
        self._read: set[str] = set()
        #: A token: the sender takes it out, and puts it back when it is done.
        self._turn: list[None] = [None]
        # The first job starts a thread; this must not delay the first read.
        ws.submit(ws.diagnostics)

    def read(self, paths: Sequence[str]) -> list[str]:
        """Record reads of these files; returns those that were not read a moment ago."""
        now = time.monotonic()
        since = now - READ_AGAIN
        new = [path for path in paths if self._read_at.get(path, since) <= since]
        if len(self._read_at) > REMEMBERED:
            reads = list(self._read_at.items())
            self._read_at = {path: at for path, at in reads if at > since}
        self._read_at.update(dict.fromkeys(new, now))
        self._read.update(new)
        self.enqueue(new)
        return new

    def note_edited(self, paths: Sequence[str]) -> None:
        """Record edits: the present texts of these files are not those before an edit."""
        self._read.difference_update(paths)

    def enqueue(self, paths: Sequence[str]) -> None:
        """Queue these files."""
        self._waiting.extend(paths)
        self._sync_next()

    def _sync_next(self) -> None:
        while self._waiting:
            try:
                self._turn.pop()
            except IndexError:
                return  # another sender is active, and will continue
            future: object = None
            try:
                path = self._waiting.popleft()
                future = self._send(path)
            except IndexError:
                pass  # another thread took the file
            finally:
                if not isinstance(future, Future):
                    self._turn.append(None)
            if isinstance(future, Future):
                future.add_done_callback(self._sync_done)
                return

    def _send(self, path: str) -> object:
        """Send a file. The text of one that was read is the one before the next edit."""
        was_read = path in self._read
        self._read.discard(path)
        return self._ws.submit(self._ws.sync, path, baseline=was_read)

    def _sync_done(self, future: Future[Any]) -> None:
        """Put the token back after a file was sent, and send the next one."""
        problem = None if future.cancelled() else future.exception()
        if problem is not None:
            log.debug("the servers were not told: %s", problem)
        self._turn.append(None)
        self._sync_next()
