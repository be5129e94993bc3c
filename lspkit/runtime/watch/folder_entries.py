"""The entries of a folder, with a number for each."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from lspkit.edits.directory import is_spare

#: Numbers for folders instead of a stamp: one that is read as well, and one that is skipped.
READ, PASSED = -1, -2

#: Errors of the system: nothing is at a path, or it cannot be read until a change causes a hint.
GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
LASTING = frozenset({errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EINVAL})

_TIME_MASK = (1 << 64) - 1


def stamp_of(found: os.stat_result) -> int:
    """Inode, modification time and size as one number, in a third of the memory of three."""
    return found.st_ino << 128 | (found.st_mtime_ns & _TIME_MASK) << 64 | found.st_size


def read_entries(
    folder: str,
    since: int | None,
    is_read: Callable[[str], bool],
    note: Callable[[str, os.stat_result], None],
) -> tuple[dict[str, int], set[str]]:
    """The entries of a folder, and the names of those that are younger than `since`.

    `note` is called with links, and with files that have other names.
    """
    now: dict[str, int] = {}
    young: set[str] = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_spare(entry.name):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    now[entry.name] = READ if is_read(entry.path) else PASSED
                    if since is None:
                        continue
                    found = entry.stat(follow_symlinks=False)
                elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                    found = entry.stat(follow_symlinks=False)
                    now[entry.name] = stamp_of(found)
                    if found.st_nlink > 1 or entry.is_symlink():
                        note(entry.path, found)
                else:
                    continue
            except OSError:
                continue  # it is gone already
            # Only the ctime will do: programs may set the modification time. A folder is young,
            # too, if an entry was added or removed.
            if since is not None and found.st_ctime_ns > since:
                young.add(entry.name)
    return now, young


def can_exist(path: str) -> bool:
    """Whether the system can have such a path. A server may name any."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False
