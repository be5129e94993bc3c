"""Files that have been replaced, kept open for a while.

When a file is replaced, the system may give its inode number to the next new file. Programs
identify files by that number. In races of two files clangd sometimes reported that a source
includes itself, as if it took the header for it by its number; that this is the cause was not
proven. An open file keeps its number.
"""

from __future__ import annotations

import collections
import os

from lspkit.edits.descriptor import Descriptor, open_descriptor

#: How many files are kept open, the last ones.
HELD = 8

_HOLD = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
_HOLD |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ReplacedFiles:
    """Keeps descriptors of replaced files. For any thread."""

    def __init__(self) -> None:
        #: Without a lock: adding, which drops the oldest, and clearing are atomic.
        self._held: collections.deque[Descriptor] = collections.deque(maxlen=HELD)
        self._closed = False

    def hold(self, path: str) -> None:
        """The file at this path is about to be replaced."""
        try:
            descriptor = open_descriptor(path, _HOLD)
        except OSError:
            return  # it is gone, or no descriptor is left: it is not kept open
        self._held.append(descriptor)
        if self._closed:  # perhaps just now
            self._held.clear()

    def close(self) -> None:
        """Close all of them, and also those that come later."""
        self._closed = True
        self._held.clear()
