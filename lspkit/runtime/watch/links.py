"""Other names of watched files: symbolic links inside the watched folders, and hard links.

A program that reads a file through a link knows it by that name, so its events are reported under
that name as well. Whether a link still leads there is checked when its target has changed. A link
to a folder that is created, deleted or retargeted is reported as events of the files behind it;
nothing else is known of these, so all count as replaced.

The target of a link may lie outside of the watched folders. Then the folder of the target is to be
watched as well, if `follows` says so.

A file with several names is watched by itself: the watch of a folder does not report changes made
through another name, which may lie outside of the watched folders.
"""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Callable, Iterator

from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, FileEvent
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.workspace_boundary import folders_above

#: How many links are remembered.
REMEMBERED = 10_000
#: How many links are followed, one after the other, for another name of a path; and how many names
#: through several links are searched at once.
MOST_STEPS, MOST_NAMES = 3, 100
#: How many files behind one link are reported.
MOST_BEHIND = 2_000
#: How many files with several names are watched.
MOST_FILES = 1_000


class Symlinks:
    """Targets of links. For one thread at a time."""

    def __init__(self, follows: Callable[[str, bool], bool] = lambda *_: False) -> None:
        #: Whether to watch a folder that a link leads to; or (False) that holds a link's target.
        self._follows = follows
        #: The folders to watch, with the same flag. The caller removes them.
        self.outside: list[tuple[str, bool]] = []
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
            if not os.path.isdir(target):
                self._follow(os.path.dirname(target), deep=False)
        known = self._folders.get(link, "")
        if known != target and os.path.isdir(target):
            if known or len(self._folders) < REMEMBERED:
                self._folders[link] = target
                self._follow(target, deep=True)
            if known:
                self._before.setdefault(link, known)
        elif known and known != target:
            self._before.setdefault(link, self._folders.pop(link))

    def _follow(self, folder: str, *, deep: bool) -> None:
        readable = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)
        if readable and self._follows(folder, deep):
            self.outside.append((folder, deep))

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

    def names_of(self, path: str) -> list[str]:
        """The other names of a path, through links to it or to a folder above it."""
        found = last = list(self._direct_names(path))
        for _ in range(MOST_STEPS - 1):
            if not last or len(found) >= MOST_NAMES:
                break
            more = (name for one in last for name in self._direct_names(one))
            last = list(itertools.islice(more, MOST_NAMES))
            found = [*found, *last]
        return found

    def _direct_names(self, path: str) -> Iterator[str]:
        """Those through one link."""
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


class HardLinks:
    """Files with several names, each watched by itself. For one thread at a time."""

    def __init__(self, watch: Callable[[str], None], unwatch: Callable[[str], None]) -> None:
        self._watch, self._unwatch = watch, unwatch
        self._files: set[str] = set()

    def note(self, path: str) -> None:
        """Watch a file."""
        if path in self._files or len(self._files) < MOST_FILES:
            self._files.add(path)
            self._watch(path)

    def gone(self, path: str) -> None:
        """A file was deleted."""
        if path in self._files:
            self._files.discard(path)
            self._unwatch(path)


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
