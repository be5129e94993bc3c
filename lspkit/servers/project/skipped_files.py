"""Files that a server does not check because of their folder.

It reads such a file when it is open, answers requests about it, and always reports an empty list.
Its definition names these folders. What the project's configuration excludes or includes besides is
not considered: that is the project's decision.
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
    """The name of the folder because of which it skips the file; empty if it checks it.

    All are real paths; the root is the server's.
    """
    patterns = definition.caveats.skipped_folders
    # Most paths contain no such name, and this is called for each empty list.
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
    """A pattern that fits every name that one of these fits, without folders."""
    return re.compile("|".join(fnmatch.translate(one.rpartition("/")[2]) for one in patterns))


def _reaches(reach: str, folder: str, definition: Definition, root: str, workspace: str) -> bool:
    """Whether a folder lies where this pattern applies."""
    parent = os.path.dirname(folder)
    match reach:
        case "**/":
            return True
        case "./":
            return any(upwards(folder, root))
        case "/":
            return parent == workspace or has_marker(parent, _markers(definition))
    # Servers look for their project upwards, beyond the workspace.
    return any(upwards(folder, workspace)) or any(
        has_marker(above, _markers(definition)) for above in _folders(folder)
    )


def _markers(definition: Definition) -> tuple[str, ...]:
    """The markers by which the server itself finds its project, without configured roots."""
    from lspkit.servers.built_in import BUILT_IN  # here: to keep `import lspkit` quick

    known = next((one for one in BUILT_IN if one.id == definition.id), definition)
    return known.roots.markers


def _folders(path: str) -> Iterator[str]:
    """All folders above a path, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder
