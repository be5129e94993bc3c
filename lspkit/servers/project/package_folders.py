"""Folders of installed packages, which are far too many to be watched as a whole.

Only what shows that a package was added, removed or replaced is watched: the folder that holds the
packages, with the records of package managers, and the folder of each package itself, not its
subfolders. In a virtual environment that includes the path to its packages, and the folder of its
interpreter.

    node_modules  node_modules/@scope  node_modules/name  node_modules/@scope/name
    node_modules/.pnpm
    .venv  .venv/bin  .venv/lib  .venv/lib/python3.x
    .venv/lib/python3.x/site-packages  …/site-packages/name
"""

from __future__ import annotations

import os
import re

from lspkit.workspace_boundary import is_inside

#: Kinds of package folders, as named in the definitions of servers.
NODE, PYTHON = "node_modules", "site-packages"

#: How many packages of one folder are watched by themselves; of the others only additions, removals
#: and the records of package managers are seen.
MOST = 500

_HOLDERS = re.compile(
    r"(?:(?!/node_modules/).)*/node_modules(?:/\.pnpm|/@[^/]+)?"
    r"|.*/\.?venv(?:/bin|/Scripts|/[lL]ib(?:/python[^/]*)?)?"
    r"|.*/site-packages",
    re.DOTALL,
)
_PACKAGES = re.compile(r"/(?:node_modules(?:/@[^/]+)?|site-packages)$")
_FIRST = re.compile(r"/(node_modules|\.?venv|site-packages)(?:/|$)")
#: Entries of package folders that are no package: caches, programs, what is being removed, and
#: metadata of a package.
_NONE = re.compile(r"\.|~|@|__pycache__$|.*\.(?:dist|egg)-info$")
#: Records that package managers write when they have changed packages.
_NOTES = frozenset({".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"})
#: Where pnpm stores the packages.
_STORE = ".pnpm"


class PackageFolder:
    """The position of a path relative to package folders."""

    def __init__(self, path: str, workspace: str) -> None:
        # The path of the workspace itself does not count.
        inner = path[len(workspace.rstrip(os.sep)) :] if is_inside(path, workspace) else path
        self._inner = inner.replace(os.sep, "/")
        found = _FIRST.search(self._inner)
        name = found[1] if found else ""
        #: The kind of packages that it lies among, or that it holds; empty if none.
        self.kind = NODE if name == NODE else PYTHON if name else ""
        #: The outermost of these package folders.
        self.top = path[: len(path) - len(inner) + found.end(1)] if found else ""

    @property
    def holds_packages(self) -> bool:
        """Whether it is a folder that holds packages, or lies on the path to them."""
        return _HOLDERS.fullmatch(self._inner) is not None

    @property
    def is_package(self) -> bool:
        """Whether it is the folder of a package."""
        above, _, name = self._inner.rpartition("/")
        holds = _HOLDERS.fullmatch(above) is not None and _PACKAGES.search(above) is not None
        return holds and _NONE.match(name) is None


def is_of_packages(path: str, top: str) -> bool:
    """Whether a file or folder belongs to a package, or is a record of what is installed.

    Tools keep other things there as well: caches, programs, half-removed packages. `top` is the
    folder above it that holds the packages, or that folder itself.
    """
    parts = path[len(top) :].strip(os.sep).split(os.sep)
    if parts[0] == _STORE:
        parts = parts[1:]
    if len(parts) == 1 and parts[0] in _NOTES:
        return True
    return not any(one.startswith((".", "~")) or one == "__pycache__" for one in parts)
