"""The state of each file before the next edit: its last proven findings, and its text.

The findings are those of the last check. The text is the one that a reader has seen, or that was
there when the effects of the last edit on other files were examined: a plain check in between does
not change what has to be examined.
"""

from __future__ import annotations

import collections

import msgspec

from lspkit.diagnostics.compare import Before

#: Characters of all texts that are remembered: of the files that were checked last.
MOST_CHARACTERS = 50_000_000


class _Baseline(msgspec.Struct, frozen=True):
    """What is known about one file."""

    findings: Before | None = None
    text: str | None = None
    #: The text before an edit whose dependents could not be searched.
    unsearched: str | None = None

    @property
    def size(self) -> int:
        """The characters of its texts."""
        texts = (self.findings and self.findings.text.value, self.text, self.unsearched)
        return sum(len(text) for text in texts if text)


class Baselines:
    """Findings and texts by path. For any thread."""

    def __init__(self) -> None:
        #: The file that was checked last is the last one. Without a lock: each change is atomic. Of
        #: two changes of one file at once one may be lost, and two threads may forget a file each.
        self._files: collections.OrderedDict[str, _Baseline] = collections.OrderedDict()

    def _get(self, path: str) -> _Baseline:
        return self._files.get(path) or _Baseline()

    def _put(self, path: str, **fields: Before | str | None) -> None:
        known = self._files.pop(path, None)
        self._files[path] = msgspec.structs.replace(known or _Baseline(), **fields)
        if known is not None:
            return  # it may have grown, which counts with the next new file
        size = sum(baseline.size for baseline in list(self._files.values()))
        while size > MOST_CHARACTERS and len(self._files) > 1:
            size -= self._files.popitem(last=False)[1].size

    def get(self, path: str) -> Before | None:
        """The last proven findings."""
        return self._get(path).findings

    def remember(self, path: str, before: Before, *, keeps_text: bool = True) -> None:
        """Keep the findings before the next edit, and the text if none is known."""
        text = self.text(path)
        self._put(path, findings=before)
        if text is None and keeps_text:
            self._put(path, text=before.text.value)

    def text(self, path: str) -> str | None:
        """The text before the next edit."""
        return self._get(path).text

    def unsearched(self, path: str) -> str | None:
        """The text before an edit whose dependents could not be searched."""
        return self._get(path).unsearched

    def note_search(self, path: str, missed: str | None) -> None:
        """The dependents were searched, or were not for an edit of this text."""
        self._put(path, unsearched=missed)

    def note_text(self, path: str, text: str) -> None:
        """Keep the text before the next edit."""
        self._put(path, text=text)
