"""Other names of watched files: links inside the watched folders to something in them.

A program that reads a file through a link knows it by that name, so its events are reported under
that name as well. Whether a link still leads there is checked when its target has changed. A link
to a folder that is created, deleted or retargeted is reported as events of the files behind it;
nothing else is known of these, so all count as replaced.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator

from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, FileEvent
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.workspace_boundary import folders_above

#: How many links are remembered.
REMEMBERED = 10_000
#: How many files behind one link are reported.
MOST_BEHIND = 2_000


class Symlinks:
    """Targets of links. For one thread at a time."""

    def __init__(self) -> None:
        #: Real path: the links that led there.
        self._names: dict[str, set[str]] = {}
        self._count = 0
        #: Folder: itself and those above it, as far as links led there.
        self._led_to: dict[str, tuple[str, ...]] = {}
        #: Link: the folder that it leads to, and the one that it led to when last reported.
        self._folders: dict[str, str] = {}
        self._before: dict[str, str] = {}

    def note(self, link: str) -> None:
        """Record a link."""
        target = os.path.realpath(link)
        if target not in self._names:
            self._led_to.clear()
        names = self._names.setdefault(target, set())
        if link not in names and self._count < REMEMBERED:
            names.add(link)
            self._count += 1
        known = self._folders.get(link, "")
        if known != target and os.path.isdir(target):
            if known or len(self._folders) < REMEMBERED:
                self._folders[link] = target
            if known:
                self._before.setdefault(link, known)
        elif known and known != target:
            self._before.setdefault(link, self._folders.pop(link))

    def changed(self, path: str, kind: int) -> list[FileEvent] | None:
        """The events that follow from an event of a path; None if that was no link to a folder."""
        before = self._before.pop(path, "")
        if kind == DELETED:
            before = before or self._folders.pop(path, "")
        elif not before and kind == CHANGED:
            return [] if path in self._folders else None
        now = self._folders.get(path, "")
        if not before and not now:
            return None
        gone, came = _files_in(before), _files_in(now)
        return [
            *(FileEvent(os.path.join(path, name), DELETED) for name in gone),
            *([FileEvent(path, DELETED, is_folder=True)] if before else []),
            *([FileEvent(path, CREATED, is_folder=True)] if now else []),
            *(FileEvent(os.path.join(path, name), CREATED) for name in came),
        ]

    def names_of(self, path: str) -> Iterator[str]:
        """The other names of a path, through links to it or to a folder above it."""
        for at in (path, *self._led_to_above(path)) if self._names else ():
            for link in tuple(self._names.get(at, ())):
                if os.path.realpath(link) == at:
                    yield os.path.join(link, os.path.relpath(path, at)) if path != at else link
                else:
                    self._names[at].discard(link)
                    self._count -= 1

    def _led_to_above(self, path: str) -> tuple[str, ...]:
        """The folders above a path to which links led, the nearest first."""
        folder = os.path.dirname(path)
        known = self._led_to.get(folder)
        if known is None:
            if len(self._led_to) > REMEMBERED:
                self._led_to.clear()
            known = tuple(one for one in folders_above(path) if one in self._names)
            self._led_to[folder] = known
        return known


def _files_in(top: str) -> list[str]:
    """The files in a folder, relative to it; the outer ones first, up to a limit."""
    found: list[str] = []
    folders = collections.deque([""] if top else [])
    while folders and len(found) < MOST_BEHIND:
        here = folders.popleft()
        try:
            with os.scandir(os.path.join(top, here)) as entries:
                for entry in entries:
                    name = os.path.join(here, entry.name)
                    if not entry.is_dir():
                        found.append(name)
                    elif not entry.is_symlink() and not is_excluded(entry.path):
                        folders.append(name)
        except OSError:
            continue  # it is gone, or may not be read
    return found[:MOST_BEHIND]
