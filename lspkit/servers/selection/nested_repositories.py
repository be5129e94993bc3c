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
from lspkit.workspace_boundary import folders_above, is_inside


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
    if not path.startswith(root + os.sep):
        return [one for one in folders_above(path) if not is_inside(root, one) and _is_top(one)]
    # By names, from the root inwards: this runs before every request.
    found: list[str] = []
    folder = root
    for name in path[len(root) :].split(os.sep)[1:-1]:
        folder += os.sep + name
        if name and _is_top(folder):
            found.insert(0, folder)
    return found


def _is_top(folder: str) -> bool:
    try:
        os.lstat(f"{folder}{os.sep}.git")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # an unreadable one counts as a repository
    return True
