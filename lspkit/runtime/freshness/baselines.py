"""The last proven findings about each file, for comparison with the next ones."""

from __future__ import annotations

import collections
import threading

from lspkit.diagnostics.compare import Before

#: How many files are remembered, the most recently checked.
REMEMBERED = 2000


class Baselines:
    """Findings by path. For any thread."""

    def __init__(self) -> None:
        #: Guards `_known`.
        self._lock = threading.Lock()
        self._known: collections.OrderedDict[str, Before] = collections.OrderedDict()

    def get(self, path: str) -> Before | None:
        """The last proven findings."""
        return self._known.get(path)

    def remember(self, path: str, before: Before) -> None:
        """Keep the state before the next edit."""
        with self._lock:
            self._known.pop(path, None)
            self._known[path] = before
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
