"""The events of a comparison: each under all names of its path, and several of one file as one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import NamedTuple

from lspkit.edits.directory import is_spare
from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.runtime.watch.folder_entries import PASSED, READ
from lspkit.runtime.watch.links import Links

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
    # By a link and by the folder behind it, one change may be recorded twice.
    (CREATED, CREATED): CREATED,
    (DELETED, DELETED): DELETED,
    (CHANGED, CREATED): CHANGED,
    (REPLACED, CREATED): REPLACED,
    (DELETED, CHANGED): REPLACED,
    (DELETED, REPLACED): REPLACED,
}


class EventReport:
    """What has happened, until somebody takes it. For one thread at a time."""

    def __init__(self, links: Links) -> None:
        self._links = links
        #: The events, in order.
        self.events: list[FileEvent] = []
        #: Paths that existed, or were missing, between two looks only, or may have been. A program
        #: that reads the disk itself may have noticed.
        self.brief: list[str] = []

    def add(self, path: str, kind: int, *, is_folder: bool = False) -> None:
        """A file, or a folder, was created, changed or deleted."""
        if not is_folder and (behind := self._links.changed(path, kind)) is not None:
            self.events += behind
            return
        names = [path, *self._links.names_of(path)]
        self.events += [FileEvent(name, kind, is_folder) for name in names]
        if kind in (CREATED, REPLACED):
            self.events += self._links.created(path)

    def add_new(self, path: str, state: int, kind: int) -> None:
        """An entry is new; `kind` is for a file, which may have existed before."""
        if state == PASSED:
            self.add_skipped(path, CREATED)
        elif state == READ:
            self.add(path, CREATED, is_folder=True)
        else:
            self.add(path, kind)

    def add_skipped(self, path: str, kind: int) -> None:
        """A skipped folder was created or deleted, which counts unless it is a tool's."""
        if not is_excluded(path):
            self.add(path, kind, is_folder=True)

    def add_brief(self, path: str) -> None:
        """A path was missing for a moment."""
        if not is_spare(os.path.basename(path)):
            self.brief += [path, *self._links.names_of(path)]


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


class Batch(NamedTuple):
    """Events that are announced together."""

    #: Paths that existed, or were missing, for a moment only, if no event says so.
    brief: list[str]
    events: list[FileEvent]


def batch_of(events: list[FileEvent], brief: list[str]) -> Batch:
    """What is announced of the events and brief paths of a comparison."""
    reported = merged(events, away=brief)
    gone = (event.path for event in events if event.kind == DELETED)
    return Batch(sorted({*brief, *gone} - {event.path for event in reported}), reported)
