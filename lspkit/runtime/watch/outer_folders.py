"""Folders outside of the workspace that servers register for, which may be far too many.

A server that waits for a missing file may register for everything in a folder high above it:
TypeScript 7 does for `/tmp`, if an import leads two folders up. So there is a limit. Files near the
workspace are the most likely to be read, so each folder above the workspace has a limit, and each
branch has: one folder beside the path to the workspace, with everything in it.
"""

from __future__ import annotations

import collections
import logging
import os
import threading
from collections.abc import Iterable

from lspkit.limits import MOST_FOLDERS_BESIDE, MOST_FOLDERS_OF_BRANCH
from lspkit.protocol.watching.registrations import DELETED, FileEvent
from lspkit.workspace_boundary import is_inside

log = logging.getLogger("lspkit.runtime")


class OuterFolders:
    """Which of them are watched. For any thread."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        #: Guards the fields below; the first two are replaced as a whole.
        self._lock = threading.Lock()
        #: Folders that servers have registered for, and folders that are watched in any case.
        self._asked: frozenset[str] = frozenset()
        self._meant: frozenset[str] = frozenset()
        self._watched: set[str] = set()
        #: How many of them lie in a branch, and in all branches of a folder above the workspace.
        self._counts: collections.Counter[str] = collections.Counter()
        #: Branches in which some folders are not watched.
        self._cut: set[str] = set()

    def ask(self, folders: Iterable[str]) -> None:
        """A server has registered for these."""
        outer = [one for one in folders if not is_inside(one, self._workspace)]
        with self._lock:
            self._asked = self._asked.union(outer)

    def mean(self, folder: str) -> None:
        """Watch a folder in any case, with everything in it."""
        with self._lock:
            self._meant = self._meant.union((folder,))

    def way_from(self, folder: str) -> list[str]:
        """A folder, and those in it that hold the workspace, the innermost last."""
        way = [folder]
        above = os.path.dirname(self._workspace)
        while above != folder and is_inside(above, folder):
            way.insert(1, above)
            above = os.path.dirname(above)
        return way

    def hold(self, path: str) -> bool:
        """Whether a path is watched only because a server has registered for a folder above it."""
        if not self._asked or is_inside(path, self._workspace):
            return False
        if any(is_inside(path, one) for one in self._meant):
            return False
        return any(is_inside(path, one) for one in self._asked)

    def admit(self, folder: str) -> bool:
        """Whether a folder may be watched; if so, it is counted."""
        if not self.hold(folder) or is_inside(self._workspace, folder):
            return True
        above, branch = self._branch(folder)
        with self._lock:
            if folder in self._watched:
                return True
            beside, inside = self._counts[above], self._counts[branch]
            if beside < MOST_FOLDERS_BESIDE and inside < MOST_FOLDERS_OF_BRANCH:
                self._watched.add(folder)
                self._counts.update((above, branch))
                return True
            is_new = branch not in self._cut
            self._cut.add(branch)
        if is_new:
            log.info("%s has too many folders: some of them are not watched", branch)
        return False

    def take_notice(self, events: Iterable[FileEvent]) -> None:
        """Deleted folders make room for others."""
        for event in events:
            if event.is_folder and event.kind == DELETED and event.path in self._watched:
                with self._lock:
                    self._watched.discard(event.path)
                    self._counts.subtract(self._branch(event.path))

    def clear(self) -> None:
        """Nothing is watched any more."""
        with self._lock:
            self._asked = self._meant = frozenset()
            self._watched.clear()
            self._counts.clear()
            self._cut.clear()

    def warnings(self) -> list[str]:
        """What is not watched, as text for the user."""
        with self._lock:
            cut = sorted(self._cut)
        if not cut:
            return []
        more = f" and {len(cut) - 1} more" if len(cut) > 1 else ""
        many = "a server asks for more folders outside the workspace than can be watched"
        return [f"{many}: changes in some of those in {cut[0]}{more} go unseen"]

    def _branch(self, folder: str) -> tuple[str, str]:
        """The innermost folder that holds both a folder and the workspace, and its branch."""
        above, branch = os.path.dirname(folder), folder
        while above != branch and not is_inside(self._workspace, above):
            above, branch = os.path.dirname(above), above
        return above, branch
