"""Repositories inside of another one: trust in the outer one does not extend to them.

A server runs in a root, and a file may lie in a clone or submodule below that root. If the root is
trusted and the clone is not, the file belongs to no server of that root: an unrestricted server
uses what it finds beside and above each file that it is shown.
"""

from __future__ import annotations

import os

from lspkit.servers.definition import Definition
from lspkit.servers.restriction.trust_profile import Permits
from lspkit.servers.selection.roots import root_of
from lspkit.workspace_boundary import is_inside


def trusted_root_of(path: str, definition: Definition, workspace: str, permits: Permits) -> str:
    """The root of a file, inside the repository to which trust in an outer root does not extend."""
    root = root_of(path, definition, workspace)
    if is_reached(path, root, permits):
        return root
    return root_of(path, definition, nested_repositories(path, root)[0])


def is_reached(path: str, root: str, permits: Permits) -> bool:
    """Whether trust in the root, if there is any, extends to a file."""
    nested = nested_repositories(path, root)
    return not nested or not permits(root).trusted or all(permits(one).trusted for one in nested)


def nested_repositories(path: str, root: str) -> list[str]:
    """The repositories that hold a file and not the root, the innermost first.

    For a file outside of the root, a repository that holds both does not count, either.
    """
    folder = os.path.dirname(path)
    found: list[str] = []
    while not is_inside(root, folder):
        if _is_top(folder):
            found.append(folder)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return found


def _is_top(folder: str) -> bool:
    try:
        os.lstat(os.path.join(folder, ".git"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # an unreadable one counts as a repository
    return True
