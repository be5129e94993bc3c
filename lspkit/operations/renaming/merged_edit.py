"""Several edits as one: the renaming of a method, and of the methods that override it. Pure."""

from __future__ import annotations

import itertools

import msgspec

from lspkit.edit_types import FileEdit, TextEdit, WorkspaceEdit
from lspkit.operations.workspace_edit import apply_text_edits
from lspkit.protocol.text import Text
from lspkit.types import Location


def covers(edit: WorkspaceEdit, place: Location) -> bool:
    """Whether an edit changes the name at a place."""
    return any(
        change.path == place.path
        and any(one.range.start <= place.range.start <= one.range.end for one in change.edits)
        for change in edit.changes
        if isinstance(change, FileEdit)
    )


def changed_places(edit: WorkspaceEdit) -> list[Location]:
    """The places that an edit changes."""
    return [
        Location(change.path, one.range, change.uri)
        for change in edit.changes
        if isinstance(change, FileEdit)
        for one in change.edits
    ]


def merge(edit: WorkspaceEdit, other: WorkspaceEdit) -> WorkspaceEdit | None:
    """Both edits as one; None if they do not fit together."""
    changes = list(edit.changes)
    at = {change.path: n for n, change in enumerate(changes) if isinstance(change, FileEdit)}
    for change in other.changes:
        if not isinstance(change, FileEdit):
            return None
        number = at.get(change.path)
        if number is None:
            at[change.path] = len(changes)
            changes.append(change)
            continue
        known = changes[number]
        joined = _join(known, change) if isinstance(known, FileEdit) else None
        if joined is None:
            return None
        changes[number] = joined
    return msgspec.structs.replace(edit, changes=tuple(changes))


def _join(one: FileEdit, other: FileEdit) -> FileEdit | None:
    if one.before != other.before or one.before is None:
        return None
    edits: list[TextEdit] = sorted(
        {*one.edits, *other.edits}, key=lambda edit: (edit.range, edit.new_text)
    )
    for first, second in itertools.pairwise(edits):
        if second.range.start < first.range.end or first.range == second.range:
            return None
    after = apply_text_edits(Text(one.before), edits)
    return msgspec.structs.replace(one, edits=tuple(edits), after=after)
