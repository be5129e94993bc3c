"""Which files may be touched: one function, `locate`, for every door.

A path counts by where it really is: links are followed first, then it has to lie inside the
workspace (or the git work tree around it), segment by segment, and outside the excluded folders.
Only regular files qualify: a FIFO or a device would hold its reader up for ever.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable

import msgspec

from lspkit.errors import PathError
from lspkit.late_imports import safe_imports
from lspkit.limits import LONGEST_PATH
from lspkit.protocol.globs import compile_glob

#: More links than this on the way to a file lead nowhere: so does Linux count.
MOST_LINKS = 40

#: Where links lead elsewhere for every process.
_PROC = "/proc"


class Boundary(msgspec.Struct, frozen=True):
    """What a workspace may touch. Both folders are real paths."""

    root: str
    #: The git work tree that the root lies in, or the root itself.
    outer: str
    exclude: tuple[str, ...] = ()
    allow_external: bool = False
    #: Whatever is changed lies in this folder; empty stands for the root.
    writable: str = ""

    def for_changes(self) -> Boundary:
        """The boundary of whatever changes the disk. It is never wider than that of questions."""
        return msgspec.structs.replace(self, outer=self.writable or self.root, allow_external=False)


class Located(msgspec.Struct, frozen=True):
    """A path that has passed. `stat` is None for a file that is not there yet."""

    path: str
    stat: os.stat_result | None


def boundary_of(
    root: str,
    *,
    exclude: tuple[str, ...] = (),
    allow_external: bool = False,
    edit_work_tree: bool = False,
) -> Boundary:
    """The boundary of a workspace at `root`, which has to be a folder.

    With `edit_work_tree` all of the git work tree may be changed, unless the home folder lies in
    it: many keep the files of their shell in such a repository.
    """
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        what = "is no folder" if os.path.exists(real) else "does not exist"
        raise PathError(
            f"the workspace root {root} {what}", code="ENOENT", path=str(root), resolved=real
        )
    outer = work_tree(real)
    widened = edit_work_tree and not is_inside(os.path.realpath(os.path.expanduser("~")), outer)
    return Boundary(real, outer, exclude, allow_external, outer if widened else "")


def work_tree(folder: str) -> str:
    """The git work tree that a folder lies in, or the folder itself."""
    at = folder
    while True:
        if os.path.exists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at:
            return folder
        at = above


def project_tree(workspace: str) -> str:
    """All that belongs to the project of a workspace: the work tree around it.

    Where that holds the user's home, only the workspace: the rest is the user's.
    """
    tree, home = work_tree(workspace), own_home()
    return workspace if home and is_inside(home, tree) else tree


@functools.cache
def own_home() -> str:
    """The real path of the user's home, whatever the environment says; empty if there is none."""
    if os.name != "posix":
        return os.path.realpath(os.path.expanduser("~"))
    with safe_imports():
        import pwd  # here: Windows has none

    try:
        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return ""


def is_inside(path: str, folder: str) -> bool:
    """Segment-safe: `/work2` is not inside `/work`."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def leads_through(path: str, folder: str) -> bool:
    """Whether an absolute path ends in a folder, or has something of it on its way.

    What lies in the folder may be a link, which leads out today and elsewhere tomorrow. `folder` is
    a real path. Links without an end count, too, and what each process sees differently:
    `/proc/self/cwd` is the project for a server that works there.
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
    """Whether one of the exclude patterns fits the path, seen from the workspace root."""
    relative = os.path.relpath(path, boundary.root).replace(os.sep, "/")
    return any(fits(relative) for fits in _matchers(boundary.exclude))


def _matchers(patterns: tuple[str, ...]) -> list[Callable[[str], bool]]:
    return [compile_glob(pattern) for pattern in patterns]


def written(given: str | os.PathLike[str], root: str) -> str:
    """The absolute path that a caller means, links not yet followed.

    One leading `@`, as models like to write it, is dropped, unless a file has that very name.
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
        message = f"{text!r} is no name that a file can have"
        raise PathError(message, code="ENOENT", path=text) from None
    path = os.path.join(root, text)
    if text.startswith("@") and not os.path.lexists(path):
        path = os.path.join(root, text[1:])
    return path


def locate(
    given: str | os.PathLike[str], boundary: Boundary, *, may_be_missing: bool = False
) -> Located:
    """The real path of a file that may be touched, or a `PathError` that says why not."""
    text = os.fspath(given)
    path = written(text, boundary.root)
    try:
        real = os.path.realpath(path)
    except OSError:  # a link on the way went while it was followed
        message = f"{text} does not exist"
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
        found = os.stat(real)
    except (FileNotFoundError, NotADirectoryError):
        if may_be_missing:
            return Located(real, None)
        raise PathError(f"{text} does not exist", code="ENOENT", **facts) from None
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise PathError(f"{text} cannot be looked at: {why}", code="ENOENT", **facts) from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise PathError(f"{text or 'an empty path'} is {kind}", code="ENOENT", **facts)
    return Located(real, found)
