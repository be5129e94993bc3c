"""Opening and reading files whose kind nobody vouches for."""

from __future__ import annotations

import errno
import os
import stat


def open_regular(path: str, flags: int) -> int:
    """An opener for `open` that fails unless it is a regular file: others could block."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


def read_regular(path: str, most: int) -> bytes:
    """The first bytes of a regular file, at most this many; nothing if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read(most)
    except OSError:
        return b""


def read_regular_text(path: str, most: int) -> str:
    """The same as text; what is not UTF-8 is replaced."""
    return read_regular(path, most).decode("utf-8", "replace")
