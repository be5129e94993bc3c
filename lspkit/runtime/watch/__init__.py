"""Files that change on disk: who changed what, exactly, and soon.

`WatchedRoots` is what the rest of lspkit holds; the other modules are its parts.
"""

from lspkit.runtime.watch.changelog import Changelog
from lspkit.runtime.watch.excluded_folders import EXCLUDED, is_excluded
from lspkit.runtime.watch.watched_roots import WatchedRoots
from lspkit.runtime.watch.watcher import Watcher

__all__ = ["EXCLUDED", "Changelog", "WatchedRoots", "Watcher", "is_excluded"]
