"""The state of each file before the next edit: its last proven findings, and its text.

The findings are those of the last check. The text is the one that a reader has seen, or that was
there when the effects of the last edit on other files were examined: a plain check in between does
not change what has to be examined.
"""

from __future__ import annotations

import collections
from typing import Generic, TypeVar

from lspkit.diagnostics.compare import Before

#: How many files are remembered, the most recently checked.
REMEMBERED = 2000

T = TypeVar("T")


class Baselines:
    """Findings and texts by path. For any thread."""

    def __init__(self) -> None:
        self._findings: _Recent[Before] = _Recent()
        self._texts: _Recent[str] = _Recent()
        #: The texts before edits whose dependents could not be searched.
        self._unsearched: _Recent[str | None] = _Recent()

    def get(self, path: str) -> Before | None:
        """The last proven findings."""
        return self._findings.get(path)

    def remember(self, path: str, before: Before, *, keeps_text: bool = True) -> None:
        """Keep the findings before the next edit, and the text if none is known."""
        self._findings.put(path, before)
        known = self._texts.get(path)
        if known is not None or keeps_text:
            self._texts.put(path, before.text.value if known is None else known)

    def text(self, path: str) -> str | None:
        """The text before the next edit."""
        return self._texts.get(path)

    def unsearched(self, path: str) -> str | None:
        """The text before an edit whose dependents could not be searched."""
        return self._unsearched.get(path)

    def note_search(self, path: str, missed: str | None) -> None:
        """The dependents were searched, or were not for an edit of this text."""
        if missed is not None or self._unsearched.get(path) is not None:
            self._unsearched.put(path, missed)

    def note_text(self, path: str, text: str) -> None:
        """Keep the text before the next edit."""
        self._texts.put(path, text)


class _Recent(Generic[T]):
    """Values by path, of the most recent ones."""

    def __init__(self) -> None:
        #: Without a lock: each change is atomic. Two threads at once may forget one file too many.
        self._known: collections.OrderedDict[str, T] = collections.OrderedDict()

    def get(self, path: str) -> T | None:
        return self._known.get(path)

    def put(self, path: str, value: T) -> None:
        self._known.pop(path, None)
        self._known[path] = value
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
