"""Adapters of servers for Python."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from lspkit.protocol.registrations import CHANGED
from lspkit.protocol.uris import is_utf8
from lspkit.servers.adapters.adapter import Adapter, BackgroundIndex
from lspkit.servers.definition import Definition
from lspkit.workspace_boundary import is_inside

_RELATIVE_IMPORT = re.compile(r"\bfrom[\s\\]*+\.")


class Ty(Adapter):
    """ty: blocks itself, ends, or misjudges a text in some cases.

    - Its main thread and the one that answers wait for each other if it is notified of a new file
      while it works on a request. A change of an open document ends that work.
    - It panics at a path that is not UTF-8.
    - It does not resolve relative imports in a document whose file does not exist on disk.
    """

    blocks_on_new_files = True

    def takes_path(self, path: str) -> bool:
        """It is not told of the files that would end it."""
        return is_utf8(path)

    def misjudges_new(self, name: str, text: str) -> str:
        """It would report modules as missing that are there."""
        if _RELATIVE_IMPORT.search(text) is None:
            return ""
        return f"it does not resolve relative imports of a file that is not on disk, such as {name}"


class Pyrefly(Adapter):
    """pyrefly: reads the project's files in the background, and does not say when it is done."""

    index = BackgroundIndex()


class Zuban(Adapter):
    """zuban: keeps to a module that it has found when a stub or a package takes its place."""

    def restart_rule(self, definition: Definition, root: str) -> Callable[[str, int], bool]:
        """A new process resolves imports again."""

        def needs_restart(path: str, kind: int) -> bool:
            name = os.path.basename(path)
            decides = name == "__init__.py" or name.endswith(".pyi")
            return decides and kind != CHANGED and is_inside(path, root)

        return needs_restart
