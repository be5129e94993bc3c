"""The notifier for this system, and one for systems without any."""

from __future__ import annotations

import sys
import threading

from lspkit.late_imports import safe_imports
from lspkit.runtime.watch.notifier import Hints, Notifier


class PollingNotifier:
    """Gives no hints, where no other notifier is available. Its wait ends by the clock."""

    exact = False
    blind = True
    watches = 0

    def __init__(self) -> None:
        self.lost = False
        self.writing: set[str] = set()
        self.away: set[str] = set()
        self._bell = threading.Event()

    def watch(self, folder: str, follow: bool) -> None:
        """Nothing to do."""

    def watch_file(self, path: str) -> None:
        """Nothing to do."""

    def unwatch(self, path: str) -> None:
        """Nothing to do."""

    def wait(self, timeout: float | None) -> None:
        self._bell.wait(timeout)
        self._bell.clear()

    def wake(self) -> None:
        self._bell.set()

    def drain(self, hints: Hints) -> bool:
        return False

    def close(self) -> None:
        """Nothing to do."""

    def drop_after_fork(self) -> None:
        """Nothing to do."""


def best_notifier() -> Notifier:
    """The notifier for this system; raises `OSError` if it is not available."""
    # Imported here: not needed before a server runs, and each is for some systems only.
    if sys.platform == "linux":
        with safe_imports():
            from lspkit.runtime.watch.inotify import InotifyNotifier

        return InotifyNotifier()
    from lspkit.runtime.watch.watchfiles_backend import WatchfilesNotifier

    return WatchfilesNotifier()
