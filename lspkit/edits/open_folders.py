"""Opens folders by path, so that the folder that was checked is the one that is changed.

A path can be redirected between two calls, by replacing a folder with a link. So a folder is opened
from the boundary one name at a time, without following links, and is kept open. Before a change is
final, `confirm` checks that the path still leads to it.
"""

from __future__ import annotations

import collections
import errno
import os
import stat
from typing import Self

from lspkit.edits.directory import Directory, Identity, open_base
from lspkit.edits.path_errors import changed_error, error_fields
from lspkit.errors import PathError
from lspkit.workspace_boundary import Boundary, is_inside

#: Folders that are kept open at a time.
MOST_OPEN = 128


def base_of(path: str, boundary: Boundary) -> str:
    """The folder from which a path is opened. It cannot be replaced from inside the boundary."""
    for base in (boundary.outer, boundary.root):
        if is_inside(path, base):
            return base
    return os.path.splitdrive(path)[0] + os.sep


def steps_to(path: str, boundary: Boundary) -> tuple[Directory, list[str]]:
    """The open base folder of a real path, and the remaining names of the path."""
    base = base_of(path, boundary)
    names = [name for name in path[len(base) :].split(os.sep) if name]
    return open_base(base), names


def descend(folder: Directory, name: str, boundary: Boundary) -> Directory:
    """Open a subfolder. A link means that the folder was replaced."""
    try:
        return folder.child(name)
    except OSError as problem:
        status = folder.look(name) if problem.errno in (errno.ENOTDIR, errno.ELOOP) else None
        if status is None or not stat.S_ISLNK(status.st_mode):
            raise
        raise _replaced_error(os.path.join(folder.path, name), boundary) from None


def _replaced_error(path: str, boundary: Boundary) -> PathError:
    message = f"the folder {path} was replaced while it was being changed; nothing was written"
    return changed_error(message, **error_fields(path, boundary))


def open_folder(path: str, boundary: Boundary) -> Directory:
    """Open the folder at a real path that the boundary allows."""
    folder, names = steps_to(path, boundary)
    for name in names:
        with folder:
            folder = descend(folder, name, boundary)
    return folder


def confirm(path: str, known: Identity, boundary: Boundary) -> None:
    """Raise `ECHANGED` unless the path still leads to the known folder."""
    try:
        with open_folder(path, boundary) as folder:
            if folder.identity() == known:
                return
    except (FileNotFoundError, NotADirectoryError):
        pass  # it was removed or replaced
    raise _replaced_error(path, boundary)


class OpenFolders:
    """The folders that one change uses: opened when first needed, and kept open.

    If there are too many, the least recently used are closed; a folder that is opened again must be
    the same as before. For one thread.
    """

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        #: Least recently used first.
        self._open: collections.OrderedDict[str, Directory] = collections.OrderedDict()
        self._known: dict[str, Identity] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._open.values():
            folder.close()
        self._open.clear()

    def at(self, path: str) -> Directory:
        """The folder at a real path, valid until `MOST_OPEN` others are opened."""
        if folder := self._open.get(path):
            self._open.move_to_end(path)
            return folder
        above, name = os.path.split(path)
        if parent := self._open.get(above):
            folder = descend(parent, name, self.boundary)
        else:
            folder = open_folder(path, self.boundary)
        identity = folder.identity()
        if self._known.setdefault(path, identity) != identity:
            folder.close()
            raise _replaced_error(path, self.boundary)
        self._open[path] = folder
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return folder

    def home(self, path: str) -> tuple[Directory, str]:
        """The parent folder of a path, and its name there."""
        parent, name = os.path.split(path)
        return self.at(parent), name

    def forget(self, path: str) -> None:
        """Close a folder that is removed or created: the next one of that name is another."""
        self._known.pop(path, None)
        if folder := self._open.pop(path, None):
            folder.close()

    def confirm(self) -> None:
        """Raise `ECHANGED` if one of them was moved or replaced."""
        for path, known in self._known.items():
            confirm(path, known, self.boundary)
