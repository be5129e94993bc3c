"""Which folders are watched.

Folders in which tools keep many files that no server reads are not. The name alone decides where it
is used for nothing else. Some folders of tools hold sources as well, and some names are also used
for folders of sources: these are checked more closely, since an unseen change of a file makes a
result wrong.

Folders outside of the workspace are watched with limits, as there may be far too many. A server
that waits for a missing file may register for everything in a folder high above it: TypeScript 7
does for `/tmp`, if an import leads two folders up. Files near the workspace are the
most likely to be read, so they are the first, and each branch has a limit: one folder beside the
path to the workspace, with everything in it.

A link in the project may lead anywhere, and the project is not trusted. So the number of folders
that links lead to is limited, and what is in these folders counts like other folders. A folder that
holds the workspace or the user's home is not watched, unless it is part of the work tree.
"""

from __future__ import annotations

import collections
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable

from lspkit.limits import MOST_FOLDERS_BESIDE, MOST_FOLDERS_OF_BRANCH, MOST_LINKED_FOLDERS
from lspkit.workspace_boundary import is_inside, own_home, project_tree

log = logging.getLogger("lspkit.runtime")

#: Never watched, unless a server registers for them by name.
EXCLUDED = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", ".bzr"),
        *("node_modules", "bower_components", ".yarn", ".pnpm-store"),
        *(".venv", "venv", ".tox", ".nox", ".eggs", ".direnv"),
        *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache"),
        *(".ipynb_checkpoints", ".turbo", ".parcel-cache"),
        *(".gradle", ".terraform", ".dart_tool", ".stack-work", ".zig-cache"),
    }
)

#: Where frameworks put generated types and settings that scripts of the project use.
_GENERATED = frozenset({".next", ".nuxt", ".svelte-kit"})
#: Build output beside these, there or one folder deeper, as in `.next/dev/server`.
_BUILT = frozenset(
    {"analyze", "build", "cache", "diagnostics", "dist", "output", "server", "standalone", "static"}
)

#: The output folder of several build tools; a package may have this name, too.
_TARGET = "target"
#: It is a tool's folder if one of these lies beside it and it is no package; cargo leaves a marker
#: file in its own.
_BUILD_FILES = ("pom.xml", "build.sbt", "build.properties", "project.clj")
_MARK, _PACKAGE = "CACHEDIR.TAG", "__init__.py"

#: File systems of the kernel: their entries are no files, and some change by being read.
_KERNEL = ("/proc", "/sys", "/dev")
#: Links into such folders are not followed.
_SKIPPED = EXCLUDED | {"site-packages"}


def is_excluded(folder: str) -> bool:
    """Whether a folder is excluded."""
    above, name = os.path.split(folder)
    if name in EXCLUDED:
        return True
    if name in _BUILT:
        outer, around = os.path.split(above)
        return around in _GENERATED or os.path.basename(outer) in _GENERATED
    if name != _TARGET or os.path.exists(os.path.join(folder, _PACKAGE)):
        return False
    places = [os.path.join(above, name) for name in _BUILD_FILES]
    return any(map(os.path.exists, [*places, os.path.join(folder, _MARK)]))


