"""Source lines for locations, read from disk, and only inside the boundary.

A location outside, in a library, is shown without its line.
"""

from __future__ import annotations

import os
import re

from lspkit.errors import PathError
from lspkit.protocol.text import Text
from lspkit.protocol.uris import path_to_uri
from lspkit.runtime.files import Files
from lspkit.workspace_boundary import Boundary, absolute_path


class SourceLines:
    """The source lines for one answer."""

    def __init__(self, boundary: Boundary) -> None:
        self._files = Files(boundary)

    def line(self, path: str, number: int) -> str:
        """A line, counted from 1; empty if it does not exist or may not be read."""
        text = self._text(path)
        return text.line(number - 1) if text is not None and number <= text.line_count else ""

    def word(self, path: str, line: int, column: int) -> str:
        """The word at a position, or just before it; empty if there is none."""
        for match in re.finditer(r"\w+", self.line(path, line)):
            if match.start() < column <= match.end() + 1:
                return match[0]
        return ""

    def _text(self, path: str) -> Text | None:
        try:
            whole = os.path.abspath(absolute_path(path, self._files.boundary.root))
        except PathError:
            return None
        readable = self._files.place(path_to_uri(whole)).readable
        return None if readable is None else self._files.text_at(readable)
