"""oxlint: reports nothing about files that an ignore file names, not even about open ones.

It reads `.gitignore` and `.eslintignore` in the root and in folders below it, when it starts.
"""

from __future__ import annotations

from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.project.skipped_files import ignoring

_IGNORE_FILES = (".gitignore", ".eslintignore")


class Oxlint(Adapter):
    """See above."""

    def doubt(self, path: str, root: str) -> str:
        """Its silence about an ignored file says nothing."""
        name = ignoring(path, _IGNORE_FILES, root)
        return f"it passes over what {name} names, so its silence proves nothing" if name else ""
