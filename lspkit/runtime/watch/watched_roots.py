"""The watched roots, with reference counts.

All share one watcher: one thread, one instance of inotify (a user has about 128), and a root inside
another one costs nothing. It starts with the first root and ends with the last.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable, Iterable

from lspkit.protocol.watching.registrations import FileEvent
from lspkit.runtime.concurrency.waiter import Waiter
from lspkit.runtime.watch.backend import best_notifier
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.runtime.watch.notifier import Notifier
from lspkit.runtime.watch.outer_folders import OuterFolders
from lspkit.runtime.watch.watcher import Watcher


class WatchedRoots:
    """Watches roots while they are held. For any thread."""

    def __init__(
        self,
        on_events: Callable[[list[FileEvent]], None],
        *,
        excluded: Callable[[str], bool] = is_excluded,
        outer: OuterFolders | None = None,
        notifier: Callable[[], Notifier] = best_notifier,
        on_brief: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        self._make = functools.partial(
            Watcher,
            on_events=on_events,
            excluded=excluded,
            outer=outer,
            notifier=notifier,
            on_brief=on_brief,
        )
        #: Guards the fields below.
        self._lock = threading.Lock()
        self._watcher: Watcher | None = None
        #: The watcher at the time of `close`. It may be closed again, after an interrupt.
        self._last: Watcher | None = None
        #: Root: its reference count.
        self._holders: dict[str, int] = {}
        #: Root: other folders that are watched for it.
        self._others: dict[str, set[str]] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<WatchedRoots {sorted(self._holders)}: {self._watcher}>"

    @property
    def is_ready(self) -> bool:
        """Whether everything has been read."""
        watcher = self._watcher
        return watcher is None or watcher.is_ready

    def hold(self, root: str) -> None:
        """Watch a root until it is released as often as it was held. Returns at once."""
        root = os.path.abspath(root)
        with self._lock:
            if self._closed:
                return
            self._holders[root] = self._holders.get(root, 0) + 1
            if self._holders[root] > 1:
                return
            if self._watcher is None:
                self._watcher = self._make(root)
            else:
                self._watcher.also(root)

    def release(self, root: str) -> None:
        """Release a root; the last release also ends the watch of its other folders."""
        root = os.path.abspath(root)
        with self._lock:
            left = self._holders.get(root, 0) - 1
            if left > 0:
                self._holders[root] = left
                return
            if left < 0 or self._watcher is None:
                return
            del self._holders[root]
            for folder in {root, *self._others.pop(root, ())} - self._wanted():
                self._watcher.forget(folder)
            if self._holders:
                return
            watcher, self._watcher = self._watcher, None
        watcher.close()

    def also(
        self, root: str, folder: str, *, deep: bool = True, since: int | None = None
    ) -> Waiter:
        """Watch another folder as long as the root is held; complete when it was read.

        Files that have changed since that time (`time.time_ns`) are announced; the default is now.
        """
        root, folder = os.path.abspath(root), os.path.abspath(folder)
        with self._lock:
            if self._watcher is not None and root in self._holders:
                self._others.setdefault(root, set()).add(folder)
                return self._watcher.also(folder, deep=deep, since=since)
        waiter = Waiter()
        waiter.complete()
        return waiter

    def reconsider(self) -> None:
        """The result of `excluded` may have changed."""
        watcher = self._watcher
        if watcher is not None:
            watcher.reconsider()

    def reading(self) -> Waiter | None:
        """Complete when all roots were read for the first time; None if they were."""
        watcher = self._watcher
        return None if watcher is None else watcher.reading()

    def catch_up(self, until: float = math.inf) -> bool:
        """Announce all changes up to now before this returns; see `Watcher.catch_up`."""
        watcher = self._watcher
        return watcher is None or watcher.catch_up(until)

    def note(self, paths: Iterable[str]) -> list[FileEvent]:
        """The caller has just changed these paths: returns its events, which are not announced."""
        watcher = self._watcher
        return [] if watcher is None else watcher.note(paths)

    @property
    def unseen(self) -> str:
        """Why some changes are not known; empty if all are."""
        watcher = self._watcher
        return "" if watcher is None else watcher.unseen

    def warnings(self) -> list[str]:
        """The warnings for the user."""
        watcher = self._watcher
        warnings = [] if watcher is None else [watcher.warning, watcher.unseen]
        return [warning for warning in dict.fromkeys(warnings) if warning]

    def close(self) -> None:
        """End the watcher for good."""
        with self._lock:
            self._closed = True
            self._last = self._last or self._watcher
            self._watcher = None
            self._holders.clear()
            self._others.clear()
        if self._last is not None:
            self._last.close()

    def drop_after_fork(self) -> None:
        """In a forked child: drop the parent's watcher. Takes no lock."""
        self._closed = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.drop_after_fork()

    def _wanted(self) -> set[str]:
        return set(self._holders).union(*self._others.values())
