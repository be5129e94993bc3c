"""Files of a workspace: located, read once, and read again when they have changed.

A file is identified by its *stamp* (size, times, inode). With an equal stamp its text is unchanged,
with one exception: a file that was read right after a write may be written again within the same
tick of the file system's clock. Such a read has a stamp that no file has, so the file is read again
until it is older; the first read is used only by a call that began before it.

A path may lead elsewhere at any time: a folder is replaced by a link, a file by a pipe. So a path
is resolved for every call, and again when the file is opened; only regular files are read.
"""

from __future__ import annotations

import collections
import operator
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard

import msgspec

from lspkit.edits.descriptor import open_descriptor, open_fd
from lspkit.edits.text_edits import decode
from lspkit.errors import PathError
from lspkit.protocol.text import BYTE_ORDER_MARK, Text, Unsaved
from lspkit.protocol.uris import normalize_uri, path_to_uri, uri_to_path
from lspkit.workspace_boundary import (
    Boundary,
    absolute_path,
    is_excluded,
    is_inside,
    locate,
)

#: Size, mtime, ctime, inode, device of a file. A sixth number marks a file that was too young when
#: it was read: the time of the read by the monotonic clock (0 if it was written meanwhile).
Stamp = tuple[int | float, ...]
#: How many numbers a stamp has without that mark.
STAMP_SIZE = 5

#: Two writes closer than this may carry the same time stamp.
TICK_NS = 20_000_000
#: How often a file is read again that is replaced while it is read.
READS = 50
#: What Linux appends to the path of an open file that was deleted.
DELETED = " (deleted)"
_O_PATH: int = getattr(os, "O_PATH", 0) if os.path.isdir("/proc/self/fd") else 0
#: Texts of files are kept up to this many characters altogether.
KEEP_CHARACTERS = 32_000_000
#: Most files of libraries that are remembered.
MOST_LIBRARY_FILES = 20_000


class Content(msgspec.Struct, frozen=True):
    """What was read from a file."""

    text: Text
    stamp: Stamp | Unsaved
    #: Whether the file begins with a byte order mark, which is not part of the text.
    marked: bool = False


#: The stamp of a file from its `stat` result.
stamp_of: Callable[[os.stat_result], Stamp] = operator.attrgetter(
    "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev"
)


def was_read_since(stamp: object, since: float) -> TypeGuard[Stamp]:
    """Whether a stamp is that of a young file which was read after this time."""
    return isinstance(stamp, tuple) and len(stamp) > STAMP_SIZE and stamp[STAMP_SIZE] > since


def stat_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def leads_to(path: str) -> tuple[str, os.stat_result] | None:
    """The real path, and its `stat` result; None if nothing is there.

    On Linux the kernel resolves it, in a third of the time that following the links here takes.
    """
    try:
        if not _O_PATH:
            return os.path.realpath(path), os.stat(path)
        descriptor = open_descriptor(path, _O_PATH | os.O_CLOEXEC)  # closed on return
        number = descriptor.fileno()
        return os.readlink(f"/proc/self/fd/{number}"), os.fstat(number)
    except (OSError, ValueError):
        return None


def _all_of(descriptor: int, size: int) -> bytes:
    """The content of an open file, read up to its end, since it may have grown."""
    parts = []
    while part := os.read(descriptor, max(size, 4096) + 1):
        parts.append(part)
    return b"".join(parts)


def read_content(path: str, name: str) -> Content:
    """The text of the file at this real path; raises if it is a link now."""
    try:
        for _ in range(READS):
            read_at = time.monotonic()
            result = _read_once(path, name)
            if result is not None:
                return _content(name, read_at, *result)
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise PathError(f"{name} cannot be read: {why}", code="ENOENT", path=name) from None
    raise PathError(f"{name} is replaced all the time", code="ENOENT", path=name)


def _read_once(path: str, name: str) -> tuple[bytes, os.stat_result, os.stat_result] | None:
    """Its bytes, and its `stat` before and after; None if the file has just been replaced."""
    # Non-blocking: it may be a pipe by now.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    with open_fd(path, flags) as descriptor:
        before = os.fstat(descriptor)
        place = os.readlink(f"/proc/self/fd/{descriptor}") if _O_PATH else os.path.realpath(path)
        there = (path, before) if place == path else leads_to(path)
        if there is None or (place != path and there[0] in (path, path + DELETED)):
            return None
        if not stat.S_ISREG(before.st_mode) or there[0] != path:
            raise PathError(f"{name} is no longer a file of its own", code="ENOENT", path=name)
        data = _all_of(descriptor, before.st_size)
        return data, before, os.fstat(descriptor)


def _content(
    name: str, read_at: float, data: bytes, before: os.stat_result, after: os.stat_result
) -> Content:
    mark, text = decode(data, name)
    stamp = stamp_of(after)
    newest = max(after.st_mtime_ns, after.st_ctime_ns)
    if stamp_of(before) != stamp:
        stamp = (*stamp, 0)
    elif time.time_ns() - newest <= TICK_NS:
        stamp = (*stamp, read_at)
    return Content(Text(text), stamp, bool(mark))


