"""Folders of installed packages, which are far too many to be watched as a whole.

Of these only what shows that a package came, went or is another by now is watched: the folder that
holds the packages, with the files that package managers keep there, and the folder of each package
itself, not those in it. In a virtual environment that includes the way to its packages.

    node_modules  node_modules/@scope  node_modules/name  node_modules/@scope/name
    node_modules/.pnpm
    .venv  .venv/lib  .venv/lib/python3.x  .venv/lib/python3.x/site-packages  …/site-packages/name
"""

from __future__ import annotations

import os
import re

from lspkit.workspace_boundary import is_inside

#: Where packages of one kind lie, as the definitions of servers name it.
NODE, PYTHON = "node_modules", "site-packages"

#: So many packages of one folder are watched by themselves; of the others it is seen that they come
#: and go, and what package managers note down.
MOST = 500

_HOLDERS = re.compile(
    r"(?:(?!/node_modules/).)*/node_modules(?:/\.pnpm|/@[^/]+)?"
    r"|.*/\.?venv(?:/[lL]ib(?:/python[^/]*)?)?"
    r"|.*/site-packages",
    re.DOTALL,
)
_PACKAGES = re.compile(r"/(?:node_modules(?:/@[^/]+)?|site-packages)$")
_FIRST = re.compile(r"/(node_modules|\.?venv|site-packages)(?:/|$)")
#: What lies among packages and is none: caches, programs, what is about to be removed, what is
#: known of a package.
_NONE = re.compile(r"\.|~|@|__pycache__$|.*\.(?:dist|egg)-info$")


class PackageFolder:
    """A path below a workspace, or anywhere else."""

    def __init__(self, path: str, workspace: str) -> None:
        # What the workspace itself lies in is no matter.
        inner = path[len(workspace.rstrip(os.sep)) :] if is_inside(path, workspace) else path
        self._inner = inner.replace(os.sep, "/")
        found = _FIRST.search(self._inner)
        name = found[1] if found else ""
        #: Among which packages it lies, or which it holds; empty if there are none.
        self.kind = NODE if name == NODE else PYTHON if name else ""
        #: The outermost folder of these.
        self.top = path[: len(path) - len(inner) + found.end(1)] if found else ""

    @property
    def holds_packages(self) -> bool:
        """Whether it is a folder that holds packages, or is on the way to them."""
        return _HOLDERS.fullmatch(self._inner) is not None

    @property
    def is_package(self) -> bool:
        """Whether it is the folder of a package."""
        above, _, name = self._inner.rpartition("/")
        holds = _HOLDERS.fullmatch(above) is not None and _PACKAGES.search(above) is not None
        return holds and _NONE.match(name) is None
