"""ty: blocks itself, ends, or misjudges a text in some cases.

- Its main thread and the one that answers wait for each other if it is notified of a new file while
  it works on a request. A change of an open document ends that work.
- It panics at a path that is not UTF-8.
- It does not resolve relative imports in a document whose file does not exist on disk.
"""

from __future__ import annotations

import re

from lspkit.protocol.uris import is_utf8
from lspkit.servers.adapters.adapter import Adapter

_RELATIVE_IMPORT = re.compile(r"\bfrom[\s\\]*+\.")


class Ty(Adapter):
    """See above."""

    blocks_on_new_files = True

    def takes_path(self, path: str) -> bool:
        """It is not told of the files that would end it."""
        return is_utf8(path)

    def misjudges_new(self, name: str, text: str) -> str:
        """It would report modules as missing that are there."""
        if _RELATIVE_IMPORT.search(text) is None:
            return ""
        return f"it does not resolve relative imports of a file that is not on disk, such as {name}"
