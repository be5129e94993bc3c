"""Hints of the Linux kernel, read directly from inotify.

An event is in the kernel's queue before the call that caused it returns. So when another process
says that it has written a file, `drain` has the hint, without waiting.

A watch belongs to a folder, not to its path, and stays with it after a rename. So a watch may have
two paths for a while: the old one, until that is looked at, and the new one. Events are reported
for both, which costs a needless look, and the watch ends with its last path.
"""

from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import os
import select
import struct
import termios
import threading
from collections.abc import Callable, Iterator

from lspkit.runtime.watch.notifier import Hints, Notifier

IN_MODIFY = 0x2
IN_ATTRIB = 0x4
IN_CLOSE_WRITE = 0x8
IN_MOVED_FROM = 0x40
IN_MOVED_TO = 0x80
IN_CREATE = 0x100
IN_DELETE = 0x200
IN_DELETE_SELF = 0x400
IN_MOVE_SELF = 0x800
IN_UNMOUNT = 0x2000
IN_Q_OVERFLOW = 0x4000
IN_IGNORED = 0x8000
IN_ONLYDIR = 0x0100_0000
IN_DONT_FOLLOW = 0x0200_0000
IN_EXCL_UNLINK = 0x0400_0000
IN_ISDIR = 0x4000_0000

#: The events of a folder. A close, because writes through a memory map show only then; attributes,
#: because a folder may become readable and a time may be set.
MASK = (
    (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
    | (IN_DELETE_SELF | IN_MOVE_SELF)
    | (IN_ONLYDIR | IN_EXCL_UNLINK)
)
#: The events of a file that is watched by itself.
FILE_MASK = IN_MODIFY | IN_CLOSE_WRITE | IN_DONT_FOLLOW
#: After these the content is new, whatever its times and its inode say.
ANEW = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT
#: After these a program has the file open, and may not have written all of it.
OPENED = IN_MODIFY | IN_CREATE
#: After these no program has it open, or not at this path.
CLOSED = IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
#: After these the path is missing, until something is created there.
LEFT = IN_MOVED_FROM | IN_DELETE

#: How many files are watched by themselves.
MOST_FILES = 1_000

_HEAD = struct.Struct("iIII")


class InotifyNotifier(Notifier):
    """One instance of inotify, and an eventfd that ends the wait."""

    blind = False

    def __init__(self) -> None:
        super().__init__()
        library = ctypes.CDLL(None, use_errno=True)
        self._add: Callable[[int, bytes, int], int] = library.inotify_add_watch
        self._remove: Callable[[int, int], int] = library.inotify_rm_watch
        # Tuples, because nearly all have one path, and there may be many.
        self._paths_of: dict[int, tuple[str, ...]] = {}
        self._watch_of: dict[str, int] = {}
        #: Watches of files, not of folders.
        self._of_files: set[int] = set()
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _error("inotify_init1")
        #: Guards the descriptor below: its number may be reused after it was closed.
        self._lock = threading.Lock()
        try:
            self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except OSError:
            os.close(self._descriptor)
            raise
        self._poll = select.poll()
        for descriptor in (self._descriptor, self._wake_fd):
            self._poll.register(descriptor, select.POLLIN)
        self._waiting_bytes = array.array("i", [0])

    @property
    def watches(self) -> int:
        return len(self._paths_of)

    def watch(self, folder: str, follow: bool) -> None:
        self._watch(folder, MASK if follow else MASK | IN_DONT_FOLLOW)

    def watch_file(self, path: str) -> None:
        if path in self._watch_of or len(self._of_files) < MOST_FILES:
            self._of_files.add(self._watch(path, FILE_MASK))

    def _watch(self, path: str, mask: int) -> int:
        watch = self._add(self._descriptor, os.fsencode(path), mask)
        if watch < 0:
            raise _error(path)
        before = self._watch_of.get(path)
        if before == watch:
            return watch
        if before is not None:
            self._give_up(path, before)
        self._watch_of[path] = watch
        self._paths_of[watch] = (*self._paths_of.get(watch, ()), path)
        return watch

    def unwatch(self, path: str) -> None:
        watch = self._watch_of.pop(path, None)
        if watch is not None:
            self._give_up(path, watch)

    def _give_up(self, folder: str, watch: int) -> None:
        """Remove a path from a watch; without any path the watch is removed."""
        paths = tuple(path for path in self._paths_of.pop(watch, ()) if path != folder)
        if paths:
            self._paths_of[watch] = paths
        else:
            self._of_files.discard(watch)
            # Fails if the kernel has removed it together with the folder.
            self._remove(self._descriptor, watch)

    def wait(self, timeout: float | None) -> None:
        ready = self._poll.poll(None if timeout is None else max(0, timeout * 1000))
        if any(descriptor == self._wake_fd for descriptor, _ in ready):
            os.eventfd_read(self._wake_fd)

    def wake(self) -> None:
        with self._lock:
            if self._wake_fd >= 0:
                os.eventfd_write(self._wake_fd, 1)

    def drain(self, hints: Hints) -> bool:
        # Asked first, since an empty read would raise, and this runs before every request.
        fcntl.ioctl(self._descriptor, termios.FIONREAD, self._waiting_bytes)
        if not self._waiting_bytes[0]:
            return False
        for watch, mask, name in _events(os.read(self._descriptor, self._waiting_bytes[0])):
            self._take(hints, watch, mask, name)
        return True

    def _take(self, hints: Hints, watch: int, mask: int, name: bytes) -> None:
        if mask & IN_Q_OVERFLOW:
            self.lost = True
            return
        if mask & IN_IGNORED:
            self._of_files.discard(watch)
            for folder in self._paths_of.pop(watch, ()):
                del self._watch_of[folder]
            return
        own = mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) or watch in self._of_files
        if not name and not own:
            return  # the watch of its parent reports it
        for folder in self._paths_of.get(watch, ()):
            path = os.path.join(folder, os.fsdecode(name)) if name else folder
            hints[path] = hints.get(path, False) or bool(mask & ANEW)
            if mask & LEFT:
                self.away.add(path)
                if self._watch_of.get(path) in self._of_files:
                    self.unwatch(path)
            if mask & CLOSED:
                self.writing.discard(path)
            elif mask & OPENED and not mask & IN_ISDIR:
                self.writing.add(path)

    def close(self) -> None:
        with self._lock:
            self._close()

    def drop_after_fork(self) -> None:
        # The queue and the watches are shared with the parent: no watch is removed here.
        self._close()

    def _close(self) -> None:
        wake_fd, descriptor = self._wake_fd, self._descriptor
        self._wake_fd = self._descriptor = -1
        self._paths_of, self._watch_of, self._of_files = {}, {}, set()
        for number in (wake_fd, descriptor):
            if number >= 0:
                os.close(number)


def _events(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Watch, mask and name of each event."""
    at = 0
    while at < len(data):
        watch, mask, _, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield watch, mask, data[at : at + size].rstrip(b"\0")
        at += size


def _error(about: str) -> OSError:
    number = ctypes.get_errno() or errno.EIO
    return OSError(number, os.strerror(number), about)
