"""Watching files on disk: exact events, soon after each change.

The rest of lspkit uses `WatchedRoots`; the other modules are its parts.
"""

from lspkit.runtime.watch.changelog import Changelog
from lspkit.runtime.watch.excluded_folders import EXCLUDED, is_excluded
from lspkit.runtime.watch.watched_roots import WatchedRoots
from lspkit.runtime.watch.watcher import Watcher

__all__ = ["EXCLUDED", "Changelog", "WatchedRoots", "Watcher", "is_excluded"]
