"""Other names of watched files: symbolic links inside the watched folders, and hard links.

A program that reads a file through a link knows it by that name, so its events are reported under
that name as well. Whether a link still leads there is checked when its target has changed. A link
to a folder that is created, deleted or retargeted is reported as events of the files behind it;
nothing else is known of these, so all count as replaced.

The target of a link may lie outside of the watched folders. Then the folder of the target is
watched as well, as long as a link leads there, if `LinkTargets` admits it.

A file with several names is watched by itself: the watch of a folder does not report changes made
through another name, which may lie outside of the watched folders.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Iterator
from typing import Protocol

from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED, FileEvent
from lspkit.runtime.watch.excluded_folders import is_excluded
from lspkit.workspace_boundary import folders_above

#: How many links are remembered.
REMEMBERED = 10_000
#: How many links are followed, one after the other, for another name of a path; and after how many
#: names no further ones through several links are searched for.
MOST_STEPS, MOST_NAMES = 3, 100
#: How many files behind one link are reported.
MOST_BEHIND = 2_000
#: How many links that lead nowhere are looked at again before each call.
MOST_LOST = 200
#: How many files with several names are watched.
MOST_FILES = 1_000


class LinkTargets(Protocol):
    """Decides which folders are watched because links lead to them."""

    def follow(self, link: str, folder: str, deep: bool) -> bool:
        """Whether to watch the folder that a link leads to; or (not deep) that holds its target."""

    def leave(self, folder: str) -> None:
        """No link leads to such a folder any more."""


class _NoTargets:
    """Nothing is watched because of a link."""

    def follow(self, link: str, folder: str, deep: bool) -> bool:
        """No folder is."""
        return False

    def leave(self, folder: str) -> None:
        """There is none."""


NO_TARGETS: LinkTargets = _NoTargets()


class Symlinks:
    """Targets of links. For one thread at a time."""

    def __init__(self, targets: LinkTargets) -> None:
        self._targets = targets
        #: Folders to watch, with `deep` also their subfolders; and folders to which no link leads
        #: any more. The caller removes them.
        self.outside: list[tuple[str, bool]] = []
        self.left: list[str] = []
        #: Link: its real path. And the links that lead to a real path.
        self._targets_of: dict[str, str] = {}
        self._names: dict[str, set[str]] = {}
        #: Folder: itself and those above it, as far as links lead there.
        self._led_to: dict[str, tuple[str, ...]] = {}
        #: Link: the folder that it leads to, and the one that it led to when last reported.
        self._folders: dict[str, str] = {}
        self._before: dict[str, str] = {}
        #: Link: the folder that is watched because of it, with the flag. And how many links there
        #: are to each of these folders.
        self._followed: dict[str, tuple[str, bool]] = {}
        #: Which folder that was. Another one may take its place unseen, if a folder above it is
        #: renamed.
        self._identities: dict[str, tuple[int, int]] = {}
        #: Links to follow once there is a folder of their target.
        self._lost: set[str] = set()
        self._uses: collections.Counter[str] = collections.Counter()

    def note(self, link: str, *, follow: bool = True) -> None:
        """Record where a link leads. With `follow`, its target is watched as well."""
        target = os.path.realpath(link)
        is_folder = os.path.isdir(target)
        if self._targets_of.get(link) != target:
            self._forget_name(link)
            if len(self._targets_of) < REMEMBERED:
                self._targets_of[link] = target
                self._led_to.clear()
                self._names.setdefault(target, set()).add(link)
        if follow and link in self._targets_of:
            if link in self._lost and is_folder:
                self._before[link] = target  # all that is behind it is new
            self._follow(link, target if is_folder else os.path.dirname(target), deep=is_folder)
        known = self._folders.get(link, "")
        if known != target and is_folder:
            if known or len(self._folders) < REMEMBERED:
                self._folders[link] = target
            if known:
                self._before.setdefault(link, known)
        elif known and known != target:
            self._before.setdefault(link, self._folders.pop(link))

    def forget(self, link: str) -> None:
        """A link is gone, or it is no longer watched."""
        self._forget_name(link)
        self._leave(link)
        self._lost.discard(link)

    def lead_to(self, folder: str) -> bool:
        """Whether a folder is watched because of a link."""
        return folder in self._uses

    def moved(self) -> list[str]:
        """What to look at: folders that are watched because of a link, where another one, or none,
        is now; and links whose target has a folder now. Asks the system about each.
        """
        folders = [
            folder for folder, known in self._identities.items() if _identity(folder) != known
        ]
        links = [
            link
            for link in self._lost
            if os.path.isdir(os.path.dirname(self._targets_of.get(link, "")))
        ]
        return [*folders, *links]

    def was_read(self, folder: str) -> None:
        """A folder was read that may be watched because of a link."""
        if folder in self._identities:
            self._identities[folder] = _identity(folder)

    def look_again(self, folder: str) -> list[FileEvent]:
        """A folder was read that links led into: returns the events of those that lead on now."""
        events: list[FileEvent] = []
        for link in [one for one, via in self._followed.items() if via == (folder, False)]:
            self.note(link)
            if self._followed.get(link) not in (None, (folder, False)):
                events += self.behind(link)
        return events

    def behind(self, link: str) -> list[FileEvent]:
        """The events of a link that leads to a folder now, if it does."""
        return _created_events(link, self._folders.get(link, ""))

    def _forget_name(self, link: str) -> None:
        target = self._targets_of.pop(link, "")
        links = self._names.get(target)
        if links is not None:
            links.discard(link)
            if not links:
                del self._names[target]
                self._led_to.clear()

    def _follow(self, link: str, folder: str, *, deep: bool) -> None:
        readable = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)
        if os.path.isdir(folder) or len(self._lost) >= MOST_LOST:
            self._lost.discard(link)
        else:
            self._lost.add(link)
        if readable and self._followed.get(link) == (folder, deep):
            return
        follows = readable and self._targets.follow(link, folder, deep)
        if follows:
            self._uses[folder] += 1  # before the other is left: it may be the same
            self._identities[folder] = _identity(folder)
            self.outside.append((folder, deep))
        self._leave(link)
        if follows:
            self._followed[link] = folder, deep

    def _leave(self, link: str) -> None:
        folder, _ = self._followed.pop(link, ("", False))
        if not folder:
            return
        self._uses[folder] -= 1
        if not self._uses[folder]:
            del self._uses[folder]
            self._identities.pop(folder, None)
            self._targets.leave(folder)
            self.left.append(folder)

    def changed(self, path: str, kind: int) -> list[FileEvent] | None:
        """The events that follow from an event of a path; None if that was no link to a folder."""
        if (path in self._targets_of or path in self._followed) and not os.path.islink(path):
            self.forget(path)
        before = self._before.pop(path, "")
        if kind == DELETED:
            before = before or self._folders.pop(path, "")
        elif not before and kind == CHANGED:
            return [] if path in self._folders else None
        now = self._folders.get(path, "")
        if not before and not now:
            return None
        gone = _files_in(before)
        return [
            *(FileEvent(os.path.join(path, name), DELETED) for name in gone),
            *([FileEvent(path, DELETED, is_folder=True)] if before else []),
            *_created_events(path, now),
        ]

    def names_of(self, path: str) -> list[str]:
        """The other names of a path, through links to it or to a folder above it."""
        found = last = list(self._direct_names(path))
        for _ in range(MOST_STEPS - 1):
            # A name outside has other names through the links that lead there.
            last = [
                name
                for one in last
                if self._is_outside(one) and len(found) < MOST_NAMES
                for name in self._direct_names(one)
            ]
            if not last:
                break
            found = [*found, *last[: max(0, MOST_NAMES - len(found))]]
        return found

    def _is_outside(self, path: str) -> bool:
        """Whether a path lies in a folder that is watched because of a link."""
        return any(one in self._uses for one in (path, *folders_above(path)))

    def _direct_names(self, path: str) -> Iterator[str]:
        """Those through one link."""
        for at in (path, *self._led_to_above(path)) if self._names else ():
            for link in tuple(self._names.get(at, ())):
                if os.path.realpath(link) == at:
                    yield os.path.join(link, os.path.relpath(path, at)) if path != at else link
                else:
                    self._forget_name(link)

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


def _identity(folder: str) -> tuple[int, int]:
    """Which folder is at a path, if any."""
    try:
        found = os.stat(folder)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _created_events(link: str, folder: str) -> list[FileEvent]:
    """The events of a link that leads to a folder now, if it does."""
    files = _files_in(folder)
    return [
        *([FileEvent(link, CREATED, is_folder=True)] if folder else []),
        *(FileEvent(os.path.join(link, name), CREATED) for name in files),
    ]


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
