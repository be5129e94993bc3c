"""The last files that have changed on disk, for callers that ask what a program has changed."""

from __future__ import annotations

import collections
import itertools
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from lspkit.edit_types import ChangedFiles

#: How many changes are remembered.
REMEMBERED = 10_000


class Changelog:
    """Changed files, in order. For any thread."""

    def __init__(self, lock: threading.Lock) -> None:
        #: The owner's lock. Guards the fields below.
        self._lock = lock
        self._paths: collections.deque[str] = collections.deque(maxlen=REMEMBERED)
        #: The first mark, in microseconds since 1970: no two logs have a mark in common.
        self._first = time.time_ns() // 1000
        #: Raised by every change.
        self._count = self._first
        #: Marks before this one are from a time when less was watched.
        self._gap = self._first

    def add(self, paths: Iterable[str]) -> None:
        """Add changed files."""
        added = list(paths)  # before the lock is taken: it may be computed only now
        with self._lock:
            self._paths += added
            self._count += len(added)

    def interrupted(self) -> None:
        """More may have changed up to now than was seen."""
        with self._lock:
            self._paths.append("")  # no file: it makes all earlier marks older than the gap
            self._count += 1
            self._gap = self._count

    def after(self, mark: int | None) -> ChangedFiles:
        """The changes since a mark that was returned before.

        After a mark of another log, all that is remembered, which is not complete.
        """
        with self._lock:
            mark = self._count if mark is None else mark
            own = self._first <= mark <= self._count
            forgotten = self._count - len(self._paths)
            start = max(0, mark - forgotten) if own else 0
            news = set(itertools.islice(self._paths, start, None))
            count, complete = self._count, own and mark >= max(forgotten, self._gap)
        named = sorted(path for path in news if path)
        there = tuple(Path(path) for path in named if os.path.isfile(path))
        gone = tuple(Path(path) for path in named if not os.path.lexists(path))
        return ChangedFiles(count, there, complete, gone)
