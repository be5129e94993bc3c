"""Detects changes of files that an agent has used.

A shell command may change any file. The stamps of files that were used in hooks are stored, and
compared after a command. Thread-safe: each operation on the table is atomic.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

#: Most files whose stamps are kept, the most recently used ones.
REMEMBERED = 500

_Stamp = tuple[int, int, int]


class FileStamps:
    """Size, time and inode of files."""

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def note(self, paths: Iterable[str]) -> None:
        """Store the present stamps of these files."""
        for path in paths:
            self._stamps.pop(path, None)
            stamp = _stamp(path)
            if stamp is not None:
                self._stamps[path] = stamp
        known = list(self._stamps.items())
        if len(known) > REMEMBERED:
            self._stamps = dict(known[-REMEMBERED:])

    def changed_files(self) -> list[str]:
        """The existing files whose stamps have changed, sorted."""
        stamps = {path: (stamp, _stamp(path)) for path, stamp in list(self._stamps.items())}
        return sorted(
            path for path, (before, now) in stamps.items() if now is not None and now != before
        )

    def gone_files(self) -> list[str]:
        """The files that no longer exist, sorted. Each is returned once."""
        gone = sorted(path for path in list(self._stamps) if _stamp(path) is None)
        for path in gone:
            self._stamps.pop(path, None)
        return gone


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino)
