"""Plans a server's edit: the changes of each path, with all checks.

The changes of an edit build on one another: a file is created and then filled, or renamed and then
edited under its new name. So the edit is simulated on a `PlannedTree`, which has the state of every
path. Nothing is written here, and any fault refuses the whole edit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from lspkit.edit_types import FileEdit, FileOperation, TextEdit, WorkspaceEdit
from lspkit.edits.open_folders import OpenFolders
from lspkit.edits.path_errors import (
    changed_error,
    error_fields,
    name_leading_inside,
    real_path,
    refuse_place,
    write_error,
)
from lspkit.edits.planned_tree import NOTHING, FileState, PlannedChange, PlannedTree
from lspkit.edits.text_edits import apply_spans, convert_line_breaks, decode, encode, spans
from lspkit.errors import PathError, PositionError
from lspkit.protocol.uris import path_to_uri
from lspkit.workspace_boundary import Boundary, absolute_path, is_inside

AGAIN = "nothing was written, request the change again"


class _EditedText(msgspec.Struct, frozen=True):
    """A text and its edits so far."""

    before: str
    edits: tuple[TextEdit, ...]
    after: str


def plan(
    edit: WorkspaceEdit, folders: OpenFolders, versions: Mapping[str, int]
) -> list[PlannedChange]:
    """The changes of each path; an error if the edit is refused."""
    simulation = _EditSimulation(folders, versions)
    for change in edit.changes:
        if isinstance(change, FileEdit):
            simulation.edit(change)
        else:
            _OPERATIONS[change.kind](simulation, change)
    return simulation.tree.changes()


class _EditSimulation:
    """Simulates the changes of one edit."""

    def __init__(self, folders: OpenFolders, versions: Mapping[str, int]) -> None:
        self.tree = PlannedTree(folders)
        self.boundary = folders.boundary
        self._versions = versions
        self._edited: dict[str, _EditedText] = {}

    def edit(self, change: FileEdit) -> None:
        """The edits of one file."""
        given = _named_path(change.path, change.uri, self.boundary)
        real = real_path(given, absolute_path(given, self.boundary.root), self.boundary)
        refuse_place(given, real, self.boundary)
        about = error_fields(given, self.boundary, real)
        version = self._versions.get(change.uri, self._versions.get(path_to_uri(real)))
        if None not in (change.version, version) and change.version != version:
            message = f"{given} is at version {version}, the edit is for version {change.version}"
            raise changed_error(f"{message}; {AGAIN}", **about)
        state = self.tree.at(real)
        if state.kind != "file":
            what = "does not exist" if state.kind == "nothing" else f"is a {state.kind}"
            raise PathError(f"{given} {what}; {AGAIN}", code="ENOENT", **about)
        refuse_protected(self.tree, given, real)
        mark, text = decode(state.data, given)
        before, edits = self._start(change, given, real, text)
        all_spans = spans(before, edits, given)
        own = all_spans if edits is change.edits else spans(before, change.edits, given)
        if change.after is not None and apply_spans(before, own) != change.after:
            message = f"the edits of {given} do not result in the text of the preview"
            raise PositionError(f"{message}; {AGAIN}")
        after = apply_spans(before, convert_line_breaks(before, all_spans))
        self._edited[real] = _EditedText(before, edits, after)
        data = encode(mark, after, given)
        self.tree.put(real, msgspec.structs.replace(state, data=data))

    def _start(
        self, change: FileEdit, given: str, real: str, text: str
    ) -> tuple[str, tuple[TextEdit, ...]]:
        """The text that the edits are for, and all edits of it so far.

        Servers may list a file twice. All its edits are then for the original text.
        """
        about = error_fields(given, self.boundary, real)
        before = change.before
        if before is None and not text and not self.tree.is_on_disk(real):
            before = text  # this edit has created the file
        if before is None:
            message = f"the text that the edits of {given} are for is not known; {AGAIN}"
            raise changed_error(message, **about)
        if before == text:
            return before, change.edits
        earlier = self._edited.get(real)
        if earlier is not None and (earlier.before, earlier.after) == (before, text):
            return before, (*earlier.edits, *change.edits)
        message = f"{given} has changed since the edit was made for it; {AGAIN}"
        raise changed_error(message, **about)

    def create(self, change: FileOperation) -> None:
        """A new, empty file."""
        given = _named_path(change.path, change.uri, self.boundary)
        path = name_leading_inside(given, self.boundary)
        state = self.tree.at(path)
        if state.kind == "file" and change.overwrite:
            refuse_protected(self.tree, given, path)
            self.tree.put(path, msgspec.structs.replace(state, data=b""))
        elif state.kind == "nothing":
            self.tree.put(path, FileState("file"))
        elif not change.ignore_if_exists:
            raise self._exists_error(given, path)

    def delete(self, change: FileOperation) -> None:
        """Delete a file, or a folder with its contents."""
        given = _named_path(change.path, change.uri, self.boundary)
        path = name_leading_inside(given, self.boundary)
        kind = self.tree.at(path).kind
        if kind == "nothing":
            if change.ignore_if_not_exists:
                return
            message = f"{given} does not exist, so it cannot be deleted; {AGAIN}"
            raise PathError(message, code="ENOENT", **error_fields(given, self.boundary, path))
        inner = self.tree.below(path) if kind == "folder" else []
        if inner and not change.recursive:
            message = f"{given} is a folder that is not empty; nothing was written"
            raise write_error(message, **error_fields(given, self.boundary, path))
        for entry in (*inner, path):
            self.tree.put(entry, NOTHING)

    def rename(self, change: FileOperation) -> None:
        """Rename a file, or a folder with its contents."""
        given = _named_path(change.path, change.uri, self.boundary)
        old = name_leading_inside(given, self.boundary)
        new_given = _named_path(change.new_path, change.new_uri, self.boundary)
        new = name_leading_inside(new_given, self.boundary)
        state, there = self.tree.at(old), self.tree.at(new)
        about = error_fields(given, self.boundary, old)
        if state.kind == "nothing":
            message = f"{given} does not exist, so it cannot be renamed; {AGAIN}"
            raise PathError(message, code="ENOENT", **about)
        if new == old:
            return
        if is_inside(new, old):
            message = f"{given} cannot be renamed to {new_given}, which is inside it"
            raise write_error(f"{message}; nothing was written", **about)
        if there.kind != "nothing":
            if change.overwrite and "folder" not in (state.kind, there.kind):
                refuse_protected(self.tree, new_given, new)
            elif change.ignore_if_exists and not change.overwrite:
                return
            else:
                raise self._exists_error(new_given, new)
        moved = [old, *(self.tree.below(old) if state.kind == "folder" else ())]
        states = [self.tree.at(path) for path in moved]
        for path in moved:
            self.tree.put(path, NOTHING)
        for path, kept in zip(moved, states, strict=True):
            goal = new + path[len(old) :]
            refuse_place(goal, goal, self.boundary)
            self.tree.put(goal, kept)

    def _exists_error(self, given: str, path: str) -> PathError:
        message = f"{given} exists already, and the edit must not replace it; {AGAIN}"
        return write_error(message, **error_fields(given, self.boundary, path))


_OPERATIONS: dict[str, Callable[[_EditSimulation, FileOperation], None]] = {
    "create": _EditSimulation.create,
    "rename": _EditSimulation.rename,
    "delete": _EditSimulation.delete,
}


def _named_path(path: Path | None, uri: str, boundary: Boundary) -> str:
    if path is not None:
        return str(path)
    message = (
        f"{uri or 'a change without a URI'} names no file of this machine; nothing was written"
    )
    raise PathError(message, code="EOUTSIDE", **error_fields(uri, boundary))


def refuse_protected(tree: PlannedTree, given: str, real: str) -> None:
    """Raise a `PathError` if a file on disk must not be written."""
    if tree.at(real).kind == "file" and tree.is_on_disk(real):
        folder, name = tree.folders.home(real)
        if not folder.writable(name):
            message = f"{given} is write-protected; nothing was written"
            raise write_error(message, **error_fields(given, tree.boundary, real))
