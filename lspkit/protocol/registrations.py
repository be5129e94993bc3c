"""A server's registrations for watched files.

A registration is a list of globs, each a string or a pattern relative to a base, with a mask of the
kinds of change. A relative string is relative to the server's root; one that begins with `**`
applies to the whole workspace, since a server may read files beside or above its root. Nothing here
accesses the disk: `bases` and `names_folder` tell a watcher where to look, `wants` what to send.

Invalid parts of a registration are ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from lspkit.limits import MOST_GLOB_WORK, MOST_GLOBS
from lspkit.protocol.capabilities import Registration
from lspkit.protocol.globs import compile_cost, compile_glob
from lspkit.protocol.uris import uri_to_path

#: The method of these registrations.
METHOD = "workspace/didChangeWatchedFiles"

#: `FileChangeType`.
CREATED, CHANGED, DELETED = 1, 2, 3
#: A file was replaced, and may have been missing for a moment. The protocol has no such type; see
#: `WatchRegistrations.kinds_to_send`.
REPLACED = 0

#: The bit of each kind in a registration's mask.
MASKS = {CREATED: 1, CHANGED: 2, DELETED: 4}
#: The default mask: everything.
ALL = 7

_WILD = re.compile(r"[*?\[{]")
_SEPARATORS = re.compile(r"[/{},]")
_SLASHES = re.compile("/+")


class FileEvent(msgspec.Struct, frozen=True):
    """A change of a file."""

    #: Absolute.
    path: str
    #: `CREATED`, `CHANGED`, `DELETED` or `REPLACED`.
    kind: int
    #: Whether it is a folder, which is only created or deleted; its files have own events.
    is_folder: bool = False


def separate_notes(changes: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The same changes in as few notes as will do so that none has two changes of one file."""
    notes: list[list[dict[str, Any]]] = []
    counts: Counter[str] = Counter()
    for change in changes:
        earlier = counts[change["uri"]]
        if earlier == len(notes):
            notes.append([])
        notes[earlier].append(change)
        counts[change["uri"]] += 1
    return notes


class _Glob(NamedTuple):
    """One pattern of a registration. Paths are written with slashes."""

    mask: int
    #: The required prefix of a path; the rest is matched.
    below: str
    matches: Callable[[str], bool]
    #: The innermost folder that contains all possible matches.
    base: str
    #: Whether it can match files in subfolders of `base`.
    deep: bool
    #: Whether it matches files of any name.
    takes_all: bool
    #: Literal parts of the pattern that may be names.
    words: frozenset[str]