class File(msgspec.Struct, frozen=True):
    """A file that lspkit may touch."""

    path: str
    uri: str
    #: None if it does not exist; `Unsaved` if it has an overlay.
    stamp: Stamp | Unsaved | None
    #: A read after this time, by the monotonic clock, is new enough for the caller, even if the
    #: file is so young that it may be written again without a new stamp.
    since: float = float("inf")
    #: The path as the caller wrote it; empty if there is none.
    given: str = ""


class LibraryFile(msgspec.Struct, frozen=True):
    """A file outside the workspace that an answer of a server named."""

    #: Its real path, and its URI as the server writes it: to some, another name is another file.
    path: str
    uri: str
    #: The server: its id and root, and the path of the document that it was asked about.
    server: str
    root: str
    via: str


class Place(msgspec.Struct, frozen=True):
    """Where a URI from a server points."""

    path: Path | None
    #: The path to read its text from, if that is allowed. A URI may point to a library outside the
    #: workspace, but that is not read.
    readable: str | None
    #: The URI in lspkit's spelling.
    uri: str


class Overlays:
    """Texts shown in place of files, by real path; the last one counts."""

    def __init__(self, lock: threading.Lock) -> None:
        #: That of the files. Guards the fields below. Readers do not need it: a list is replaced as
        #: a whole.
        self._lock = lock
        #: Real path: its overlays.
        self.shown: dict[str, list[Content]] = {}
        #: The client that shows them, where there are several, and its number while it has texts;
        #: 0 is the number of all that show none.
        self._client: object = None
        self.client_number = 0
        #: By other client: its overlays, the texts that it has synced, by path, and its number.
        self._hidden: dict[object, tuple[dict[str, list[Content]], dict[str, str], int]] = {}
        self._last = 0

    def begin(self, texts: dict[str, str]) -> int:
        """Add overlays; returns the number that `end` takes."""
        with self._lock:
            self._last += 1
            for path, text in texts.items():
                shown = Content(Text(text.removeprefix(BYTE_ORDER_MARK)), Unsaved(self._last))
                self.shown[path] = [*self.shown.get(path, ()), shown]
            return self._last

    def end(self, number: int) -> list[str]:
        """Remove overlays; returns their paths."""
        ended: list[str] = []
        with self._lock:
            for path, contents in list(self.shown.items()):
                left = [content for content in contents if content.stamp != Unsaved(number)]
                if len(left) == len(contents):
                    continue
                ended.append(path)
                if left:
                    self.shown[path] = left
                else:
                    del self.shown[path]
        return ended

    def switch(self, client: object, synced: dict[str, str]) -> dict[str, str]:
        """Show the overlays of another client; returns the texts that it has synced.

        `synced` are those of the client that has shown its overlays so far.
        """
        with self._lock:
            if self.shown or synced:
                self._hidden[self._client] = (self.shown, synced, self.client_number)
            self._last += 1
            number = 0 if client is None else self._last
            self._client = client
            self.shown, synced, self.client_number = self._hidden.pop(client, ({}, {}, number))
            return synced

    def paths(self) -> list[str]:
        """The files that have an overlay."""
        return list(self.shown)

    def get(self, path: str) -> Content | None:
        """The overlay of a file."""
        contents = self.shown.get(path)
        return contents[-1] if contents else None


