"""What tells that something may have changed: the small interface, and which one is taken.

A notifier only gives *hints*: "look at this path". What has really happened is for the snapshot to
find out. So a notifier may hint too much, and twice; it must not keep silent about a folder that it
watches, unless it says so by `lost`.
"""

from __future__ import annotations

from typing import Protocol

#: Paths to look at. True: what is there is not what was there, even if it looks the same.
Hints = dict[str, bool]


class Notifier(Protocol):
    """Tells of changes in folders, not of those in their folders.

    `wait` is called by one thread. The others are called by one thread at a time, `wake` by any.
    """

    #: Whether `drain` gives everything that had happened before it was called.
    exact: bool
    #: Whether there are no hints at all, so that somebody has to look by the clock.
    blind: bool
    #: Set when hints were lost: everything has to be looked at. Reset by the reader.
    lost: bool
    #: Files that somebody is about to write, as far as that is known. Emptied by the reader.
    writing: set[str]
    #: Where nothing was for a moment, as far as that is known. Emptied by the reader.
    away: set[str]

    @property
    def watches(self) -> int:
        """How many folders are watched."""

    def watch(self, folder: str, follow: bool) -> None:
        """Watch the folder that is at this path now, also if another one was there before.

        A link leads to it only with `follow`.
        """

    def watch_file(self, path: str) -> None:
        """Watch a file by itself, whatever name it is changed by, where the system can."""

    def unwatch(self, path: str) -> None:
        """No longer; it may be gone."""

    def wait(self, timeout: float | None) -> None:
        """Block until there may be hints, or `wake`, or the time is up."""

    def wake(self) -> None:
        """End the wait of the other thread. Nothing happens after `close`."""

    def drain(self, hints: Hints) -> bool:
        """Add what there is, without blocking; whether there was something."""

    def close(self) -> None:
        """Give everything back, once nobody waits any more."""

    def drop_after_fork(self) -> None:
        """In a forked child: close what is a copy. Takes no lock, and the parent feels nothing."""
