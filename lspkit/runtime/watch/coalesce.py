"""Merging several events of one file, and what is announced of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent

#: The merged kind of two events of one file, None for no event. Other sequences are impossible.
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
    # After an interrupt an event may have been recorded twice.
    (CREATED, CREATED): CREATED,
    (DELETED, DELETED): DELETED,
    (CHANGED, CREATED): CHANGED,
    (REPLACED, CREATED): REPLACED,
    (DELETED, CHANGED): REPLACED,
    (DELETED, REPLACED): REPLACED,
}


def merged(events: Iterable[FileEvent], away: Collection[str] = ()) -> list[FileEvent]:
    """At most one event for each file and folder, in the order of their first events.

    For a folder it is the last one: a needless event only causes one more read. `away` are paths
    that were missing for a moment: a change there is a replacement.
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


def unseen_between(
    events: Iterable[FileEvent], brief: Iterable[str], reported: Iterable[FileEvent]
) -> list[str]:
    """Paths that existed or were missing for a moment, if no reported event says so."""
    gone = (event.path for event in events if event.kind == DELETED)
    return sorted({*brief, *gone} - {event.path for event in reported})


class Batch(NamedTuple):
    """Events that are announced together."""

    #: Paths that existed, or were missing, for a moment only.
    brief: list[str]
    events: list[FileEvent]


def batch_of(events: list[FileEvent], brief: list[str]) -> Batch:
    """What is announced of the events and brief paths of a comparison."""
    reported = merged(events, away=brief)
    return Batch(unseen_between(events, brief, reported), reported)


def among(paths: list[str]) -> Callable[[str], bool]:
    """A function that tells whether a path is one of these, or below one."""
    names, below = set(paths), tuple(os.path.join(path, "") for path in paths)
    return lambda path: path in names or path.startswith(below)
