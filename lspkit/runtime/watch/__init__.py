"""Files that change on disk: who changed what, exactly, and soon.

`Watchers` is what the rest of lspkit holds; the other modules are its parts.
"""

from lspkit.runtime.watch.changelog import Changelog
from lspkit.runtime.watch.excluding import EXCLUDED, is_excluded
from lspkit.runtime.watch.watcher import Watcher
from lspkit.runtime.watch.watchers import Watchers

__all__ = ["EXCLUDED", "Changelog", "Watcher", "Watchers", "is_excluded"]
