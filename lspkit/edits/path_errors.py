"""Which paths an edit may change, and the errors that refuse the others.

`locate` in `workspace_boundary.py` checks files that are read. A change may also concern a folder,
a symbolic link itself, or a path that does not exist yet: `name_to_change` checks these. Nothing
here opens or changes a file.
"""

from __future__ import annotations

import os

from lspkit.errors import PathError
from lspkit.workspace_boundary import Boundary, absolute_path, is_excluded, is_inside


def changed_error(message: str, **error_fields: str) -> PathError:
    """The disk differs from the state that the change was prepared for. Nothing was done."""
    return PathError(message, code="ECHANGED", **error_fields)


def write_error(message: str, **error_fields: str) -> PathError:
    """The disk, its permissions, or an existing file prevent the write."""
    return PathError(message, code="EWRITE", **error_fields)


def error_fields(given: str, boundary: Boundary, resolved: str = "") -> dict[str, str]:
    """The fields that every `PathError` of a change carries."""
    return {"path": given, "resolved": resolved or given, "boundary": boundary.root}


def name_to_change(given: str | os.PathLike[str], boundary: Boundary) -> str:
    """The path that a caller means. Links in its folders are followed, a link at its end is not.

    So a link itself can be moved or deleted. The path must be inside the boundary, not excluded.
    """
    text = os.fspath(given)
    path = absolute_path(text, boundary.root)
    head, name = os.path.split(path.rstrip(os.sep))
    if name in ("", os.curdir, os.pardir):
        real = real_path(text, path, boundary)
    else:
        real = os.path.join(real_path(text, head, boundary), name)
    refuse_place(text, real, boundary)
    return real


def name_leading_inside(given: str | os.PathLike[str], boundary: Boundary) -> str:
    """As `name_to_change`; the target of a link must be inside the boundary, too."""
    text, real = os.fspath(given), name_to_change(given, boundary)
    refuse_place(text, real_path(text, real, boundary), boundary)
    return real


def real_path(given: str, path: str, boundary: Boundary) -> str:
    """The path with all links resolved."""
    try:
        return os.path.realpath(path)
    except OSError as problem:  # a link was removed meanwhile
        message = f"{given} was changed by another process meanwhile; nothing was written"
        raise changed_error(message, **error_fields(given, boundary, path)) from problem


def refuse_place(given: str, real: str, boundary: Boundary) -> None:
    """Raises a `PathError` if nothing may be changed at this real path."""
    inside = is_inside(real, boundary.root) or is_inside(real, boundary.outer)
    about = error_fields(given, boundary, real)
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
