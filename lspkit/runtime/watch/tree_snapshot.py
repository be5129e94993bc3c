"""The entries of the watched folders when they were last read.

Hints about changes are vague, late or duplicate; a comparison with the earlier state is exact. So
every event comes from here: a new file was created, one with another stamp has changed, a missing
one was deleted. A rename is a deletion and a creation, a folder has an event for itself and for
each file in it, and a file that was replaced by another has changed, once.

A folder is watched first and then read: a change in between causes a hint and another look. The
first read of a folder has nothing to compare with; its entries count as known, except for files
that were created or changed since the folder was requested.

Links are entries like files. Events of a link's target are reported under both names. The folder
of a target outside is requested as well, if `OuterFolders` permits it.
"""

from __future__ import annotations

import errno
import math
import os
import stat
import time
from collections.abc import Callable

from lspkit.edits.directory import is_spare
from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED
from lspkit.runtime.watch.event_report import EventReport, Links
from lspkit.runtime.watch.watched_folders import OuterFolders, is_excluded

#: Numbers for folders instead of a stamp: one that is read as well, and one that is skipped.
READ, PASSED = -1, -2

#: Errors of the system: nothing is at a path, or it cannot be read until a change causes a hint.
GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
LASTING = frozenset({errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EINVAL})

_TIME_MASK = (1 << 64) - 1


def stamp_of(status: os.stat_result) -> int:
    """Inode, modification time and size as one number, in a third of the memory of three."""
    return status.st_ino << 128 | (status.st_mtime_ns & _TIME_MASK) << 64 | status.st_size


def read_entries(
    folder: str,
    since: int | None,
    is_read: Callable[[str], bool],
    note: Callable[[str, os.stat_result], None],
) -> tuple[dict[str, int], set[str]]:
    """The entries of a folder, and the names of those that are younger than `since`.

    `note` is called with links, and with files that have other names.
    """
    now: dict[str, int] = {}
    young: set[str] = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_spare(entry.name):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    now[entry.name] = READ if is_read(entry.path) else PASSED
                    if since is None:
                        continue
                    status = entry.stat(follow_symlinks=False)
                elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                    status = entry.stat(follow_symlinks=False)
                    now[entry.name] = stamp_of(status)
                    if status.st_nlink > 1 or entry.is_symlink():
                        note(entry.path, status)
                else:
                    continue
            except OSError:
                continue  # it is gone already
            # Only the ctime will do: programs may set the modification time. A folder is young,
            # too, if an entry was added or removed.
            if since is not None and status.st_ctime_ns > since:
                young.add(entry.name)
    return now, young


