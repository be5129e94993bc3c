"""Changes files: checked as a whole, all or none.

`apply` plans an edit that a server proposes (`plan.py`); `write`, `delete` and `move` plan the
change of one file. Each carries the changes out (`transaction.py`) and returns a `Change`, which
has what `undo` needs. On failure, the error names the file and nothing is changed. Servers are not
notified here.
"""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path

from lspkit.diagnostics.report import Change
from lspkit.edit_types import FileOperation, TouchedFile, WorkspaceEdit
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import changed_error, error_fields, name_to_change
from lspkit.edits.plan import plan, refuse_protected
from lspkit.edits.planned_tree import FileState, PlannedChange, PlannedTree
from lspkit.edits.text_edits import encode
from lspkit.edits.transaction import BeforeStep, carry_out, no_step
from lspkit.protocol.text import BYTE_ORDER_MARK
from lspkit.workspace_boundary import Boundary, locate


def apply(
    edit: WorkspaceEdit,
    boundary: Boundary,
    *,
    versions: Mapping[str, int] | None = None,
    before_step: BeforeStep = no_step,
) -> Change:
    """Apply an edit, all of it or nothing.

    `versions` are the server's current versions of its open documents, by URI.
    """
    with OpenFolders(boundary.for_changes()) as folders:
        changes = plan(edit, folders, versions or {})
        return Change(edit, _touched_files(changes, folders, before_step))


def write(path: str, text: str, boundary: Boundary, *, before_step: BeforeStep = no_step) -> Change:
    """Write a file, whether it exists or not. Missing folders are created.

    If the path is a link, its target is replaced. Mode and byte order mark of the file are kept.
    """
    with OpenFolders(boundary.for_changes()) as folders:
        tree = PlannedTree(folders)
        real = locate(path, folders.boundary, may_be_missing=True).path
        state = tree.at(real)
        refuse_protected(tree, path, real)
        is_marked = state.data.startswith(BOM_UTF8) and not text.startswith(BYTE_ORDER_MARK)
        data = encode(BOM_UTF8 if is_marked else b"", text, path)
        tree.put(real, FileState("file", data, state.mode, state.owner))
        return Change(touched=_touched_files(tree.changes(), folders, before_step))


def delete(path: str, boundary: Boundary) -> Change:
    """Delete a file. Of a link, only the link is deleted."""
    locate(path, boundary.for_changes())
    operation = FileOperation("delete", Path(path), "")
    return _without_edit(apply(WorkspaceEdit((operation,)), boundary))


def move(old: str, new: str, boundary: Boundary) -> Change:
    """Move a file. Missing folders are created. A link itself is moved, not its target."""
    locate(old, boundary.for_changes())
    locate(new, boundary.for_changes(), may_be_missing=True)
    operation = FileOperation("rename", Path(old), "", Path(new))
    return _without_edit(apply(WorkspaceEdit((operation,)), boundary))


def _without_edit(change: Change) -> Change:
    return Change(touched=change.touched)


def undo(change: Change, boundary: Boundary, *, before_step: BeforeStep = no_step) -> Change:
    """Undo a change, all of it or nothing, and only if nothing has changed since.

    A folder that the change created is kept if it is not empty.
    """
    with OpenFolders(boundary.for_changes()) as folders:
        tree = PlannedTree(folders)
        for file in change.touched:
            _take_back(file, tree)
        return Change(touched=_touched_files(tree.changes(), folders, before_step))


def _touched_files(
    changes: list[PlannedChange], folders: OpenFolders, before_step: BeforeStep
) -> tuple[TouchedFile, ...]:
    """Carry the changes out."""
    left = carry_out(changes, folders, before_step)
    return tuple(_touched_file(change, left[change.path]) for change in changes)


def _touched_file(change: PlannedChange, left: FileState) -> TouchedFile:
    before = change.before
    return TouchedFile(
        path=Path(change.path),
        was=before.kind,
        now=left.kind,
        before=before.data if before.is_leaf else None,
        mode=before.mode,
        owner=before.owner,
        sha256=_digest(left),
        mode_now=left.mode,
    )


def _digest(state: FileState) -> str:
    return hashlib.sha256(state.data).hexdigest() if state.is_leaf else ""


def _take_back(file: TouchedFile, tree: PlannedTree) -> None:
    given = str(file.path)
    path = name_to_change(given, tree.boundary)
    now = tree.at(path)
    made_folder = (file.was, file.now) == ("nothing", "folder")
    if path != given or not (_is_as_left(now, file) or (made_folder and now.kind == "nothing")):
        message = (
            f"{given} is no longer as the change left it, so the change cannot be undone; "
            "nothing was written, undo by hand or put the file back first"
        )
        raise changed_error(message, **error_fields(given, tree.boundary, path))
    before = FileState(file.was, file.before or b"", file.mode, file.owner)
    tree.put(path, before, if_empty=made_folder)


def _is_as_left(now: FileState, file: TouchedFile) -> bool:
    if now.kind == "file" and now.mode != file.mode_now:
        return False
    return (now.kind, _digest(now)) == (file.now, file.sha256)