class WatchRegistrations:
    """The registrations of one server. Changed by its owner, and read by any thread."""

    def __init__(
        self,
        root: str,
        workspace: str | None = None,
        *,
        kinds: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:
        self._kinds = {REPLACED: (DELETED, CREATED), **(kinds or {})}
        self._root = root
        around = workspace or root
        self._around = around if _is_below(root, around) else root
        self._by_id: dict[str, list[_Glob]] = {}
        # Replaced as a whole, so that a reader sees the old or the new one.
        self._globs: tuple[_Glob, ...] = ()
        # The folders above the base of a pattern, and the bases of patterns by word.
        self._above: set[str] = set()
        self._with_word: dict[str, set[str]] = {}
        # The folders that `new_bases` has returned.
        self._reported: dict[str, bool] = {}
        # The cost of compiling all patterns so far, including dropped ones.
        self._work = 0

    def __bool__(self) -> bool:
        return bool(self._globs)

    @property
    def edition(self) -> object:
        """Another object if the registrations have changed; one object means the same ones."""
        return self._globs

    def add(self, registration: Registration) -> int:
        """Add a registration for watched files. Returns how many patterns were over the limit.

        An earlier registration with the same id is kept: pyrefly registers twice.
        """
        if registration.method != METHOD:
            return 0
        options: Any = registration.options
        watchers = options.get("watchers") if isinstance(options, dict) else None
        entries = watchers if isinstance(watchers, list) else []
        taken = [
            watcher
            for watcher in entries[: MOST_GLOBS - len(self._globs)]
            if self._is_affordable(watcher)
        ]
        globs = [glob for watcher in taken if (glob := self._glob(watcher)) is not None]
        if globs:
            self._by_id.setdefault(registration.id, []).extend(globs)
            self._globs = (*self._globs, *globs)
            self._index(globs)
        return len(entries) - len(taken)

    def _is_affordable(self, watcher: Any) -> bool:
        """Whether the limit allows one more pattern of this cost; if so, it is counted."""
        given = watcher.get("globPattern") if isinstance(watcher, dict) else None
        pattern = given.get("pattern") if isinstance(given, dict) else given
        work = compile_cost(pattern) if isinstance(pattern, str) else 0
        if self._work + work > MOST_GLOB_WORK:
            return False
        self._work += work
        return True

    def drop(self, id: str) -> None:
        """Remove the registrations with this id."""
        if self._by_id.pop(id, None) is not None:
            self._globs = tuple(glob for globs in self._by_id.values() for glob in globs)
            self._above, self._with_word = set(), {}
            self._index(self._globs)

    def wants(self, path: str, kind: int) -> bool:
        """Whether the server wants this kind of change of an absolute path."""
        bit = MASKS.get(kind, 0)
        for glob in self._globs:
            if not glob.mask & bit or not path.startswith(glob.below):
                continue
            if glob.matches(path[len(glob.below) :]):
                return True
        return False

    def matches_by_name(self, path: str) -> bool:
        """Whether a pattern that depends on the file name matches."""
        return any(
            path.startswith(glob.below) and glob.matches(path[len(glob.below) :])
            for glob in self._globs
            if not glob.takes_all
        )

    def kinds_to_send(self, path: str, kind: int) -> tuple[int, ...]:
        """The kinds of change to send for a change of a path, in this order.

        A replaced file is reported as deleted and created. No single kind is always right: a server
        that has noticed the missing file ignores a change, and one that has not may ignore a
        creation.
        """
        kinds = self._kinds.get(kind, (kind,))
        if kind == REPLACED and not all(self.wants(path, type_) for type_ in kinds):
            kinds = (CHANGED,) if self.wants(path, CHANGED) else kinds
        return tuple(type_ for type_ in kinds if self.wants(path, type_))

    def bases(self) -> dict[str, bool]:
        """The folders with possible matches, and whether their subfolders have some, too.

        Never the root of a file system: the whole disk is not watched.
        """
        folders: dict[str, bool] = {}
        for glob in self._globs:
            if glob.base.strip("/"):
                folders[glob.base] = folders.get(glob.base, False) or glob.deep
        return folders

    def new_bases(self) -> dict[str, bool]:
        """The `bases` that were not returned before, or not as deep. For one thread."""
        reported = self._reported
        new = {
            folder: deep
            for folder, deep in self.bases().items()
            if reported.get(folder) is None or deep > reported[folder]
        }
        reported |= new
        return new

    def names_folder(self, folder: str) -> bool:
        """Whether a pattern names this folder explicitly.

        It does if its base is inside the folder, or if the folder is inside its base and the
        pattern contains the folder's name.
        """
        folder = folder.rstrip("/")
        name = folder.rpartition("/")[2]
        if folder in self._above:
            return True
        bases = self._with_word.get(name, ())
        return bool(bases) and any(path in bases for path in _itself_and_above(folder))

    def _index(self, globs: Iterable[_Glob]) -> None:
        for glob in globs:
            base = glob.base.rstrip("/")
            self._above.update(_itself_and_above(base))
            for word in glob.words:
                self._with_word.setdefault(word, set()).add(base)

    def _glob(self, watcher: Any) -> _Glob | None:
        if not isinstance(watcher, dict):
            return None
        given, mask = watcher.get("globPattern"), watcher.get("kind")
        if not isinstance(mask, int) or isinstance(mask, bool) or not 0 <= mask <= ALL:
            mask = ALL
        base: str | None = self._root
        if isinstance(given, dict):
            base, given = _base(given.get("baseUri")), given.get("pattern")
        if base is None or not isinstance(given, str) or not given.strip():
            return None
        pattern = rest = given.strip()
        if isinstance(watcher["globPattern"], str) and pattern.startswith("**"):
            base = self._around
        below = base.rstrip("/") + "/"
        if isinstance(watcher["globPattern"], str) and (start := _SLASHES.match(pattern)):
            # Matched as a whole, since wildcards may come before any folder.
            base, below, rest = start[0], "", pattern[start.end() :]
        fixed, wild = _split(rest)
        return _Glob(
            mask=mask,
            below=below,
            matches=compile_glob(pattern),
            base="/".join([base.removesuffix("/"), *fixed]) or "/",
            deep=len(wild) > 1 or "**" in "".join(wild),
            takes_all=not set("".join(wild)) - {"*"},
            words=frozenset(filter(None, _SEPARATORS.split(rest))),
        )


def _base(uri: Any) -> str | None:
    """The folder of a relative pattern, given by its URI or as a workspace folder."""
    if isinstance(uri, dict):
        uri = uri.get("uri")
    return uri_to_path(uri) if isinstance(uri, str) else None


def _split(pattern: str) -> tuple[list[str], list[str]]:
    """The literal folders at the start of a pattern, and the other segments."""
    segments = [name for name in pattern.removesuffix("/").split("/") if name]
    fixed = list(_literal_folders(segments))
    return fixed, segments[len(fixed) :]


def _literal_folders(segments: list[str]) -> Iterator[str]:
    for segment in segments[:-1]:
        if _WILD.search(segment):
            return
        yield segment


def _itself_and_above(path: str) -> Iterator[str]:
    """A path without a trailing slash, and all folders above it; the last one is empty."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield path


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
