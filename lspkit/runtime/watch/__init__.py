"""Files that change on disk: who changed what, exactly, and soon.

`Watchers` is what the rest of lspkit holds; the other modules are its parts.
"""

from lspkit.runtime.watch.changelog import Changelog
from lspkit.runtime.watch.excluded_folders import EXCLUDED, is_excluded
from lspkit.runtime.watch.watched_roots import Watchers
from lspkit.runtime.watch.watcher import Watcher

__all__ = ["EXCLUDED", "Changelog", "Watcher", "Watchers", "is_excluded"]
