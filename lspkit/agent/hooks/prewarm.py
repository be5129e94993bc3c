"""Lets the servers see files before anybody asks about them, and never keeps the caller waiting.

An agent that reads a file will soon edit it; by then its servers had better be up and know it. The
work is done by a worker of the workspace, one file at a time: were several under way, another
worker might have to be started, and that takes longer than a read may.

Any number of threads may call it. No lock is needed: each field is changed in single steps.
"""

from __future__ import annotations

import collections
import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import lspkit.runtime.concurrency.future_task  # noqa: F401 (else the first `submit` loads it, and a read waits)
from lspkit.workspace import Workspace

log = logging.getLogger("lspkit.agent")

#: Seconds in which a file that is read again is not touched again.
READ_AGAIN = 1.0
#: So many files wait to be shown at most; if more are read, the last ones count.
MOST = 64
#: When more reads than this are remembered, old ones are forgotten.
REMEMBERED = 1000


class Prewarmer:
    """The files of one workspace that its servers are to see."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        #: When a file was last read, by the monotonic clock.
        self._read_at: dict[str, float] = {}
        #: Files that the servers are yet to see.
        self._waiting: collections.deque[str] = collections.deque(maxlen=MOST)
        #: Whoever tells them holds what is in here.
        self._turn: list[None] = [None]
        # The first job starts a thread; so that is not left to the first read.
        ws.submit(ws.diagnostics)

    def read(self, paths: Sequence[str]) -> list[str]:
        """These were read; returns those that were not so a moment ago."""
        now = time.monotonic()
        since = now - READ_AGAIN
        new = [path for path in paths if self._read_at.get(path, since) <= since]
        if len(self._read_at) > REMEMBERED:
            reads = list(self._read_at.items())
            self._read_at = {path: at for path, at in reads if at > since}
        self._read_at.update(dict.fromkeys(new, now))
        self.enqueue(new)
        return new

    def enqueue(self, paths: Sequence[str]) -> None:
        """Let the servers see these, soon."""
        self._waiting.extend(paths)
        self._sync_next()

    def _sync_next(self) -> None:
        while self._waiting:
            try:
                self._turn.pop()
            except IndexError:
                return  # somebody is at it, and goes on
            future: object = None
            try:
                path = self._waiting.popleft()
                future = self._ws.submit(self._ws.sync, path)
            except IndexError:
                pass  # somebody was quicker
            finally:
                if not isinstance(future, Future):
                    self._turn.append(None)
            if isinstance(future, Future):
                future.add_done_callback(self._sync_done)
                return

    def _sync_done(self, future: Future[Any]) -> None:
        """The servers have seen a file. The turn is free before anybody looks for the next one."""
        problem = None if future.cancelled() else future.exception()
        if problem is not None:
            log.debug("the servers were not told: %s", problem)
        self._turn.append(None)
        self._sync_next()
