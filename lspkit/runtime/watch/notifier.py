"""The base of notifiers, which tell that something may have changed.

A notifier only gives *hints*: "look at this path". The snapshot finds out what has changed. So a
notifier may give too many hints, and duplicates; it must not miss a change in a folder that it
watches, unless it sets `lost`.
"""

from __future__ import annotations

import math

from lspkit.runtime.concurrency.waiter import Waiter

#: Paths to look at. True: the content is new, even if its stamp is equal.
Hints = dict[str, bool]


class Notifier:
    """Gives hints about changes in folders, without their subfolders.

    This base gives none, for systems that have nothing better: its wait ends by the clock.

    `wait` is called by one thread. The others are called by one thread at a time, `wake` by any.
    """

    #: Whether there are no hints at all, so that folders have to be polled. Otherwise `drain`
    #: returns everything that had happened before it was called.
    blind = True

    def __init__(self) -> None:
        #: Set when hints were lost: everything has to be looked at. Reset by the reader.
        self.lost = False
        #: Files that a program is writing, as far as that is known. Emptied by the reader.
        self.writing: set[str] = set()
        #: Paths that were missing for a moment, as far as that is known. Emptied by the reader.
        self.away: set[str] = set()
        self._news = Waiter()

    @property
    def watches(self) -> int:
        """How many folders are watched."""
        return 0

    def watch(self, folder: str, follow: bool) -> None:
        """Watch the folder that is at this path now, even if another one was there before.

        A link is followed only with `follow`.
        """

    def watch_file(self, path: str) -> None:
        """Watch a file that has several names by itself, where the system can.

        The watch of a folder does not report changes made through another name, which may lie
        outside of the watched folders.
        """

    def unwatch(self, path: str) -> None:
        """Stop watching a path, which may be gone."""

    def wait(self, timeout: float | None) -> None:
        """Block until there may be hints, `wake` is called, or the time is up."""
        self._news.wait(math.inf if timeout is None else timeout)

    def wake(self) -> None:
        """End the wait of the other thread. Does nothing after `close`."""
        self._news.wake()

    def drain(self, hints: Hints) -> bool:
        """Add the present hints, without blocking; returns whether there were any."""
        return False

    def close(self) -> None:
        """Release everything. No thread may be waiting."""

    def drop_after_fork(self) -> None:
        """In a forked child: close the copies. Takes no lock, and does not affect the parent."""
