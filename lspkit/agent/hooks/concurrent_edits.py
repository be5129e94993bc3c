"""The files that other calls of the hooks edit at the same time.

Each call reports the findings in its own files. A file that another call edits meanwhile has new
findings, too, but not because of this edit. Thread-safe: each change of a field is atomic.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from lspkit.diagnostics.report import OtherFiles

#: Edits that are kept after their end.
REMEMBERED = 256


class ConcurrentEdits:
    """The edits of one workspace."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        #: The paths of each edit, and when its check ended; infinite if it has not.
        self._edits: dict[int, tuple[frozenset[str], float]] = {}

    @contextlib.contextmanager
    def of(self, paths: Sequence[str]) -> Iterator[None]:
        """An edit of these files, until the end of its check."""
        number, edited = next(self._numbers), frozenset(paths)
        self._edits[number] = edited, float("inf")
        self._edits.pop(number - REMEMBERED, None)
        try:
            yield
        finally:
            self._edits[number] = edited, time.monotonic()

    def without(self, others: OtherFiles, began: float) -> OtherFiles:
        """The findings in other files, without those in files edited since `began`."""
        edits = list(self._edits.values())
        edited = {Path(path) for paths, ended in edits if ended > began for path in paths}
        if others.introduced is None or not edited & others.introduced.keys():
            return others
        introduced = {
            path: findings for path, findings in others.introduced.items() if path not in edited
        }
        return msgspec.structs.replace(others, introduced=introduced)
