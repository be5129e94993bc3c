"""What several events of one file amount to, and whose they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from lspkit.protocol.watched import CHANGED, CREATED, DELETED, FileEvent

#: What two events of one file amount to, None where it is nothing. Others cannot follow each other.
AFTER: dict[tuple[int, int], int | None] = {
    (CREATED, CHANGED): CREATED,
    (CREATED, DELETED): None,
    (CHANGED, CHANGED): CHANGED,
    (CHANGED, DELETED): DELETED,
    (DELETED, CREATED): CHANGED,
    # After an interrupt an event may have been noted twice.
    (CREATED, CREATED): CREATED,
    (DELETED, DELETED): DELETED,
    (CHANGED, CREATED): CHANGED,
    (DELETED, CHANGED): CHANGED,
}


def merged(events: Iterable[FileEvent]) -> list[FileEvent]:
    """One event at most for each file and folder, in the order in which they come up first.

    Of a folder it is the last one: whoever hears once too often looks once more.
    """
    kinds: dict[tuple[str, bool], int | None] = {}
    for event in events:
        which = event.path, event.is_folder
        before = None if event.is_folder else kinds.get(which)
        kinds[which] = event.kind if before is None else AFTER[before, event.kind]
    return [FileEvent(path, kind, folder) for (path, folder), kind in kinds.items() if kind]


def among(paths: list[str]) -> Callable[[str], bool]:
    """Whether a path is one of these, or below one."""
    names, below = set(paths), tuple(os.path.join(path, "") for path in paths)
    return lambda path: path in names or path.startswith(below)
