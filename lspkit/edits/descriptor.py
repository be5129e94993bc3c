"""File descriptors that an interrupt cannot lose.

A `KeyboardInterrupt` may occur between any two instructions of Python: also after `os.open` has
returned and before its result is stored, which leaks the descriptor; also at the first instruction
of `__exit__` or `__del__`. So a single call into C opens the descriptor and passes it to a C
object, which closes it when it is deallocated.

The object must accept any kind of descriptor. A file object refuses folders; the objects of
`select` do not check, and here they only own the number.
"""

from __future__ import annotations

import functools
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Descriptor(Protocol):
    """An open descriptor, closed when it is deallocated."""

    def fileno(self) -> int:
        """The number of the descriptor."""

    def close(self) -> None:
        """Close it. May be called twice."""


if sys.platform == "linux":
    _own = select.epoll.fromfd
else:
    _own = select.kqueue.fromfd


def open_descriptor(
    path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
) -> Descriptor:
    """Like `os.open`."""
    opening = os.open if dir_fd is None else functools.partial(os.open, dir_fd=dir_fd)
    return next(map(_own, map(opening, (path,), (flags,), (mode,))))


@contextmanager
def open_fd(
    path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
) -> Iterator[int]:
    """Open a descriptor for the duration of the block, and return its number."""
    descriptor = open_descriptor(path, flags, mode, dir_fd=dir_fd)
    try:
        yield descriptor.fileno()
    finally:
        descriptor.close()
