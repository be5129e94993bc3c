"""The state of paths on disk and after a planned change.

A change is simulated on a `PlannedTree` before anything is written: the tree reads the current
state of a path when it is needed, and stores the planned one. The result is a `PlannedChange` for
each path that differs. Contents are kept in memory, since undoing the change needs them.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Literal

import msgspec

from lspkit.edits.directory import Directory
from lspkit.edits.open_folders import OpenFolders, base_of
from lspkit.edits.path_errors import error_fields, refuse_place, write_error
from lspkit.errors import PathError

#: Most bytes of a change: all contents are kept in memory.
MOST_BYTES = 512 * 1024 * 1024

Kind = Literal["nothing", "file", "link", "folder"]


class FileState(msgspec.Struct, frozen=True):
    """The state of a path."""

    kind: Kind = "nothing"
    #: The bytes of a file, or the target of a link.
    data: bytes = b""
    #: Permission bits; None: the default mode.
    mode: int | None = None
    #: User and group; None: those of this process.
    owner: tuple[int, int] | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it is a file or a link."""
        return self.kind in ("file", "link")

    def is_same(self, other: FileState) -> bool:
        """Whether the states are equal. The owner, and the mode of folders, are ignored."""
        if self.kind == "folder":
            return other.kind == "folder"
        return (self.kind, self.data, self.mode) == (other.kind, other.data, other.mode)


NOTHING = FileState()


class PlannedChange(msgspec.Struct, frozen=True):
    """The change of one path."""

    path: str
    before: FileState
    after: FileState
    #: For a folder that is removed: it is kept if it is not empty.
    if_empty: bool = False


def state_of(folder: Directory, name: str) -> FileState:
    """The state of the entry with that name; `OSError` if it is not a file, link or folder."""
    status = folder.look(name)
    if status is None:
        return NOTHING
    if stat.S_ISDIR(status.st_mode):
        return FileState(
            "folder", b"", stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
        )
    if stat.S_ISLNK(status.st_mode):
        return FileState("link", folder.target(name))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    data, status = folder.read(name)
    return FileState("file", data, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


class PlannedTree:
    """The paths that a change concerns, before and after it."""

    def __init__(self, folders: OpenFolders) -> None:
        self.folders = folders
        self.boundary = folders.boundary
        self._before: dict[str, FileState] = {}
        self._after: dict[str, FileState] = {}
        #: The known paths, by parent folder.
        self._inside: dict[str, set[str]] = {}
        self._if_empty: set[str] = set()
        self._size = 0

    def at(self, path: str) -> FileState:
        """The state of a path after the planned changes so far."""
        if path not in self._after:
            self._before[path] = self._after[path] = self._read(path)
            self._inside.setdefault(os.path.dirname(path), set()).add(path)
        return self._after[path]

    def is_on_disk(self, path: str) -> bool:
        """Whether the state of the path is the one on disk."""
        return self.at(path) is self._before[path]

    def put(self, path: str, state: FileState, *, if_empty: bool = False) -> None:
        """Plan the state of a path, with its missing parent folders."""
        self.at(path)
        self._after[path] = state
        if if_empty:
            self._if_empty.add(path)
        if state.kind != "nothing":
            self._add_parents(path)

    def below(self, folder: str) -> list[str]:
        """All paths in a folder, folders before their contents. Each must be allowed."""
        paths, waiting = list[str](), [folder]
        while waiting:
            for path in self._entries(waiting.pop()):
                refuse_place(path, path, self.boundary)
                kind = self.at(path).kind
                if kind != "nothing":
                    paths.append(path)
                if kind == "folder":
                    waiting.append(path)
        return sorted(paths)

    def changes(self) -> list[PlannedChange]:
        """The paths that differ, sorted."""
        return [
            PlannedChange(path, self._before[path], after, path in self._if_empty)
            for path, after in sorted(self._after.items())
            if not after.is_same(self._before[path])
        ]

    def _entries(self, folder: str) -> set[str]:
        known = self._inside.get(folder, set())
        if self._before[folder].kind != "folder":
            return set(known)
        try:
            names = self.folders.at(folder).names()
        except OSError as problem:
            raise self._unreadable_error(folder, problem) from problem
        return known | {os.path.join(folder, name) for name in names}

    def _add_parents(self, path: str) -> None:
        above, base = os.path.dirname(path), base_of(path, self.boundary)
        while above != base and self.at(above).kind != "folder":
            if self.at(above).kind != "nothing":
                message = f"{path} cannot be created: {above} is not a folder; nothing was written"
                raise write_error(message, **error_fields(path, self.boundary))
            self._after[above] = FileState("folder")
            above = os.path.dirname(above)

    def _read(self, path: str) -> FileState:
        above, name = os.path.split(path)
        try:
            folder = self.folders.at(above)
            status = folder.look(name)
            self._size += 0 if status is None else status.st_size
            if self._size > MOST_BYTES:
                message = f"the change touches more than {MOST_BYTES} bytes; nothing was written"
                raise write_error(message, **error_fields(path, self.boundary))
            return state_of(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            return NOTHING
        except OSError as problem:
            raise self._unreadable_error(path, problem) from problem

    def _unreadable_error(self, path: str, problem: OSError) -> PathError:
        why = problem.strerror or str(problem)
        message = f"{path} cannot be read: {why}; nothing was written"
        return PathError(message, code="ENOENT", **error_fields(path, self.boundary))
