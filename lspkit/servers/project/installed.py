"""Whether an event inside a package folder means that a package has changed.

Tools keep other things there as well: caches, programs, half-removed packages.
"""

from __future__ import annotations

import os

#: Records that package managers write when they have changed packages.
_NOTES = frozenset({".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"})
#: Where pnpm stores the packages.
_STORE = ".pnpm"


def is_of_packages(path: str, top: str) -> bool:
    """Whether a file or folder belongs to a package, or is a record of what is installed.

    `top` is the folder above it that holds the packages, or that folder itself.
    """
    parts = path[len(top) :].strip(os.sep).split(os.sep)
    if parts[0] == _STORE:
        parts = parts[1:]
    if len(parts) == 1 and parts[0] in _NOTES:
        return True
    return not any(one.startswith((".", "~")) or one == "__pycache__" for one in parts)
