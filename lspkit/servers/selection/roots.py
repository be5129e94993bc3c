"""The root of a file: the folder in which its server runs."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from lspkit.servers.definition import Definition


def root_of(path: str, definition: Definition, workspace: str) -> str:
    """The folder in which a server for this file is started. Both are real paths.

    The nearest folder above the file with a marker, up to the workspace, or else the workspace;
    but if an `outermost` marker is found, the outermost folder that has one.
    """
    folders = list(upwards(path, workspace))
    for folder in reversed(folders):
        if has_marker(folder, definition.roots.outermost):
            return folder
    for folder in folders:
        if has_marker(folder, definition.roots.markers):
            return folder
    return workspace


def is_wanted(path: str, definition: Definition, workspace: str) -> bool:
    """Whether the markers above the file allow this server."""
    folders = list(upwards(path, workspace))
    if any(has_marker(folder, definition.roots.kept_out_by) for folder in folders):
        return False
    return not definition.roots.only_with or any(
        has_marker(folder, definition.roots.only_with) for folder in folders
    )


def upwards(path: str, workspace: str) -> Iterator[str]:
    """The folders from that of the file up to the workspace; none for a file outside."""
    folder = os.path.dirname(path)
    while folder == workspace or folder.startswith(workspace.rstrip(os.sep) + os.sep):
        yield folder
        if folder == workspace:
            return
        folder = os.path.dirname(folder)


def has_marker(folder: str, markers: tuple[str, ...]) -> bool:
    """Whether the folder contains one of the names, or a name that fits a glob."""
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
