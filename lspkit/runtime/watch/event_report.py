"""The events of a comparison: each under all names of its path, and several of one file as one.

Other names come from symbolic links inside the watched folders. A program that reads a file through
a link knows it by that name, so its events are reported under that name as well. A link to a folder
that is created, deleted or retargeted is reported as events of the files behind it; nothing else is
known of these, so all count as replaced.

A target outside of the workspace is watched as long as a link leads there, if `OuterFolders`
permits it: a folder with everything in it; for a file, or for a target that is missing, only the
folder that holds it. A name outside has further names through links that lead there, but where a
link leads is looked up only when it is read itself, or when its target is created.
"""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from lspkit.edits.directory import is_spare
from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED, FileEvent
from lspkit.runtime.watch.watched_folders import OuterFolders, is_excluded
from lspkit.workspace_boundary import folders_above

#: How many links are remembered.
MOST_LINKS = 10_000
#: How many other names of one path are reported.
MOST_NAMES = 1_000
#: How many files behind one link are reported.
MOST_BEHIND = 2_000
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


class _Target(NamedTuple):
    """Where a link leads; the path is a real one."""

    path: str
    is_folder: bool

    @property
    def folder(self) -> str:
        """The folder that is watched for it."""
        return self.path if self.is_folder else os.path.dirname(self.path)


class Links:
    """The symbolic links. For one thread at a time."""

    def __init__(self, outer: OuterFolders | None) -> None:
        self._outer = outer
        self._targets: dict[str, _Target] = {}
        #: Real path: the links to it.
        self._links_to: dict[str, set[str]] = {}
        #: Folder outside: the links because of which it is watched.
        self._users: dict[str, set[str]] = {}
        #: Folders with other users than before, and since when changes in them count. The snapshot
        #: empties it.
        self.pending: dict[str, int] = {}

    def leads_to(self, folder: str) -> bool:
        """Whether a folder is watched because of a link."""
        return folder in self._users

    def is_deep(self, folder: str) -> bool:
        """Whether a link leads to this folder, not only to a file in it."""
        return any(self._targets[link].is_folder for link in self._users[folder])

    def note(self, link: str) -> None:
        """Record where a link leads; what it leads to outside is to be watched."""
        if link in self._targets or len(self._targets) >= MOST_LINKS:
            return
        path = os.path.realpath(link)
        target = self._targets[link] = _Target(path, os.path.isdir(path))
        self._links_to.setdefault(path, set()).add(link)
        folder = target.folder
        if self._outer is not None and self._outer.follow(link, folder, deep=target.is_folder):
            self._users.setdefault(folder, set()).add(link)
            self.pending[folder] = time.time_ns()

    def forget(self, link: str) -> None:
        """A link is gone, or it is no longer watched."""
        target = self._targets.pop(link, None)
        if target is None:
            return
        _remove(self._links_to, target.path, link)
        if link in self._users.get(target.folder, ()):
            _remove(self._users, target.folder, link)
            self.pending[target.folder] = time.time_ns()
            if self._outer is not None and target.folder not in self._users:
                self._outer.leave(target.folder)

    def changed(self, link: str, kind: int) -> list[FileEvent] | None:
        """The events that follow from one of a link to a folder; None if it is nothing like that.

        `CHANGED` is also for a link whose target may be another one by now.
        """
        before = self._targets.get(link)
        if before is None:
            return None
        now = None
        if kind != DELETED and os.path.islink(link):
            path = os.path.realpath(link)
            now = _Target(path, os.path.isdir(path))
        if now != before:
            self.forget(link)
            if now is not None:
                self.note(link)
        if not before.is_folder and not (now is not None and now.is_folder):
            return None
        if now == before and kind == CHANGED:
            return []
        return [
            *(_events_behind(link, before, DELETED) if kind != CREATED else ()),
            *(_events_behind(link, now, CREATED) if now is not None else ()),
            *([FileEvent(link, CREATED)] if now is None and kind != DELETED else ()),
        ]

    def created(self, path: str) -> list[FileEvent]:
        """Something was created to which links may lead: the events of those to a folder."""
        links = tuple(self._links_to.get(path, ()))
        return [event for link in links for event in self.changed(link, CHANGED) or ()]

    def names_of(self, path: str) -> list[str]:
        """The other names of a path, through a link to it or to a folder above it."""
        if not self._links_to:
            return []
        names = self._direct_names(path)
        if self._users:
            outer = [name for name in names if self._is_outside(name)]
            names = [*names, *(name for path in outer for name in self._direct_names(path))]
        return names[:MOST_NAMES]

    def _direct_names(self, path: str) -> list[str]:
        return [
            link + path[len(target.rstrip(os.sep)) :]
            for target in (path, *folders_above(path))
            for link in self._links_to.get(target, ())
        ]

    def _is_outside(self, path: str) -> bool:
        return any(folder in self._users for folder in folders_above(path))


def _remove(links: dict[str, set[str]], path: str, link: str) -> None:
    links[path].remove(link)
    if not links[path]:
        del links[path]


def _events_behind(link: str, target: _Target, kind: int) -> list[FileEvent]:
    """The events of a link to a folder, and of the files behind it."""
    if not target.is_folder:
        return []
    files = [FileEvent(os.path.join(link, name), kind) for name in _files_in(target.path)]
    return [FileEvent(link, kind, is_folder=True), *files]


def _files_in(top: str) -> list[str]:
    """The files in a folder, relative to it; the outer ones first, up to a limit."""
    files: list[str] = []
    folders = collections.deque([""])
    while folders and len(files) < MOST_BEHIND:
        folder = folders.popleft()
        try:
            with os.scandir(os.path.join(top, folder)) as entries:
                for entry in entries:
                    name = os.path.join(folder, entry.name)
                    if not entry.is_dir():
                        files.append(name)
                    elif not entry.is_symlink() and not is_excluded(entry.path):
                        folders.append(name)
        except OSError:
            continue  # it is gone, or may not be read
    return files[:MOST_BEHIND]


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
