"""The root of a file: where its server works."""

from __future__ import annotations

import fnmatch
import os


def root_of(path: str, markers: tuple[str, ...], workspace: str) -> str:
    """The nearest folder above `path` with a marker, not above the workspace; else the workspace.

    Both are real paths. A file outside the workspace has the workspace as its root.
    """
    folder = os.path.dirname(path)
    while folder == workspace or folder.startswith(workspace.rstrip(os.sep) + os.sep):
        if has_marker(folder, markers):
            return folder
        if folder == workspace:
            break
        folder = os.path.dirname(folder)
    return workspace


def has_marker(folder: str, markers: tuple[str, ...]) -> bool:
    """Whether one of the names, or a name that fits one of the globs, is in the folder."""
    for marker in markers:
        if not any(sign in marker for sign in "*?["):
            if os.path.exists(os.path.join(folder, marker)):
                return True
            continue
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if fnmatch.filter(names, marker):
            return True
    return False
