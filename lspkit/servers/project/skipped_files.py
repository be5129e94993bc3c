"""Files that a server does not look at because of the folder they lie in.

It reads such a file when it is open, answers questions about it, and reports an empty list whatever
is wrong with it. Which folders these are is in its definition. What the project's own configuration
leaves out besides, or takes in again, is not looked at: that is the project's word.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Iterator

from lspkit.servers.definition import Definition
from lspkit.servers.selection.roots import has_marker, upwards


def passed_over(path: str, definition: Definition, root: str, workspace: str) -> str:
    """The name of the folder for whose sake it passes over the file; empty if it looks at it.

    All are real paths; the root is the server's.
    """
    patterns = definition.caveats.skipped_folders
    # Most paths have no such name in them, and this is asked for each empty list.
    if not patterns or not any(map(_any_of(patterns).fullmatch, path.split(os.sep))):
        return ""
    for folder in _folders(path):
        name = os.path.basename(folder)
        for pattern in patterns:
            reach, slash, wanted = pattern.rpartition("/")
            if fnmatch.fnmatchcase(name, wanted) and _reaches(
                reach + slash, folder, definition, root, workspace
            ):
                return name
    return ""


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Fits every name that one of them fits, wherever it lies."""
    return re.compile("|".join(fnmatch.translate(one.rpartition("/")[2]) for one in patterns))


def _reaches(reach: str, folder: str, definition: Definition, root: str, workspace: str) -> bool:
    """Whether a folder lies where one of its name is passed over."""
    parent = os.path.dirname(folder)
    match reach:
        case "**/":
            return True
        case "./":
            return any(upwards(folder, root))
        case "/":
            return parent == workspace or has_marker(parent, _markers(definition))
    # Servers look for their project upwards, further than the workspace goes.
    return any(upwards(folder, workspace)) or any(
        has_marker(above, _markers(definition)) for above in _folders(folder)
    )


def _markers(definition: Definition) -> tuple[str, ...]:
    """By which the server itself finds its project, whatever roots a user has configured."""
    from lspkit.servers.built_in import BUILT_IN  # here: `import lspkit` need not read the table

    known = next((one for one in BUILT_IN if one.id == definition.id), definition)
    return known.roots.markers


def _folders(path: str) -> Iterator[str]:
    """All folders above a path, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder
