"""What lies among installed packages, and whether its coming, change or going says one is another.

Tools keep more there than packages: caches, programs, what is half removed.
"""

from __future__ import annotations

import os

#: What package managers note down when they have changed packages.
_NOTES = frozenset({".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"})
#: Where pnpm keeps the packages themselves.
_STORE = ".pnpm"


def is_of_packages(path: str, top: str) -> bool:
    """Whether a file or folder belongs to a package, or to a note of what is installed.

    `top` is the folder above it that holds the packages, or the one itself.
    """
    parts = path[len(top) :].strip(os.sep).split(os.sep)
    if parts[0] == _STORE:
        parts = parts[1:]
    if len(parts) == 1 and parts[0] in _NOTES:
        return True
    return not any(one.startswith((".", "~")) or one == "__pycache__" for one in parts)
