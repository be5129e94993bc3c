"""The texts of files at the time when an agent has read them.

A shell command or a write does not tell the text that it replaces. The servers are told of a read
later, by a worker, and by then the file may have changed. So the hook itself keeps the text: it is
the one before the next edit. Thread-safe: each change of the table is atomic.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

#: Most files whose texts are kept, the most recently read ones.
REMEMBERED = 64
#: Bytes of the largest file whose text is kept or reconstructed.
LARGEST = 2**21
#: Characters of all texts that are kept.
MOST_CHARACTERS = 2**25


class ReadTexts:
    """Texts by path."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def note(self, paths: Iterable[str]) -> None:
        """Keep the present texts of these files."""
        for path in paths:
            self._texts.pop(path, None)
            text = text_of(path)
            if text is not None:
                self._texts[path] = text
        known = list(self._texts.items())
        kept = _recent(known)
        if kept < len(known):
            self._texts = dict(known[len(known) - kept :])

    def take(self, path: str) -> str | None:
        """The text at the last read; after that, it is not kept any more."""
        return self._texts.pop(path, None)


def _recent(known: Sequence[tuple[str, str]]) -> int:
    """How many texts are kept, counted from the end: the most recently read ones."""
    sizes = itertools.accumulate(len(text) for _, text in reversed(known))
    return sum(size <= MOST_CHARACTERS for size in itertools.islice(sizes, REMEMBERED))


def text_of(path: str) -> str | None:
    """The text of a file; None if it is too large, or has none."""
    try:
        if os.path.getsize(path) > LARGEST or not os.path.isfile(path):
            return None
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None
