"""What several events of one file amount to, and whose they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from lspkit.protocol.watch_registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent

#: What two events of one file amount to, None where it is nothing. Others cannot follow each other.
AFTER: dict[tuple[int, int], int | None] = {
    (CREATED, CHANGED): CREATED,
    (CREATED, DELETED): None,
    (CREATED, REPLACED): CREATED,
    (CHANGED, CHANGED): CHANGED,
    (CHANGED, DELETED): DELETED,
    (CHANGED, REPLACED): REPLACED,
    (DELETED, CREATED): REPLACED,
    (REPLACED, CHANGED): REPLACED,
    (REPLACED, DELETED): DELETED,
    (REPLACED, REPLACED): REPLACED,
    # After an interrupt an event may have been noted twice.
    (CREATED, CREATED): CREATED,
    (DELETED, DELETED): DELETED,
    (CHANGED, CREATED): CHANGED,
    (REPLACED, CREATED): REPLACED,
    (DELETED, CHANGED): REPLACED,
    (DELETED, REPLACED): REPLACED,
}


def merged(events: Iterable[FileEvent], away: Collection[str] = ()) -> list[FileEvent]:
    """One event at most for each file and folder, in the order in which they come up first.

    Of a folder it is the last one: whoever hears once too often looks once more. `away` are paths
    where nothing was for a moment: what has changed there was replaced.
    """
    kinds: dict[tuple[str, bool], int | None] = {}
    for event in events:
        which = event.path, event.is_folder
        before = None if event.is_folder else kinds.get(which)
        kinds[which] = event.kind if before is None else AFTER[before, event.kind]
    gone = {(path, False) for path in away}
    return [
        FileEvent(path, REPLACED if kind == CHANGED and (path, folder) in gone else kind, folder)
        for (path, folder), kind in kinds.items()
        if kind is not None
    ]


def among(paths: list[str]) -> Callable[[str], bool]:
    """Whether a path is one of these, or below one."""
    names, below = set(paths), tuple(os.path.join(path, "") for path in paths)
    return lambda path: path in names or path.startswith(below)