def can_exist(path: str) -> bool:
    """Whether the system can have such a path. A server may name any."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


class TreeSnapshot:
    """The files below some folders, and their events. For one thread at a time."""

    def __init__(
        self,
        watch: Callable[[str, bool], None],
        unwatch: Callable[[str], None],
        excluded: Callable[[str], bool] = is_excluded,
        watch_file: Callable[[str], None] = lambda _: None,
        outer: OuterFolders | None = None,
    ) -> None:
        self._watch = watch
        self._unwatch = unwatch
        self._watch_file = watch_file
        self._excluded = excluded
        #: The requested folders. One may lie in another.
        self.tops: set[str] = set()
        #: Every folder that was read, and its entries: a stamp for a file.
        self.folders: dict[str, dict[str, int]] = {}
        #: Folders that were not read yet, and since when a change counts.
        self.due: dict[str, int] = {}
        #: Folders that could not be read for a temporary reason, and since when a change counts.
        self.unsure: dict[str, int | None] = {}
        #: Folders to compare next, the last one first, and whether each file in them has changed in
        #: any case. While there are any, `report` is incomplete.
        self.behind: list[tuple[str, bool]] = []
        # Those of `tops` whose subfolders are not read.
        self._shallow: set[str] = set()
        self._links = Links(outer)
        #: Those of `tops` that are requested only because links lead there.
        self._by_link: set[str] = set()
        self.report = EventReport(self._links)

    def add(self, top: str, *, deep: bool, since: int) -> None:
        """Request a folder, with `deep` also its subfolders; `read_next` reads them."""
        self._by_link.discard(top)
        self._request(top, deep=deep, since=since)

    def _request(self, top: str, *, deep: bool, since: int) -> None:
        known = top in self.folders
        self.tops.add(top)
        if known and (not deep or top not in self._shallow):
            return
        if deep:
            self._shallow.discard(top)
        else:
            self._shallow.add(top)
        above, name = self.folders.get(os.path.dirname(top), {}), os.path.basename(top)
        if above.get(name) == PASSED:
            above[name] = READ
        # What was requested last is read first.
        self.due[top] = min(since, self.due.pop(top, since))

    def remove(self, top: str) -> None:
        """Withdraw the request of a folder. Its files have no events."""
        if self._links.leads_to(top):
            self._by_link.add(top)
            return
        self._withdraw(top)
        self._follow_links(time.time_ns())

    def _withdraw(self, top: str) -> None:
        self.tops.discard(top)
        above, name = os.path.split(top)
        entries = self.folders.get(above, {})
        if name in entries:
            if above not in self._shallow and not self._excluded(top):
                return  # it is part of another one
            entries[name] = PASSED
        self._shallow.discard(top)
        self._drop(top, silently=True)

    def reconsider(self) -> None:
        """Check again whether the skipped folders are excluded."""
        for folder, entries in self.folders.items():
            for name, state in entries.items():
                path = os.path.join(folder, name)
                if state == PASSED and self._is_read(path):
                    entries[name] = READ
                    self.due[path] = time.time_ns()

    def read_next(self) -> None:
        """Read one folder that was not read yet."""
        folder = next(reversed(self.due))
        since = self.due[folder]
        self._read(folder)
        self._follow_links(since)

    def go_on(self, until: float = math.inf) -> None:
        """Continue comparing, until that time of the monotonic clock."""
        self._follow_links(time.time_ns())
        while self.behind:
            folder, anew = self.behind.pop()
            above, name = os.path.split(folder)
            # Else it is gone by now, or no longer requested.
            if folder in self.tops or self.folders.get(above, {}).get(name) == READ:
                self.behind += [(inner, anew) for inner in self._read(folder, anew)]
            self._follow_links(time.time_ns())
            if time.monotonic() >= until:
                return

    def try_again(self, until: float = math.inf) -> None:
        """Look for missing folders, and read folders that could not be read."""
        for top in self.missing():
            self._look(top, False)
        unsure, self.unsure = self.unsure, {}
        for folder, since in unsure.items():
            if since is None:
                self.behind.append((folder, False))
            else:
                self.due[folder] = since
        self.go_on(until)

    def missing(self) -> list[str]:
        """Requested folders that are missing, and whose creation would cause no hint."""
        return [
            top
            for top in self.tops
            if top not in self.folders
            and top not in self.due
            and os.path.dirname(top) not in self.folders
        ]

    def look(self, path: str, *, anew: bool = False, until: float = math.inf) -> bool:
        """Compare what is at a path; returns whether that is watched.

        With `anew` a file has changed even if its stamp is equal, and so has each file in a folder:
        it was missing for a moment, and a server may have found nothing there. The content of a new
        folder may be left for `go_on`.
        """
        way: list[str] = []
        here = path
        while (above := os.path.dirname(here)) not in self.folders and here not in self.tops:
            if above == here:
                return False
            way.append(above)
            here = above
        if anew:
            # It is new to those who requested the folders above it, whenever it is read.
            self.due.pop(path, None)
        # Unknown folders above it are compared first: they may be new as well.
        for folder in reversed(way):
            if not self._look(folder, False):
                return False
            self.go_on(until)
        is_watched = self._look(path, anew)
        self.go_on(until)
        return is_watched

    def look_everywhere(self, until: float = math.inf) -> None:
        """Compare everything, as far as there is time; `go_on` continues."""
        for top in list(self.tops):
            above, name = os.path.split(top)
            if self.folders.get(above, {}).get(name) == READ:
                continue  # it is compared with the folder that holds it
            self._look(top, False)
            if top in self.folders:
                self.behind.append((top, False))
        self.go_on(until)

    def _look(self, path: str, anew: bool) -> bool:
        above, name = os.path.split(path)
        entries = self.folders.get(above)
        if entries is None and path not in self.tops:
            return False
        if is_spare(name):
            return True
        try:
            now = self._state(path)
        except OSError:
            return True  # nothing is known about it now
        if entries is None:
            # An outermost folder: no watched folder has it as an entry.
            entries = {name: READ}
            now = None if now is not None and now >= 0 else now
        before = entries.get(name)
        if before == READ and now != READ:
            self._drop(path)
        if before is not None and before >= 0 and (now is None or now < 0):
            self.report.add(path, DELETED)
        if (now == PASSED and (anew or before is None)) or (before == PASSED and now is None):
            self.report.add_skipped(path, DELETED if now is None else CREATED)
        if now is None:
            entries.pop(name, None)
            return True
        if now >= 0:
            if before is None or before < 0:
                self.report.add(path, CREATED)
            elif anew or now != before:
                self.report.add(path, CHANGED)
        entries[name] = now
        if now == READ and before == PASSED:
            self.due[path] = time.time_ns()
        elif now == READ and (anew or path not in self.folders):
            if path not in self.due:
                self.report.add(path, CREATED, is_folder=True)
            self.behind.append((path, anew))
        return now != PASSED

    def _state(self, path: str) -> int | None:
        """The stamp of a file, the number of a folder, or None if there is neither."""
        try:
            # A link that was requested by name stands for its target.
            status = os.stat(path) if path in self.tops else os.lstat(path)
        except ValueError:
            return None
        except OSError as problem:
            if problem.errno in GONE:
                return None
            raise
        if stat.S_ISDIR(status.st_mode):
            return READ if self._is_read(path) else PASSED
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            return None
        self._note(path, status)
        return stamp_of(status)

    def _note(self, path: str, status: os.stat_result) -> None:
        """Record a link, or a file with other names."""
        if stat.S_ISLNK(status.st_mode):
            # A shallow folder is watched for some of its files, whose links are not among them.
            if os.path.dirname(path) not in self._shallow:
                self._links.note(path)
        elif status.st_nlink > 1:
            self._watch_file(path)

    def _follow_links(self, since: int) -> None:
        """Request the folders that links lead to, and withdraw those that none leads to."""
        while self._links.pending:
            folder, noted = self._links.pending.popitem()
            if self._links.leads_to(folder):
                if folder not in self.tops:
                    self._by_link.add(folder)
                self._request(folder, deep=self._links.is_deep(folder), since=min(since, noted))
            elif folder in self._by_link:
                self._withdraw(folder)
                self._by_link.discard(folder)

    def _is_read(self, folder: str) -> bool:
        # A folder that was read stays so: excluding it later is no deletion.
        if folder in self.folders or folder in self.tops:
            return True
        return os.path.dirname(folder) not in self._shallow and not self._excluded(folder)

    def _deepen(self, folder: str) -> bool:
        """Read a shallow folder with its subfolders if an outer folder needs it."""
        above = os.path.dirname(folder)
        if folder not in self._shallow or above not in self.folders or above in self._shallow:
            return False
        if self._excluded(folder):
            return False
        self._shallow.discard(folder)
        return True

    def _read(self, folder: str, anew: bool = False) -> list[str]:
        """Watch and read one folder; returns its subfolders that have to be read next."""
        since = self.due.pop(folder, self.unsure.pop(folder, None))
        self._deepen(folder)
        try:
            self._watch(folder, folder in self.tops)
            now, young = read_entries(folder, since, self._is_read, self._note)
        except OSError as problem:
            self._cannot_read(folder, problem, since)
            return []
        inner = [os.path.join(folder, name) for name, state in now.items() if state == READ]
        if since is not None and folder not in self.folders:
            for name in young:
                self._report_new(os.path.join(folder, name), now[name], REPLACED)
            self.folders[folder] = now
        else:
            self._compare(folder, now, since, young, anew)
        return self._next(inner, since)

    def _compare(
        self, folder: str, now: dict[str, int], since: int | None, young: set[str], anew: bool
    ) -> None:
        """Report the differences in a folder; with `anew`, everything is different."""
        entries = self.folders.setdefault(folder, {})
        for name in [name for name in entries if name not in now]:
            self._vanished(entries, folder, name)
        for name, state in now.items():
            before = entries.get(name)
            if before == state and not (anew and state >= 0):
                continue
            path = os.path.join(folder, name)
            if before == PASSED and state == READ:
                self.due[path] = time.time_ns()
            elif before is not None and (before < 0 or state < 0):
                self._vanished(entries, folder, name)
                before = None
            if state >= 0 and before is not None:
                self.report.add(path, REPLACED if anew else CHANGED)
            elif before is None and (since is None or name in young):
                self._report_new(path, state, CREATED if since is None else REPLACED)
            entries[name] = state

    def _report_new(self, path: str, state: int, kind: int) -> None:
        """An entry is new; `kind` is for a file, which may have existed before."""
        if state == PASSED:
            self.report.add_skipped(path, CREATED)
        elif state == READ:
            self.report.add(path, CREATED, is_folder=True)
        else:
            self.report.add(path, kind)

    def _next(self, inner: list[str], since: int | None) -> list[str]:
        if since is None:
            # Those that were not read yet are in `due`.
            return [folder for folder in inner if folder not in self.due]
        for folder in inner:
            if folder not in self.folders or self._deepen(folder):
                self.due.setdefault(folder, since)
        return []

    def _cannot_read(self, folder: str, problem: OSError, since: int | None) -> None:
        """Keep what is known, unless the folder is gone."""
        if problem.errno in GONE:
            self._drop(folder)
        elif problem.errno not in LASTING:
            self.unsure[folder] = since

    def _vanished(self, entries: dict[str, int], folder: str, name: str) -> None:
        path, before = os.path.join(folder, name), entries[name]
        if before == READ:
            self._drop(path)
        elif before == PASSED:
            self.report.add_skipped(path, DELETED)
        else:
            self.report.add(path, DELETED)
        del entries[name]

    def _drop(self, folder: str, *, silently: bool = False) -> None:
        """A folder is gone with everything in it; `silently`: it is no longer requested."""
        folders = [folder]
        while folders:
            here = folders.pop()
            self.due.pop(here, None)
            self.unsure.pop(here, None)
            self._unwatch(here)
            if here in self.folders and not silently:
                self.report.add(here, DELETED, is_folder=True)
            entries = self.folders.get(here, {})
            for name, state in entries.items():
                path = os.path.join(here, name)
                if state == READ and not (silently and path in self.tops):
                    folders.append(path)
                if state < 0:
                    continue
                self._unwatch(path)  # it may have several names
                if silently:
                    self._links.forget(path)
                else:
                    self.report.add(path, DELETED)
            self.folders.pop(here, None)
