"""Files that a server does not look at because of the folder they lie in.

It reads such a file when it is open, answers questions about it, and reports an empty list whatever
is wrong with it. Which folders these are is in its definition. What the project's own configuration
leaves out besides, or takes in again, is not looked at: that is the project's word.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from lspkit.servers.definition import Definition
from lspkit.servers.roots import has_marker, upwards


def passed_over(path: str, definition: Definition, root: str, workspace: str) -> str:
    """The name of the folder for whose sake it passes over the file; empty if it looks at it.

    All are real paths; the root is the server's.
    """
    for folder in _folders(path) if definition.passes_over else ():
        name = os.path.basename(folder)
        for pattern in definition.passes_over:
            reach, slash, wanted = pattern.rpartition("/")
            if fnmatch.fnmatchcase(name, wanted) and _reaches(
                reach + slash, folder, definition, root, workspace
            ):
                return name
    return ""


def _reaches(reach: str, folder: str, definition: Definition, root: str, workspace: str) -> bool:
    """Whether a folder lies where one of its name is passed over."""
    parent = os.path.dirname(folder)
    match reach:
        case "**/":
            return True
        case "./":
            return any(upwards(folder, root))
        case "/":
            return parent == workspace or has_marker(parent, definition.markers)
    # Servers look for their project upwards, further than the workspace goes.
    return any(upwards(folder, workspace)) or any(
        has_marker(above, definition.markers) for above in _folders(folder)
    )


def _folders(path: str) -> Iterator[str]:
    """All folders above a path, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder
