"""The last proven findings about each file: what the next ones are compared with."""

from __future__ import annotations

import collections
import threading

from lspkit.diagnostics.compare import Before

#: So many files are remembered, the most recently checked.
REMEMBERED = 2000


class Baselines:
    """By path. Any thread may call it."""

    def __init__(self) -> None:
        #: Guards `_known`.
        self._lock = threading.Lock()
        self._known: collections.OrderedDict[str, Before] = collections.OrderedDict()

    def get(self, path: str) -> Before | None:
        """What was found the last time."""
        return self._known.get(path)

    def remember(self, path: str, before: Before) -> None:
        """The state that the next edit starts from."""
        with self._lock:
            self._known.pop(path, None)
            self._known[path] = before
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
