"""Why a change of the disk is refused: which names may be changed, and the errors that say no.

`locate` in `boundary.py` answers for files that are read. A change may also be about a folder,
about a link itself, or about something that is not there yet: `named` answers for these. Nothing
here opens or changes anything.
"""

from __future__ import annotations

import os

from lspkit.boundary import Boundary, is_excluded, is_inside, written
from lspkit.errors import PathError


def changed_since(message: str, **facts: str) -> PathError:
    """Something on disk is no longer what it was when the change was made up. Nothing was done."""
    return PathError(message, code="ECHANGED", **facts)


def refused_by_disk(message: str, **facts: str) -> PathError:
    """The disk, its permissions, or what is already there do not let it be written."""
    return PathError(message, code="EWRITE", **facts)


def facts(given: str, boundary: Boundary, resolved: str = "") -> dict[str, str]:
    """The fields that every `PathError` of a change carries."""
    return {"path": given, "resolved": resolved or given, "boundary": boundary.root}


def named(given: str | os.PathLike[str], boundary: Boundary) -> str:
    """The name that a caller means: links on the way to it are followed, a link at its end is not.

    So a link can be moved and deleted like any other name. It has to be inside and not excluded.
    """
    text = os.fspath(given)
    path = written(text, boundary.root)
    head, name = os.path.split(path.rstrip(os.sep))
    if name in ("", os.curdir, os.pardir):
        real = followed(text, path, boundary)
    else:
        real = os.path.join(followed(text, head, boundary), name)
    refuse_place(text, real, boundary)
    return real


def leading_inside(given: str | os.PathLike[str], boundary: Boundary) -> str:
    """As `named`; and if it is a link, where that leads may be changed, too."""
    text, real = os.fspath(given), named(given, boundary)
    refuse_place(text, followed(text, real, boundary), boundary)
    return real


def followed(given: str, path: str, boundary: Boundary) -> str:
    """The real path of a path."""
    try:
        return os.path.realpath(path)
    except OSError as problem:  # a link went away while it was being read
        message = f"{given} was changed by somebody else at the same moment; nothing was written"
        raise changed_since(message, **facts(given, boundary, path)) from problem


def refuse_place(given: str, real: str, boundary: Boundary) -> None:
    """Raises a `PathError` if nothing may be changed at this real path."""
    inside = is_inside(real, boundary.root) or is_inside(real, boundary.outer)
    about = facts(given, boundary, real)
    if not (inside or boundary.allow_external):
        message = (
            f"{given} lies outside the workspace {boundary.root}; "
            'edits.boundary "worktree" in your own lsp.json lets edits reach its git work tree'
        )
        raise PathError(message, code="EOUTSIDE", **about)
    if is_inside(boundary.root, real):
        message = f"{given} is the workspace itself, or a folder around it"
        raise PathError(message, code="EOUTSIDE", **about)
    if is_excluded(real, boundary):
        raise PathError(f"{given} is excluded by the configuration", code="EEXCLUDED", **about)
