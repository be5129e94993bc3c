"""The notifier for this system, and one for systems without any."""

from __future__ import annotations

import sys

from lspkit.late_imports import safe_imports
from lspkit.runtime.watch.notifier import Notifier


class PollingNotifier(Notifier):
    """Gives no hints, where no other notifier is available. Its wait ends by the clock."""

    blind = True


def best_notifier() -> Notifier:
    """The notifier for this system; raises `OSError` if it is not available."""
    # Imported here: not needed before a server runs, and each is for some systems only.
    if sys.platform == "linux":
        with safe_imports():
            from lspkit.runtime.watch.inotify import InotifyNotifier

        return InotifyNotifier()
    from lspkit.runtime.watch.watchfiles_backend import WatchfilesNotifier

    return WatchfilesNotifier()