class Files:
    """The files of one workspace. For any thread."""

    def __init__(self, boundary: Boundary) -> None:
        #: The files that may be touched; replaced as a whole.
        self.boundary = boundary
        #: Guards the overlays and the tables below. No I/O while it is held.
        self._lock = threading.Lock()
        self.overlays = Overlays(self._lock)
        #: Path as given: its absolute path, real path and URI, valid while it leads there.
        self._located: dict[str, tuple[str, str, str]] = {}
        #: Real path: content, least recently used first.
        self._contents: collections.OrderedDict[str, Content] = collections.OrderedDict()
        self._kept = 0
        #: By URI as a server writes it.
        self._places: dict[str, Place] = {}
        #: Files of libraries, by their paths as named and by their real paths. Read without lock.
        self.libraries: dict[str, LibraryFile] = {}

    def confine(self, boundary: Boundary) -> None:
        """Use another boundary from now on, also for files that are located already."""
        with self._lock:
            self.boundary = boundary
            self._located.clear()
            self._places.clear()
            self.libraries.clear()

    def note_library(self, path: str, library: LibraryFile) -> None:
        """Note a file of a library; the oldest is forgotten if there are too many."""
        with self._lock:
            self.libraries[path] = library
            if len(self.libraries) > MOST_LIBRARY_FILES:
                del self.libraries[next(iter(self.libraries))]

    def library(self, path: str) -> LibraryFile | None:
        """The file of a library at a path; None if no server has named it."""
        return self.libraries.get(path)

    def locate(
        self, given: str, *, may_be_missing: bool = False, since: float = float("inf")
    ) -> File:
        """The file at a path that a caller gave. Raises `PathError`."""
        if self.overlays.shown:
            file = self._locate(given, may_be_missing=True, since=since)
            shown = self.overlays.get(file.path)
            if shown is not None:
                return File(file.path, file.uri, shown.stamp, given=given)
        return self._locate(given, may_be_missing=may_be_missing, since=since)

    def _locate(self, given: str, *, may_be_missing: bool, since: float) -> File:
        known = self._located.get(given)
        if known is not None:
            absolute, real, uri = known
            there = leads_to(absolute)
            if there is not None and there[0] == real and stat.S_ISREG(there[1].st_mode):
                return File(real, uri, stamp_of(there[1]), since, given)
        boundary = self.boundary
        located = locate(given, boundary, may_be_missing=may_be_missing)
        uri = path_to_uri(located.path)
        if located.stat is None:
            return File(located.path, uri, None, given=given)
        if not given.startswith("@"):  # it is resolved against the files that exist
            absolute = absolute_path(given, boundary.root)
            with self._lock:
                if len(self._located) > 10_000:
                    self._located.clear()
                if self.boundary is boundary:
                    self._located[given] = (absolute, located.path, uri)
        return File(located.path, uri, stamp_of(located.stat), since, given)

    def again(self, uri: str, *, since: float = float("inf")) -> File | None:
        """A file that was located before, as it is now; None if the URI names no file.

        A file that may no longer be touched counts as deleted.
        """
        path = uri_to_path(uri)
        if path is None:
            return None
        shown = self.overlays.get(path)
        if shown is not None:
            return File(path, uri, shown.stamp)
        status = stat_of(path) if self.place(uri).readable is not None else None
        return File(path, uri, None if status is None else stamp_of(status), since)

    def has_stamp(self, uri: str, stamp: object) -> bool:
        """Whether a file on disk still has this stamp. Quicker than `again`, for many files."""
        path = uri_to_path(uri)
        if path is None or path in self.overlays.shown or self.place(uri).readable is None:
            return False
        status = stat_of(path)
        return status is not None and stamp_of(status) == stamp

    def read(self, file: File) -> Content:
        """The text of a file, from memory if it is unchanged."""
        if isinstance(file.stamp, Unsaved):
            shown = self.overlays.get(file.path)
            if shown is not None:
                return shown
        known = self._contents.get(file.path)
        if known is not None and is_current(known.stamp, file):
            return known
        try:
            content = read_content(file.path, file.given or file.path)
        except PathError as problem:
            facts = {"resolved": file.path, "boundary": self.boundary.root, **problem.fields}
            raise PathError(problem.message, code=problem.code, **facts) from None
        with self._lock:
            old = self._contents.pop(file.path, None)
            if old is not None and old.text.value == content.text.value:
                # This text has its lines split already.
                content = msgspec.structs.replace(content, text=old.text)
            self._kept += len(content.text.value) - (len(old.text.value) if old else 0)
            self._contents[file.path] = content
            while self._kept > KEEP_CHARACTERS and len(self._contents) > 1:
                _, dropped = self._contents.popitem(last=False)
                self._kept -= len(dropped.text.value)
        return content

    def disk_text(self, path: str) -> Text | None:
        """The text on disk, without overlays; None if there is none."""
        status = stat_of(path)
        try:
            return None if status is None else self.read(File(path, "", stamp_of(status))).text
        except PathError:
            return None

    def place(self, uri: str) -> Place:
        """Where a URI from a server points."""
        known = self._places.get(uri)
        if known is not None:
            return known
        path, boundary = uri_to_path(uri), self.boundary
        if path is None or "\0" in path:
            place = Place(None, None, uri)
        else:
            real = os.path.realpath(path)
            inside = is_inside(real, boundary.root) or is_inside(real, boundary.outer)
            allowed = (inside or boundary.allow_external) and not is_excluded(real, boundary)
            place = Place(Path(path), real if allowed else None, normalize_uri(uri))
        with self._lock:
            if len(self._places) > 50_000:
                self._places.clear()
            if self.boundary is boundary:
                self._places[uri] = place
        return place

    def text_at(self, path: str) -> Text | None:
        """The text of a file that a server pointed to, None if it cannot be read."""
        content = self.content_at(path)
        return None if content is None else content.text

    def content_at(self, path: str) -> Content | None:
        """The content of a file that a server pointed to, None if it cannot be read."""
        shown = self.overlays.get(path) if self.overlays.shown else None
        if shown is not None:
            return shown
        try:
            stamp = stamp_of(os.stat(path))
        except (OSError, ValueError):
            return None
        known = self._contents.get(path)
        if known is not None and known.stamp == stamp:
            return known
        try:
            return self.read(File(path, "", stamp))
        except PathError:
            return None


def is_current(stamp: object, file: File) -> bool:
    """Whether a text read with this stamp is that of the file as it is now."""
    if stamp == file.stamp:
        return True
    return was_read_since(stamp, file.since) and stamp[:STAMP_SIZE] == file.stamp
