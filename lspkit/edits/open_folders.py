"""From a path to the open folder, so that what is checked is what is changed.

A path can be led elsewhere between two calls, by putting a link in the place of a folder. So a
folder is reached from the boundary one name at a time, without following a link, and is then held
open. Before anything is final, `confirm` looks whether the path still leads to it.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from lspkit.boundary import Boundary, is_inside
from lspkit.edits.directory import Directory, Identity, open_base
from lspkit.edits.path_errors import changed_error, error_fields
from lspkit.errors import PathError

#: So many folders are held open at a time, whatever the size of a change.
MOST_OPEN = 128


def base_of(path: str, boundary: Boundary) -> str:
    """The folder from which a path is walked: nobody inside the boundary can replace it."""
    for base in (boundary.outer, boundary.root):
        if is_inside(path, base):
            return base
    return os.path.splitdrive(path)[0] + os.sep


def steps_to(path: str, boundary: Boundary) -> tuple[Directory, list[str]]:
    """The open base of a real path, and the names that lead from there to it."""
    base = base_of(path, boundary)
    names = [name for name in path[len(base) :].split(os.sep) if name]
    return open_base(base), names


def descend(folder: Directory, name: str, boundary: Boundary) -> Directory:
    """One step of the way. What is a link was a folder when the path was looked up."""
    try:
        return folder.child(name)
    except OSError as problem:
        found = folder.look(name) if problem.errno in (errno.ENOTDIR, errno.ELOOP) else None
        if found is None or not stat.S_ISLNK(found.st_mode):
            raise
        raise _replaced_error(os.path.join(folder.path, name), boundary) from None


def _replaced_error(path: str, boundary: Boundary) -> PathError:
    message = f"the folder {path} was replaced while it was being changed; nothing was written"
    return changed_error(message, **error_fields(path, boundary))


def open_folder(path: str, boundary: Boundary) -> Directory:
    """The folder at a real path that has passed the checks of the boundary."""
    folder, names = steps_to(path, boundary)
    for name in names:
        with folder:
            folder = descend(folder, name, boundary)
    return folder


def confirm(path: str, known: Identity, boundary: Boundary) -> None:
    """Raises `ECHANGED` unless the path still leads to the folder that is known."""
    try:
        with open_folder(path, boundary) as folder:
            if folder.identity() == known:
                return
    except (FileNotFoundError, NotADirectoryError):
        pass  # it was moved away, and nothing put in its place, or something else
    raise _replaced_error(path, boundary)


class OpenFolders:
    """The folders that one change works in: opened when first needed, then held.

    Of very many, those used longest ago are closed; when such a one is needed again, it has to be
    the same as before. For one thread.
    """

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        #: Least recently used first.
        self._open: collections.OrderedDict[str, Directory] = collections.OrderedDict()
        self._known: dict[str, Identity] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for folder in self._open.values():
            folder.close()
        self._open.clear()

    def at(self, path: str) -> Directory:
        """The folder at a real path, valid until so many others were asked for."""
        if folder := self._open.get(path):
            self._open.move_to_end(path)
            return folder
        above, name = os.path.split(path)
        if parent := self._open.get(above):
            folder = descend(parent, name, self.boundary)
        else:
            folder = open_folder(path, self.boundary)
        found = folder.identity()
        if self._known.setdefault(path, found) != found:
            folder.close()
            raise _replaced_error(path, self.boundary)
        self._open[path] = folder
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return folder

    def home(self, path: str) -> tuple[Directory, str]:
        """The folder that a path lies in, and its name there."""
        parent, name = os.path.split(path)
        return self.at(parent), name

    def forget(self, path: str) -> None:
        """Of a folder that is removed or made: the next one of that name is another."""
        self._known.pop(path, None)
        if folder := self._open.pop(path, None):
            folder.close()

    def confirm(self) -> None:
        """Raises `ECHANGED` if one of them is no longer where it was."""
        for path, known in self._known.items():
            confirm(path, known, self.boundary)


@contextlib.contextmanager
def reach_folder(path: str, boundary: Boundary, *, make: bool = False) -> Iterator[Directory]:
    """The folder at a real path; with `make`, what is missing of it is made.

    What was made is removed again if the body fails.
    """
    made: list[tuple[Directory, str]] = []
    with contextlib.ExitStack() as held:
        folder, names = steps_to(path, boundary)
        held.enter_context(folder)
        try:
            for name in names:
                if make and folder.look(name) is None:
                    made.append((folder, name))
                    try:
                        folder.make(name)
                    except FileExistsError:  # somebody else was quicker
                        made.pop()
                folder = held.enter_context(descend(folder, name, boundary))
            yield folder
        except BaseException:
            for parent, name in reversed(made):
                with contextlib.suppress(OSError):  # somebody else uses it by now
                    parent.remove(name)
            raise