class OuterFolders:
    """Which of them are watched. For any thread."""

    def __init__(self, workspace: str, lock: threading.Lock) -> None:
        self._workspace = workspace
        #: The work tree around it.
        self._tree = project_tree(workspace)
        #: That of `DiskEvents`. It guards the fields below; the first three are replaced as a
        #: whole.
        self._lock = lock
        #: Folders that servers have registered for, and folders that are watched in any case.
        self._registered: frozenset[str] = frozenset()
        self._meant: frozenset[str] = frozenset()
        #: Folders that links of the project lead to, and when the last was added, by the monotonic
        #: clock.
        self._linked: frozenset[str] = frozenset()
        self.linked_at = 0.0
        self._watched: set[str] = set()
        #: How many of them lie in a branch.
        self._counts: collections.Counter[str] = collections.Counter()
        #: Branches in which some folders are not watched.
        self._cut: set[str] = set()

    def ask(self, folders: Iterable[str]) -> None:
        """A server has registered for these."""
        outer = [folder for folder in folders if not is_inside(folder, self._workspace)]
        with self._lock:
            self._registered = self._registered.union(outer)

    def mean(self, folder: str) -> None:
        """Watch a folder in any case, with everything in it."""
        with self._lock:
            self._meant = self._meant.union((folder,))

    def ask_work_tree(self) -> list[str]:
        """A server may read the whole work tree: returns the folders to watch, the nearest last."""
        if self._tree == self._workspace:
            return []
        self.ask([self._tree])
        return self.way_from(self._tree)

    def is_in_work_tree(self, path: str) -> bool:
        """Whether a path lies in the work tree around the workspace."""
        return is_inside(path, self._tree)

    def follow(self, link: str, folder: str, *, deep: bool) -> bool:
        """Whether a folder is to be watched because a link leads to it.

        Without `deep` the link leads to a file in it, and only the folder itself is watched.
        """
        if any(is_inside(folder, path) for path in (self._workspace, *_KERNEL)):
            return False
        # The files that tools link to are their programs, as `.venv/bin/python`.
        if self._is_of_tools(folder) or (not deep and self._is_of_tools(link)):
            return False
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            return False
        is_wide = deep and not is_inside(folder, self._tree)
        is_wide = is_wide and any(is_inside(path, folder) for path in (self._workspace, own_home()))
        with self._lock:
            if is_wide or (folder not in self._linked and len(self._linked) >= MOST_LINKED_FOLDERS):
                self._cut.add(folder)
                return False
            self._linked = self._linked.union((folder,))
            self.linked_at = time.monotonic()
        return True

    def leave(self, folder: str) -> None:
        """No link leads to a folder any more: it makes room for others."""
        with self._lock:
            self._linked = self._linked.difference((folder,))
            self._cut.discard(folder)

    def _is_of_tools(self, path: str) -> bool:
        return not _SKIPPED.isdisjoint(os.path.relpath(path, self._workspace).split(os.sep))

    def way_from(self, folder: str) -> list[str]:
        """A folder, and those in it that hold the workspace, the innermost last."""
        way = [folder]
        above = os.path.dirname(self._workspace)
        while above != folder and is_inside(above, folder):
            way.insert(1, above)
            above = os.path.dirname(above)
        return way

    def hold(self, path: str) -> bool:
        """Whether a path is watched only because of a server or link that names a folder above."""
        if not (self._registered or self._linked) or is_inside(path, self._workspace):
            return False
        if any(is_inside(path, folder) for folder in self._meant):
            return False
        return any(is_inside(path, folder) for folder in (*self._registered, *self._linked))

    def admit(self, folder: str) -> bool:
        """Whether a folder may be watched; if so, it is counted."""
        if not self.hold(folder) or is_inside(self._workspace, folder):
            return True
        branch = self._branch(folder)
        with self._lock:
            if folder in self._watched:
                return True
            is_full = len(self._watched) >= MOST_FOLDERS_BESIDE
            if not is_full and self._counts[branch] < MOST_FOLDERS_OF_BRANCH:
                self._watched.add(folder)
                self._counts[branch] += 1
                return True
            is_new = branch not in self._cut
            self._cut.add(branch)
        if is_new:
            log.info("%s has too many folders: some of them are not watched", branch)
        return False

    def release(self, folder: str) -> None:
        """A folder is no longer watched: it makes room for others."""
        with self._lock:
            if folder in self._watched:
                self._watched.discard(folder)
                self._counts[self._branch(folder)] -= 1

    def clear(self, is_unused: Callable[[], bool]) -> None:
        """Nothing is watched any more, unless another server has begun meanwhile."""
        with self._lock:
            if not is_unused():
                return
            self._registered = self._meant = self._linked = frozenset()
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
        many = "servers and links lead to more folders outside the workspace than can be watched"
        return [f"{many}: changes in some of those in {cut[0]}{more} go unseen"]

    def _branch(self, folder: str) -> str:
        """The outermost folder above it that does not hold the workspace."""
        above = os.path.dirname(folder)
        while above != folder and not is_inside(self._workspace, above):
            above, folder = os.path.dirname(above), above
        return folder
