"""File descriptors that an interrupt cannot lose.

A `KeyboardInterrupt` may come between any two instructions of Python: also after `os.open` has
returned and before its number is kept anywhere, which leaves the descriptor open for ever; also at
the first instruction of an `__exit__` or a `__del__`. So a single call into C opens the descriptor
and gives it to an object of C, which closes it when it is dropped, on whatever way.

Such an object has to take any kind of descriptor. A file object refuses folders; the objects of
`select` look at nothing, and here they only hold the number.
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
    """An open descriptor, closed when it is dropped."""

    def fileno(self) -> int:
        """What the system calls it by."""

    def close(self) -> None:
        """Lets go of it. Twice is once."""


if sys.platform == "linux":
    _own = select.epoll.fromfd
else:
    _own = select.kqueue.fromfd


def open_descriptor(
    path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
) -> Descriptor:
    """As `os.open`."""
    opening = os.open if dir_fd is None else functools.partial(os.open, dir_fd=dir_fd)
    return next(map(_own, map(opening, (path,), (flags,), (mode,))))


@contextmanager
def open_fd(
    path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
) -> Iterator[int]:
    """The number of a descriptor that is open for as long as the body runs."""
    descriptor = open_descriptor(path, flags, mode, dir_fd=dir_fd)
    try:
        yield descriptor.fileno()
    finally:
        descriptor.close()
