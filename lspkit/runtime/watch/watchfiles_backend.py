"""Hints from `watchfiles`, for systems without inotify.

Its watcher gets its folders when it is made, so it is made again at the next wait when others are
needed; changes in between are found by looking at the new folders once more. Where the system
watches whole trees at no extra cost (everywhere but on Linux) only the outermost folders are
passed, and the snapshot drops hints about excluded ones.

Known problems of watchfiles 1.3, avoided here: with the option to ignore folders without permission
it ignores every failure, also that of the watch limit; a stop discards pending changes; a name that
is not UTF-8 makes it fail from then on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lspkit.runtime.watch.notifier import Hints, Notifier
from lspkit.workspace_boundary import folders_above

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

#: Milliseconds between two polls of watchfiles. It reports at the second one.
STEP = 30
#: Milliseconds after which changes are reported, even if more keep coming.
LONGEST = 60
#: How often a new watcher is tried while folders keep vanishing, or it keeps failing.
ATTEMPTS = 5

_ADDED, _DELETED = 1, 3


class WatchfilesNotifier(Notifier):
    """Folders watched by watchfiles, which knows files by their names only."""

    def __init__(self, *, recursive: bool = sys.platform != "linux") -> None:
        from watchfiles._rust_notify import RustNotify  # here: only where it is needed

        super().__init__()
        self._make = RustNotify
        self._recursive = recursive
        self._watcher: RustNotify | None = None
        self._waiting = False
        self._failures = 0
        # The lock guards the fields below.
        #: The folders to watch, with their inodes: another folder may replace one.
        self._folders: dict[str, int] = {}
        #: Those that the watcher does not watch yet.
        self._new: set[str] = set()
        self._hints: Hints = {}

    @property
    def watches(self) -> int:
        return len(self._placed())

    def watch(self, folder: str, follow: bool) -> None:
        inode = os.stat(folder, follow_symlinks=follow).st_ino
        with self._lock:
            if self._folders.get(folder) == inode:
                return
            self._folders[folder] = inode
            if self._recursive and any(
                parent in self._folders and parent not in self._new
                for parent in folders_above(folder)
            ):
                return
            self._new.add(folder)
        if self._waiting:
            self._woken.set()

    def unwatch(self, path: str) -> None:
        with self._lock:
            self._folders.pop(path, None)
            self._new.discard(path)

    def wait(self, timeout: float | None) -> None:
        self._waiting = True
        try:
            self._wait(timeout)
        finally:
            self._waiting = False

    def _wait(self, timeout: float | None) -> None:
        if self._new or self._watcher is None:
            self._renew()
        if self._watcher is None or self._hints:
            super().wait(0 if self._hints else timeout)
            return
        milliseconds = 0 if timeout is None else max(1, int(timeout * 1000))
        try:
            seen = self._watcher.watch(LONGEST, STEP, milliseconds, self._woken)
        except RuntimeError as problem:
            self._start_over(problem)
            return
        self._failures = 0
        if isinstance(seen, str):
            self._woken.clear()
            self.lost = self.lost or seen == "stop"
            return
        with self._lock:
            for change, path in seen:
                self._note(change, path)

    def _note(self, change: int, path: str) -> None:
        # Its reports are late, and often known by then: only a folder counts as new.
        came_or_went = change in (_ADDED, _DELETED)
        anew = came_or_went and os.path.isdir(path)
        if came_or_went:
            self._folders.pop(path, None)
        self._hints[path] = self._hints.get(path, False) or anew

    def _renew(self) -> None:
        """Make a watcher for all folders; raises `OSError` if that is not possible."""
        for attempt in range(ATTEMPTS):
            with self._lock:
                self._new.clear()
            try:
                placed = self._placed()
                watcher = self._make(placed, False, False, 0, self._recursive, self._recursive)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                if attempt == ATTEMPTS - 1:
                    raise
                self._forget_unreadable()
                continue
            except RuntimeError as problem:
                raise OSError(str(problem)) from None
            old, self._watcher = self._watcher, watcher
            if old is not None:
                old.close()
            # The changes of the old one, and those before the new one was made.
            self.lost = True
            return

    def _placed(self) -> list[str]:
        with self._lock:
            return outermost(self._folders) if self._recursive else list(self._folders)

    def _forget_unreadable(self) -> None:
        with self._lock:
            for folder in list(self._folders):
                if not os.path.isdir(folder) or not os.access(folder, os.R_OK):
                    del self._folders[folder]
                    self._hints[folder] = True

    def _start_over(self, problem: RuntimeError) -> None:
        """Restart after a failure inside watchfiles, unless there were too many in a row."""
        self._failures += 1
        if self._failures == ATTEMPTS:
            raise OSError(str(problem)) from None
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        self.lost = True

    def drain(self, hints: Hints) -> bool:
        with self._lock:
            found, self._hints = self._hints, {}
        for path, anew in found.items():
            hints[path] = hints.get(path, False) or anew
        return bool(found)

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def drop_after_fork(self) -> None:
        # Its thread is the parent's, and its descriptors cannot be reached.
        self._folders = {}


def outermost(folders: Iterable[str]) -> list[str]:
    """Those that lie in none of the others."""
    known = set(folders)
    return sorted(one for one in known if not any(parent in known for parent in folders_above(one)))
