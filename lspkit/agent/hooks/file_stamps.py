"""Which of the files that an agent has dealt with have changed behind its back.

A shell command may change any file. Those that went through the hooks before are known by how they
looked on disk, and looked at again afterwards. Any thread may call it; each step on the table is a
single one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

#: So many files are looked at, those that were dealt with last.
REMEMBERED = 500

_Stamp = tuple[int, int, int]


class FileStamps:
    """How files looked on disk."""

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def note(self, paths: Iterable[str]) -> None:
        """The agent knows these files as they are now."""
        for path in paths:
            self._stamps.pop(path, None)
            stamp = _stamp(path)
            if stamp is not None:
                self._stamps[path] = stamp
        known = list(self._stamps.items())
        if len(known) > REMEMBERED:
            self._stamps = dict(known[-REMEMBERED:])

    def changed(self) -> list[str]:
        """Those that look otherwise by now, and are still there, by path."""
        stamps = {path: (stamp, _stamp(path)) for path, stamp in list(self._stamps.items())}
        return sorted(
            path for path, (before, now) in stamps.items() if now is not None and now != before
        )


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino)
