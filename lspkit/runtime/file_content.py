"""The content of one file on disk, with the stamp that identifies it.

A path may lead elsewhere at any time, so it is checked again when the file is open; only regular
files are read.
"""

from __future__ import annotations

import operator
import os
import stat
import time
from collections.abc import Callable
from typing import TypeGuard

import msgspec

from lspkit.edits.descriptor import open_descriptor, open_fd
from lspkit.edits.text_edits import decode
from lspkit.errors import PathError
from lspkit.protocol.text import Text, Unsaved

#: Size, mtime, ctime, inode, device of a file. A sixth number marks a file that was too young when
#: it was read: the time of the read by the monotonic clock (0 if it was written meanwhile).
Stamp = tuple[int | float, ...]
#: How many numbers a stamp has without that mark.
STAMP_SIZE = 5

#: Two writes closer than this may carry the same time stamp.
TICK_NS = 20_000_000
#: How often a file is read again that is replaced while it is read.
READS = 50
#: What Linux appends to the path of an open file that was deleted.
DELETED = " (deleted)"
_O_PATH: int = getattr(os, "O_PATH", 0) if os.path.isdir("/proc/self/fd") else 0


class Content(msgspec.Struct, frozen=True):
    """What was read from a file."""

    text: Text
    stamp: Stamp | Unsaved
    #: Whether the file begins with a byte order mark, which is not part of the text.
    marked: bool = False


#: The stamp of a file from its `stat` result.
stamp_of: Callable[[os.stat_result], Stamp] = operator.attrgetter(
    "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev"
)


def was_read_since(stamp: object, since: float) -> TypeGuard[Stamp]:
    """Whether a stamp is that of a young file which was read after this time."""
    return isinstance(stamp, tuple) and len(stamp) > STAMP_SIZE and stamp[STAMP_SIZE] > since


def stat_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def leads_to(path: str) -> tuple[str, os.stat_result] | None:
    """The real path, and its `stat` result; None if nothing is there.

    On Linux the kernel resolves it, in a third of the time that following the links here takes.
    """
    try:
        if not _O_PATH:
            return os.path.realpath(path), os.stat(path)
        descriptor = open_descriptor(path, _O_PATH | os.O_CLOEXEC)  # closed on return
        number = descriptor.fileno()
        return os.readlink(f"/proc/self/fd/{number}"), os.fstat(number)
    except (OSError, ValueError):
        return None


def _all_of(descriptor: int, size: int) -> bytes:
    """The content of an open file, read up to its end, since it may have grown."""
    parts = []
    while part := os.read(descriptor, max(size, 4096) + 1):
        parts.append(part)
    return b"".join(parts)


def read_content(path: str, name: str) -> Content:
    """The text of the file at this real path; raises if it is a link now."""
    try:
        for _ in range(READS):
            read_at = time.monotonic()
            found = _read_once(path, name)
            if found is not None:
                return _content(name, read_at, *found)
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise PathError(f"{name} cannot be read: {why}", code="ENOENT", path=name) from None
    raise PathError(f"{name} is replaced all the time", code="ENOENT", path=name)


def _read_once(path: str, name: str) -> tuple[bytes, os.stat_result, os.stat_result] | None:
    """Its bytes, and its `stat` before and after; None if the file has just been replaced."""
    # Non-blocking: it may be a pipe by now.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    with open_fd(path, flags) as descriptor:
        before = os.fstat(descriptor)
        place = os.readlink(f"/proc/self/fd/{descriptor}") if _O_PATH else os.path.realpath(path)
        there = (path, before) if place == path else leads_to(path)
        if there is None or (place != path and there[0] in (path, path + DELETED)):
            return None
        if not stat.S_ISREG(before.st_mode) or there[0] != path:
            raise PathError(f"{name} is no longer a file of its own", code="ENOENT", path=name)
        data = _all_of(descriptor, before.st_size)
        return data, before, os.fstat(descriptor)


def _content(
    name: str, read_at: float, data: bytes, before: os.stat_result, after: os.stat_result
) -> Content:
    mark, text = decode(data, name)
    stamp = stamp_of(after)
    newest = max(after.st_mtime_ns, after.st_ctime_ns)
    if stamp_of(before) != stamp:
        stamp = (*stamp, 0)
    elif time.time_ns() - newest <= TICK_NS:
        stamp = (*stamp, read_at)
    return Content(Text(text), stamp, bool(mark))
