"""The texts of files at the time when an agent has read them.

A shell command or a write does not tell the text that it replaces. The servers are told of a read
later, by a worker, and by then the file may have changed. So the hook itself keeps the text: it is
the one before the next edit. Thread-safe: each change of the table is atomic.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from pathlib import Path

#: Most files whose texts are kept, the most recently read ones.
REMEMBERED = 64
#: Bytes of the largest file whose text is kept or reconstructed.
LARGEST = 2**21
#: Characters of all texts that one table of one agent keeps.
MOST_CHARACTERS = 2**22


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
        kept = count_kept((text for _, text in reversed(known)), REMEMBERED)
        if kept < len(known):
            self._texts = dict(known[len(known) - kept :])

    def take(self, path: str) -> str | None:
        """The text at the last read; after that, it is not kept any more."""
        return self._texts.pop(path, None)


def count_kept(texts: Iterable[str], most: int) -> int:
    """How many of these texts are kept, from the first one on."""
    sizes = itertools.accumulate(map(len, texts))
    return sum(size <= MOST_CHARACTERS for size in itertools.islice(sizes, most))


def text_of(path: str) -> str | None:
    """The text of a file; None if it is too large, or has none."""
    try:
        if os.path.getsize(path) > LARGEST or not os.path.isfile(path):
            return None
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None
