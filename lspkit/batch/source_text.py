"""Lines and texts of the files that were checked."""

from __future__ import annotations

from pathlib import Path

from lspkit.edits.text_edits import decode
from lspkit.errors import LspkitError
from lspkit.protocol.text import Text
from lspkit.regular_files import open_regular


def read_text(path: Path) -> Text:
    """The text of a file; empty if it cannot be read."""
    try:
        with open(path, "rb", opener=open_regular) as stream:
            return Text(decode(stream.read(), str(path))[1])
    except (OSError, LspkitError):
        return Text("")


class SourceText:
    """The lines of files, each of which is read once."""

    def __init__(self) -> None:
        self._texts: dict[Path, Text] = {}

    def line(self, path: Path | None, number: int) -> str:
        """A line, counted from 1; empty if there is none."""
        if path is None:
            return ""
        if path not in self._texts:
            self._texts[path] = read_text(path)
        text = self._texts[path]
        return text.line(number - 1) if 1 <= number <= text.line_count else ""
