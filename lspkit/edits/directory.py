"""An open folder, and the operations in it.

All operations use the folder's descriptor and a single name, and follow no links. So they act on
the folder that was opened, even if its path leads elsewhere meanwhile. On systems without such
calls, full paths are used instead.

Nothing is decided here, and failures are `OSError`s. `open_folders.py` opens folders.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import Self

from lspkit.edits.descriptor import Descriptor, open_descriptor, open_fd

_CALLS = {os.open, os.stat, os.rename, os.unlink, os.mkdir, os.rmdir, os.readlink}
#: Whether folders are held by descriptor.
BY_DESCRIPTOR = os.supports_dir_fd >= _CALLS and hasattr(os, "O_NOFOLLOW")

_PLAIN: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# With O_PATH a folder can be passed through without read permission.
_FOLDER: int = _PLAIN | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)
_LIST: int = _PLAIN | getattr(os, "O_DIRECTORY", 0)
# Non-blocking: it may have been replaced by a pipe.
_READ: int = _PLAIN | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW: int = _PLAIN | os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

Identity = tuple[int, int]


def identity(status: os.stat_result) -> Identity:
    """Device and inode, which identify a file or folder."""
    return status.st_dev, status.st_ino


#: Prefix and length of the names of temporary files.
_SPARE, _SPARE_LENGTH = ".lspkit-", 24


def spare_name() -> str:
    """An unpredictable name for a temporary file."""
    return _SPARE + os.urandom(8).hex()


def is_spare(name: str) -> bool:
    """Whether a file has the name of a temporary file, which servers are not notified of."""
    return name.startswith(_SPARE) and len(name) == _SPARE_LENGTH


def open_base(path: str) -> Directory:
    """Open the folder at a trusted path, which must not be a link itself."""
    return Directory(path, open_descriptor(path, _FOLDER) if BY_DESCRIPTOR else None)


class Directory:
    """An open folder. Names are single names in it; no link is ever followed."""

    __slots__ = ("_open", "path")

    def __init__(self, path: str, descriptor: Descriptor | None) -> None:
        self.path = path
        self._open = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it. May be called twice."""
        if self._open is not None:
            self._open.close()

    @property
    def _descriptor(self) -> int | None:
        return None if self._open is None else self._open.fileno()

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)

    def child(self, name: str) -> Directory:
        """Open the subfolder of that name; `NotADirectoryError` also for a link to a folder."""
        path = os.path.join(self.path, name)
        if self._descriptor is not None:
            return Directory(path, open_descriptor(name, _FOLDER, dir_fd=self._descriptor))
        if not stat.S_ISDIR(os.lstat(path).st_mode) or os.path.realpath(path) != path:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return Directory(path, None)

    def identity(self) -> Identity:
        """Device and inode of the folder."""
        return identity(os.stat(self.path if self._descriptor is None else self._descriptor))

    def look(self, name: str) -> os.stat_result | None:
        """The status of the entry with that name, None if there is none."""
        try:
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """All names in the folder, sorted."""
        if self._descriptor is None:
            return sorted(os.listdir(self.path))
        with open_fd(os.curdir, _LIST, dir_fd=self._descriptor) as descriptor:
            return sorted(os.listdir(descriptor))

    def read(self, name: str, count: int = -1) -> tuple[bytes, os.stat_result]:
        """The bytes of a regular file: all of them, or the first ones."""
        with open_fd(self._at(name), _READ, dir_fd=self._descriptor) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            with open(descriptor, "rb", closefd=False) as stream:
                return stream.read(count), status

    def target(self, name: str) -> bytes:
        """The target of a link."""
        return os.fsencode(os.readlink(self._at(name), dir_fd=self._descriptor))

    def writable(self, name: str) -> bool:
        """Whether the permissions of a file allow writing."""
        effective = os.access in os.supports_effective_ids
        return os.access(self._at(name), os.W_OK, dir_fd=self._descriptor, effective_ids=effective)

    def write(
        self, name: str, data: bytes, mode: int | None = None, owner: tuple[int, int] | None = None
    ) -> None:
        """Create a file and flush it to disk. If that fails, the file is removed.

        Without a mode, the file gets the default mode. The owner is set if that is allowed.
        """
        # Private until its mode is set: the replaced file may be private.
        first = 0o666 if mode is None else 0o600
        try:
            with open_fd(self._at(name), _NEW, first, dir_fd=self._descriptor) as descriptor:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                _set_owner(descriptor, owner)
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
        except FileExistsError:  # another process created it
            raise
        except BaseException:
            self.discard(name)
            raise

    def write_link(self, name: str, target: bytes) -> None:
        """Create a symbolic link."""
        os.symlink(os.fsdecode(target), self._at(name), dir_fd=self._descriptor)

    def rename(self, name: str, to: Directory, new: str) -> None:
        """Rename an entry, replacing a file with the new name."""
        os.replace(
            self._at(name), to._at(new), src_dir_fd=self._descriptor, dst_dir_fd=to._descriptor
        )

    def rename_new(self, name: str, to: Directory, new: str) -> None:
        """Rename an entry; `FileExistsError` if the new name exists."""
        if to.look(new) is not None:  # perhaps another hard link to the same file
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
        try:
            if self.link(name, to, new):
                self.unlink(name)
            else:
                self.rename(name, to, new)
        except FileExistsError:  # another process created it
            raise
        except BaseException:
            here, there = self.look(name), to.look(new)
            if here and there and identity(here) == identity(there) and here.st_nlink > 1:
                to.discard(new)  # keep the old one of both names
            raise

    def link(self, name: str, to: Directory, new: str) -> bool:
        """Create a hard link; False if the file system does not support it."""
        try:
            os.link(
                self._at(name),
                to._at(new),
                src_dir_fd=self._descriptor,
                dst_dir_fd=to._descriptor,
                follow_symlinks=False,
            )
        except (FileExistsError, FileNotFoundError):
            raise
        except (OSError, NotImplementedError):
            return False
        return True

    def unlink(self, name: str) -> None:
        """Remove a file or a link."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def discard(self, name: str) -> None:
        """Remove a file or a link, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            self.unlink(name)

    def make(
        self, name: str, mode: int | None = None, owner: tuple[int, int] | None = None
    ) -> None:
        """Create a folder."""
        os.mkdir(self._at(name), 0o777 if mode is None else 0o700, dir_fd=self._descriptor)
        if mode is not None and hasattr(os, "fchmod"):
            try:
                with open_fd(self._at(name), _LIST, dir_fd=self._descriptor) as descriptor:
                    _set_owner(descriptor, owner)
                    os.fchmod(descriptor, mode)
            except BaseException:
                self.remove(name)
                raise

    def remove(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._at(name), dir_fd=self._descriptor)


def _set_owner(descriptor: int, owner: tuple[int, int] | None) -> None:
    if owner is None or not hasattr(os, "fchown"):
        return
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != owner:
        # Changing the owner needs privileges. Without them, the user owns the new file.
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, *owner)
