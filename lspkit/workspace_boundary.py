"""Which files may be accessed. Every interface checks paths with the one function `locate`.

Links are resolved first. The real path must lie inside the workspace (or the git work tree around
it), compared segment by segment, and must not be excluded. Only regular files are allowed: reading
a FIFO or a device could block for ever.
"""

from __future__ import annotations

import functools
import os
import pwd
import stat
from collections.abc import Callable, Iterator

import msgspec

from lspkit.errors import PathError
from lspkit.limits import LONGEST_PATH
from lspkit.protocol.globs import compile_glob

#: Most symbolic links that are followed in one path, as in Linux.
MOST_LINKS = 40

#: Links below this folder differ between processes.
_PROC = "/proc"


class Boundary(msgspec.Struct, frozen=True):
    """The files that a workspace may access. Both folders are real paths."""

    root: str
    #: The git work tree that contains the root, or the root itself.
    outer: str
    exclude: tuple[str, ...] = ()
    allow_external: bool = False
    #: Only files in this folder may be changed; empty: the root.
    writable: str = ""

    def for_changes(self) -> Boundary:
        """The boundary for changes of the disk. It is never wider than the one for reading."""
        return msgspec.structs.replace(self, outer=self.writable or self.root, allow_external=False)


class Located(msgspec.Struct, frozen=True):
    """A path that passed the check. `stat` is None for a file that does not exist yet."""

    path: str
    stat: os.stat_result | None


def boundary_of(
    root: str,
    *,
    exclude: tuple[str, ...] = (),
    allow_external: bool = False,
    edit_work_tree: bool = False,
) -> Boundary:
    """The boundary of a workspace at `root`, which must be a folder.

    With `edit_work_tree`, the whole git work tree may be changed, unless it contains the home
    folder: many users keep their dotfiles in such a repository.
    """
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        what = "is not a folder" if os.path.exists(real) else "does not exist"
        raise PathError(
            f"the workspace root {root} {what}", code="ENOENT", path=str(root), resolved=real
        )
    outer = work_tree(real)
    widened = edit_work_tree and not is_inside(os.path.realpath(os.path.expanduser("~")), outer)
    return Boundary(real, outer, exclude, allow_external, outer if widened else "")


def work_tree(folder: str) -> str:
    """The git work tree that contains a folder, or the folder itself."""
    for at in (folder, *folders_above(folder)):
        if os.path.exists(os.path.join(at, ".git")):
            return at
    return folder


def project_tree(workspace: str) -> str:
    """The folder of the project: the work tree around the workspace.

    Where the work tree contains the user's home, it is the workspace itself.
    """
    tree, home = work_tree(workspace), own_home()
    return workspace if home and is_inside(home, tree) else tree


@functools.cache
def own_home() -> str:
    """The real path of the user's home by the user database, not by `HOME`; empty if unknown."""
    try:
        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return ""


def folders_above(path: str) -> Iterator[str]:
    """All folders above a path, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is the folder or inside it. `/work2` is not inside `/work`."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def leads_through(path: str, folder: str) -> bool:
    """Whether resolving an absolute path ends in a folder, or passes through it.

    A link inside the folder can be changed later, so passing through is enough. `folder` is a real
    path. True also for endless links, and for paths that differ between processes:
    `/proc/self/cwd` is the project for a server that runs there.
    """
    at, rest = os.path.splitdrive(path)
    start = at = at + os.sep
    steps = rest.split(os.sep)[::-1]
    links = 0
    while steps:
        step = steps.pop()
        if step in ("", os.curdir, os.pardir):
            at = os.path.dirname(at) if step == os.pardir else at
            continue
        above, at = at, os.path.join(at, step)
        if at == _PROC or (at != folder and is_inside(at, folder)):
            return True
        try:
            target = os.readlink(at)
        except (OSError, ValueError):  # no link
            continue
        links += 1
        if links > MOST_LINKS:
            return True
        drive, rest = os.path.splitdrive(target)
        at = (drive + os.sep if drive else start) if os.path.isabs(target) else above
        steps += rest.split(os.sep)[::-1]
    return is_inside(at, folder)


def is_excluded(path: str, boundary: Boundary) -> bool:
    """Whether an exclude pattern matches the path relative to the workspace root."""
    relative = os.path.relpath(path, boundary.root).replace(os.sep, "/")
    return any(fits(relative) for fits in _matchers(boundary.exclude))


def _matchers(patterns: tuple[str, ...]) -> list[Callable[[str], bool]]:
    return [compile_glob(pattern) for pattern in patterns]


def absolute_path(given: str | os.PathLike[str], root: str) -> str:
    """The absolute path that a caller means, with links not yet resolved.

    One leading `@`, as models write it, is dropped unless such a file exists.
    """
    text = os.fspath(given)
    if len(text) > LONGEST_PATH:
        message = f"a path cannot have more than {LONGEST_PATH} characters: {text[:60]}…"
        raise PathError(message, code="ENOENT", path=text)
    if "\0" in text:
        raise PathError("a path cannot contain a NUL character", code="ENOENT", path=text)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        message = f"{text!r} is not a valid file name"
        raise PathError(message, code="ENOENT", path=text) from None
    path = os.path.join(root, text)
    if text.startswith("@") and not os.path.lexists(path):
        path = os.path.join(root, text[1:])
    return path


def not_there(given: str, folder: str) -> str:
    """That a path does not exist, with the folder where a relative one was looked for."""
    where = "" if os.path.isabs(given) else f" in {folder}"
    return f"{given or 'an empty path'} does not exist{where}"


def locate(
    given: str | os.PathLike[str], boundary: Boundary, *, may_be_missing: bool = False
) -> Located:
    """The real path of a file that may be accessed, or a `PathError` that says why not."""
    text = os.fspath(given)
    path = absolute_path(text, boundary.root)
    try:
        real = os.path.realpath(path)
    except OSError:  # a link was removed meanwhile
        message = not_there(text, boundary.root)
        raise PathError(message, code="ENOENT", path=text, boundary=boundary.root) from None
    facts = {"path": text, "resolved": real, "boundary": boundary.root}
    if not (
        boundary.allow_external or is_inside(real, boundary.root) or is_inside(real, boundary.outer)
    ):
        message = f"{text} lies outside the workspace {boundary.root}"
        raise PathError(message, code="EOUTSIDE", **facts)
    if is_excluded(real, boundary):
        raise PathError(f"{text} is excluded by the configuration", code="EEXCLUDED", **facts)
    try:
        status = os.stat(real)
    except (FileNotFoundError, NotADirectoryError):
        if may_be_missing:
            return Located(real, None)
        message = not_there(text, boundary.root)
        raise PathError(message, code="ENOENT", **facts) from None
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise PathError(f"{text} cannot be accessed: {why}", code="ENOENT", **facts) from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise PathError(f"{text or 'an empty path'} is {kind}", code="ENOENT", **facts)
    return Located(real, status)
