"""Files that have been replaced, held for a while.

A file is replaced by another one in a single step, and the system gives the number of the old one
(its inode) to the next file that is made. Programs know files by that number. In races of two files
clangd said now and then that a source includes itself, as it would if it took the header for it by
its number; that this is the reason was not proven. A file that somebody has open keeps its number.
"""

from __future__ import annotations

import os
import threading

from lspkit.edits.descriptor import Descriptor, open_descriptor

#: So many are held, the last ones.
HELD = 8

_HOLD = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
_HOLD |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ReplacedFiles:
    """For any thread."""

    def __init__(self) -> None:
        #: Guards the two fields below.
        self._lock = threading.Lock()
        self._held: list[Descriptor] = []
        self._closed = False

    def hold(self, path: str) -> None:
        """The file at this path is about to be replaced."""
        try:
            descriptor = open_descriptor(path, _HOLD)
        except OSError:
            return  # it is gone, or nothing more can be opened: then it is not held
        with self._lock:
            self._held.append(descriptor)
            if self._closed or len(self._held) > HELD:
                del self._held[0]

    def close(self) -> None:
        """Let all of them go."""
        with self._lock:
            self._closed = True
            self._held.clear()

    def drop_after_fork(self) -> None:
        """In a forked child, in which nobody else runs: its copies go as well."""
        self._lock = threading.Lock()
        self.close()
