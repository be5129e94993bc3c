"""Applies and undoes edits that servers propose: checked as a whole, all or none.

`apply` plans an edit (`plan.py`), carries the changes out (`transaction.py`) and returns an
`AppliedEdit`, which has what `undo` needs. If either fails, the error names the file and nothing is
changed. Servers are not notified here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from lspkit.edit_types import AppliedEdit, TouchedFile, WorkspaceEdit
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import changed_error, error_fields, name_to_change
from lspkit.edits.plan import plan
from lspkit.edits.planned_tree import FileState, PlannedChange, PlannedTree
from lspkit.edits.single_file import BeforeStep, no_step
from lspkit.edits.transaction import carry_out
from lspkit.workspace_boundary import Boundary


def apply(
    edit: WorkspaceEdit,
    boundary: Boundary,
    *,
    versions: Mapping[str, int] | None = None,
    before_step: BeforeStep = no_step,
) -> AppliedEdit:
    """Apply an edit, all of it or nothing.

    `versions` are the server's current versions of its open documents, by URI.
    """
    with OpenFolders(boundary.for_changes()) as folders:
        changes = plan(edit, folders, versions or {})
        left = carry_out(changes, folders, before_step)
    return AppliedEdit(edit, tuple(_touched_file(change, left[change.path]) for change in changes))


def undo(applied: AppliedEdit, boundary: Boundary, *, before_step: BeforeStep = no_step) -> None:
    """Undo an edit, all of it or nothing, and only if nothing has changed since.

    A folder that the edit created is kept if it is not empty.
    """
    with OpenFolders(boundary.for_changes()) as folders:
        tree = PlannedTree(folders)
        for one in applied.touched:
            _take_back(one, tree)
        carry_out(tree.changes(), folders, before_step)


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


def _take_back(one: TouchedFile, tree: PlannedTree) -> None:
    given = str(one.path)
    path = name_to_change(given, tree.boundary)
    now = tree.at(path)
    made_folder = (one.was, one.now) == ("nothing", "folder")
    if path != given or not (_is_as_left(now, one) or (made_folder and now.kind == "nothing")):
        message = (
            f"{given} is no longer as the edit left it, so the edit cannot be undone; "
            "nothing was written, undo by hand or put the file back first"
        )
        raise changed_error(message, **error_fields(given, tree.boundary, path))
    before = FileState(one.was, one.before or b"", one.mode, one.owner)
    tree.put(path, before, if_empty=made_folder)


def _is_as_left(now: FileState, one: TouchedFile) -> bool:
    if now.kind == "file" and now.mode != one.mode_now:
        return False
    return (now.kind, _digest(now)) == (one.now, one.sha256)
