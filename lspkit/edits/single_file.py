"""Operations on a single file: replace, remove, move and read.

`apply.py` changes several files, all or none. Each function here checks the path, opens its folder
without following links, and makes the change with a single rename or unlink, so that no process
sees a partial file. On failure the file is unchanged and no temporary file is left.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator

from lspkit.edits.directory import Directory, identity, spare_name
from lspkit.edits.open_folders import confirm, reach_folder
from lspkit.edits.path_errors import changed_error, error_fields, name_leading_inside, write_error
from lspkit.errors import PathError
from lspkit.workspace_boundary import Boundary, Located, locate

GivenPath = str | os.PathLike[str]
#: Called with the number of each step before it is made. For tests.
BeforeStep = Callable[[int], None]


def no_step(number: int) -> None:
    """Do nothing."""


def replace(
    path: GivenPath,
    data: bytes,
    boundary: Boundary,
    *,
    make_folders: bool = False,
    before_step: BeforeStep = no_step,
) -> str:
    """Write a file, whether it exists or not, and return its real path.

    If the path is a link, its target is replaced. The mode of the file is kept.
    """
    given = os.fspath(path)
    boundary = boundary.for_changes()
    located = _locate(path, boundary, may_be_missing=True)
    before_step(0)
    parent, name = os.path.split(located.path)
    with (
        _as_path_errors(given, boundary, "written"),
        reach_folder(parent, boundary, make=make_folders) as folder,
    ):
        found = folder.look(name)
        refuse_to_replace(given, name, found, folder, boundary)
        spare = spare_name()
        try:
            if found is None:
                folder.write(spare, data)
            else:
                mode, owner = stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid)
                folder.write(spare, data, mode, owner)
            before_step(1)
            confirm(parent, folder.identity(), boundary)
            folder.rename(spare, folder, name)
        except BaseException:
            folder.discard(spare)
            raise
    return located.path


def refuse_to_replace(
    given: str, name: str, found: os.stat_result | None, folder: Directory, boundary: Boundary
) -> None:
    """Raise a `PathError` unless a new file may replace the present entry."""
    if found is None:
        return
    about = error_fields(given, boundary, os.path.join(folder.path, name))
    if not stat.S_ISREG(found.st_mode):
        message = f"{given} is no longer a regular file; nothing was written"
        raise changed_error(message, **about)
    if not folder.writable(name):
        raise write_error(f"{given} is write-protected; nothing was written", **about)


def remove(path: GivenPath, boundary: Boundary, *, before_step: BeforeStep = no_step) -> str:
    """Delete a file and return its path. Of a link, only the link is deleted."""
    boundary = boundary.for_changes()
    _locate(path, boundary)
    real, given = name_leading_inside(path, boundary), os.fspath(path)
    before_step(0)
    parent, name = os.path.split(real)
    with _as_path_errors(given, boundary, "deleted"), reach_folder(parent, boundary) as folder:
        before_step(1)
        confirm(parent, folder.identity(), boundary)
        folder.unlink(name)
    return real


def move(
    old: GivenPath,
    new: GivenPath,
    boundary: Boundary,
    *,
    overwrite: bool = False,
    make_folders: bool = False,
    before_step: BeforeStep = no_step,
) -> tuple[str, str]:
    """Move a file and return both paths. A link itself is moved, not its target."""
    boundary = boundary.for_changes()
    _locate(old, boundary)
    _locate(new, boundary, may_be_missing=True)
    source, target = name_leading_inside(old, boundary), name_leading_inside(new, boundary)
    before_step(0)
    (parent, name), (new_parent, new_name) = os.path.split(source), os.path.split(target)
    with (
        _as_path_errors(os.fspath(old), boundary, f"moved to {os.fspath(new)}"),
        reach_folder(parent, boundary) as folder,
        reach_folder(new_parent, boundary, make=make_folders) as goal,
    ):
        before_step(1)
        confirm(parent, folder.identity(), boundary)
        confirm(new_parent, goal.identity(), boundary)
        found, there = folder.look(name), goal.look(new_name)
        if source == target or (found and there and _is_same(found, there, name, new_name)):
            folder.rename(name, goal, new_name)
        elif overwrite:
            if there is not None and not stat.S_ISLNK(there.st_mode):
                refuse_to_replace(os.fspath(new), new_name, there, goal, boundary)
            folder.rename(name, goal, new_name)
        else:
            folder.rename_new(name, goal, new_name)
    return source, target


def _is_same(one: os.stat_result, other: os.stat_result, name: str, new_name: str) -> bool:
    """Whether two spellings name one file on a case-insensitive file system."""
    return identity(one) == identity(other) and name.casefold() == new_name.casefold()


def read_bytes(path: GivenPath, boundary: Boundary, *, before_step: BeforeStep = no_step) -> bytes:
    """The bytes of a file."""
    located = _locate(path, boundary)
    before_step(0)
    parent, name = os.path.split(located.path)
    with (
        _as_path_errors(os.fspath(path), boundary, "read"),
        reach_folder(parent, boundary) as folder,
    ):
        return folder.read(name)[0]


def begins_with(
    path: GivenPath, start: bytes, boundary: Boundary, *, before_step: BeforeStep = no_step
) -> bool:
    """Whether a file that is to be replaced begins with these bytes; False if there is none."""
    given, boundary = os.fspath(path), boundary.for_changes()
    located = _locate(path, boundary, may_be_missing=True)
    if located.stat is None:
        return False
    before_step(0)
    parent, name = os.path.split(located.path)
    with _as_path_errors(given, boundary, "read before it is written"):
        try:
            with reach_folder(parent, boundary) as folder:
                return folder.read(name, len(start))[0] == start
        except FileNotFoundError:  # it was deleted meanwhile
            return False


def _locate(path: GivenPath, boundary: Boundary, *, may_be_missing: bool = False) -> Located:
    # A link may be removed while it is resolved.
    with _as_path_errors(os.fspath(path), boundary, "followed"):
        return locate(path, boundary, may_be_missing=may_be_missing)


@contextlib.contextmanager
def _as_path_errors(given: str, boundary: Boundary, doing: str) -> Iterator[None]:
    """Convert an `OSError` to a `PathError` with the path as the caller gave it."""
    try:
        yield
    except PathError as problem:  # it may be about a parent folder
        fields = {**problem.fields, "path": given}
        raise type(problem)(problem.message, code=problem.code, **fields) from problem
    except (FileNotFoundError, NotADirectoryError) as problem:
        message = f"{given} cannot be {doing}: it, or one of its folders, does not exist"
        raise PathError(message, code="ENOENT", **error_fields(given, boundary)) from problem
    except FileExistsError as problem:
        message = f"{given} cannot be {doing}: the name exists already"
        raise write_error(message, **error_fields(given, boundary)) from problem
    except OSError as problem:
        message = f"{given} cannot be {doing}: {problem.strerror or problem}"
        if doing == "read":
            raise PathError(message, code="ENOENT", **error_fields(given, boundary)) from problem
        raise write_error(message, **error_fields(given, boundary)) from problem
