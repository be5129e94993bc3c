"""Files as the caller means them: located, read once, and read again when they have changed.

A file is known by its *stamp* (size, times, inode). While the stamp is the same, so is the text,
with one exception: a file that was written in the very moment when it was read may be written again
within the same tick of the file system's clock. Such a stamp is not trusted, and the file is read
anew until it has aged.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from pathlib import Path

import msgspec

from lspkit.edits.paths import Boundary, is_excluded, is_inside, locate, written
from lspkit.errors import PathError
from lspkit.protocol.text import Text
from lspkit.protocol.uris import path_to_uri, uri_to_path

#: What a file looked like: size, mtime, ctime, inode, device.
Stamp = tuple[int, int, int, int, int]

#: Two writes closer than this may carry the same time stamp.
TICK_NS = 20_000_000
#: Texts of files are kept up to this many characters altogether.
KEEP_CHARACTERS = 32_000_000
#: A NUL byte in so many first bytes means that the file is no text.
LOOK_FOR_NUL = 8192


class File(msgspec.Struct, frozen=True):
    """A file that may be touched."""

    path: str
    uri: str
    #: None if it is not there.
    stamp: Stamp | None


class Content(msgspec.Struct, frozen=True):
    """What was read from a file."""

    text: Text
    stamp: Stamp
    #: Whether an equal stamp still means an equal text.
    aged: bool


class Files:
    """The files of one workspace. Any thread may call it."""

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        #: Guards the three tables below. Nothing is read or looked up on disk while it is held.
        self._lock = threading.Lock()
        #: Path as given: its real path, URI and identity, valid while the identity is the same.
        self._located: dict[str, tuple[str, str, tuple[int, int]]] = {}
        #: Real path: content, least recently used first.
        self._contents: collections.OrderedDict[str, Content] = collections.OrderedDict()
        self._kept = 0
        #: URI of a server: path, and whether its text may be read.
        self._places: dict[str, tuple[Path | None, str | None]] = {}

    def locate(self, given: str, *, may_be_missing: bool = False) -> File:
        """The file that a caller means, or a `PathError`."""
        known = self._located.get(given)
        if known is not None:
            # The same file as when it was checked, so it is where it was: no need to check again.
            real, uri, identity = known
            found = _stat(written(given, self.boundary.root))
            if found is not None and (found.st_dev, found.st_ino) == identity:
                return File(real, uri, stamp_of(found))
        located = locate(given, self.boundary, may_be_missing=may_be_missing)
        uri = path_to_uri(located.path)
        if located.stat is None:
            return File(located.path, uri, None)
        with self._lock:
            if len(self._located) > 10_000:
                self._located.clear()
            identity = (located.stat.st_dev, located.stat.st_ino)
            self._located[given] = (located.path, uri, identity)
        return File(located.path, uri, stamp_of(located.stat))

    def again(self, uri: str) -> File | None:
        """A file that was located before, as it is now; None if the URI names no file."""
        path = uri_to_path(uri)
        if path is None:
            return None
        found = _stat(path)
        return File(path, uri, None if found is None else stamp_of(found))

    def read(self, file: File) -> Content:
        """The text of a file, from memory if it is still the same."""
        known = self._contents.get(file.path)
        if known is not None and known.aged and known.stamp == file.stamp:
            return known
        content = _read(file.path)
        with self._lock:
            old = self._contents.pop(file.path, None)
            self._kept += len(content.text.value) - (len(old.text.value) if old else 0)
            self._contents[file.path] = content
            while self._kept > KEEP_CHARACTERS and len(self._contents) > 1:
                _, dropped = self._contents.popitem(last=False)
                self._kept -= len(dropped.text.value)
        return content

    def same(self, content_stamp: object, file: File) -> bool:
        """Whether a text with this stamp is certainly still what the file holds."""
        if content_stamp is None or content_stamp != file.stamp:
            return False
        known = self._contents.get(file.path)
        return known is None or known.stamp != file.stamp or known.aged

    def place(self, uri: str) -> tuple[Path | None, str | None]:
        """Where a URI of a server points, and the path to read its text from, if it may be read.

        A library's source outside the workspace may be pointed to, but is not opened.
        """
        known = self._places.get(uri)
        if known is not None:
            return known
        path = uri_to_path(uri)
        if path is None:
            found: tuple[Path | None, str | None] = (None, None)
        else:
            real = os.path.realpath(path)
            boundary = self.boundary
            inside = is_inside(real, boundary.root) or is_inside(real, boundary.outer)
            allowed = (inside or boundary.allow_external) and not is_excluded(real, boundary)
            found = (Path(path), real if allowed else None)
        with self._lock:
            if len(self._places) > 50_000:
                self._places.clear()
            self._places[uri] = found
        return found

    def text_at(self, path: str) -> Text | None:
        """The text of a file that a server pointed to, None if it cannot be had."""
        found = _stat(path)
        if found is None:
            return None
        stamp, known = stamp_of(found), self._contents.get(path)
        if known is not None and known.aged and known.stamp == stamp:
            return known.text
        try:
            return self.read(File(path, "", stamp)).text
        except PathError:
            return None


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file by what `stat` says."""
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _read(path: str) -> Content:
    try:
        with open(path, "rb") as stream:
            before = os.fstat(stream.fileno())
            data = stream.read()
            after = os.fstat(stream.fileno())
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise PathError(f"{path} cannot be read: {why}", code="ENOENT", path=path) from None
    if b"\0" in data[:LOOK_FOR_NUL]:
        raise PathError(f"{path} is no text: it has NUL bytes", code="EBINARY", path=path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        message = f"{path} is not UTF-8 text: byte {problem.start} makes no sense"
        raise PathError(message, code="EBINARY", path=path) from None
    stamp = stamp_of(after)
    newest = max(after.st_mtime_ns, after.st_ctime_ns)
    aged = stamp_of(before) == stamp and time.time_ns() - newest > TICK_NS
    return Content(Text(text), stamp, aged)
