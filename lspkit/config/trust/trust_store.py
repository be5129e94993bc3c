"""lspkit's own list of trusted projects, `trust.json` in the user's state folder.

The file is replaced by renaming a complete one over it, so a reader needs no lock. A writer holds
the lock file beside it from reading to renaming, so no concurrent change is lost. Only the user may
access the files and their folder; a list that somebody else could have written counts as empty,
with a warning, and is kept under another name when a new one is written.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable, Mapping

import msgspec

from lspkit.config.config_files import user_folder, user_home
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.errors import ConfigError
from lspkit.msgspec_types import convert
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import is_inside, leads_through, own_home, work_tree

#: The environment variable that sets the state folder.
VARIABLE = "LSPKIT_STATE"
#: The list, in the state folder.
FILE = "trust.json"
#: Version of the file's format. A file of another version is not used.
VERSION = 1
#: Bytes: far more than thousands of projects need.
LARGEST = 2**23
#: Seconds to wait for the lock.
PATIENCE = 60.0


class TrustEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A trusted project."""

    #: The real path of its folder.
    path: str
    #: `key_gate.digest` of its configuration when it was trusted.
    digest: str
    #: Whether it is trusted although other users can change it.
    shared: bool = False
    #: Time in UTC: `2025-01-31T12:00:00Z`.
    added: str = ""


class TrustList(msgspec.Struct, frozen=True):
    """The content of the list."""

    entries: tuple[TrustEntry, ...] = ()
    #: Why the file is not used; empty if it is.
    warning: str = ""


class _StoreFile(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    entries: tuple[TrustEntry, ...]


def state_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The folder of lspkit's state: `LSPKIT_STATE`, or the system's folder for user state."""
    named = environ.get(VARIABLE, "")
    # The current folder must not decide what is trusted.
    if named and not os.path.isabs(named):
        expected = "an absolute path"
        why = f"{VARIABLE} is {one_line(named)}; expected {expected}"
        raise ConfigError(why, place=VARIABLE, expected=expected)
    if named:
        return os.path.normpath(named)
    return user_folder("state", environ, user_home(environ))


def trust_list_for(project: str, environ: Mapping[str, str]) -> TrustList:
    """The list for a project. A list inside the project itself is not used.

    `project` is a real path. A project that contains the user's home may contain the list.
    """
    folder, around = state_folder(environ), work_tree(project)
    if not is_inside(own_home(), around) and leads_through(folder, around):
        where = one_line(os.path.join(folder, FILE))
        named = f"{VARIABLE} names a folder of the project" if environ.get(VARIABLE) else ""
        return TrustList(warning=f"{where} is not used: {named or 'it is in the project'}")
    return read_trust_list(folder)


def read_trust_list(folder: str) -> TrustList:
    """The list in a state folder. A list that cannot be used is empty, with a warning."""
    try:
        content = _read_store(folder)
    except _UntrustworthyFile as problem:
        where = one_line(os.path.join(folder, FILE))
        return TrustList(warning=f"{where} is not used: {problem}. Nothing in it is trusted")
    return TrustList() if content is None else TrustList(content.entries)


def add(folder: str, path: str, digest: str, *, shared: bool = False) -> TrustEntry:
    """Add a project to the list, replacing its entry."""
    added = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = TrustEntry(path=path, digest=digest, shared=shared, added=added)
    _update(folder, lambda known: (*(other for other in known if other.path != path), entry))
    return entry


def remove(folder: str, path: str) -> bool:
    """Remove a project from the list; False if it was not on it."""
    if all(entry.path != path for entry in read_trust_list(folder).entries):
        return False
    _update(folder, lambda known: tuple(other for other in known if other.path != path))
    return True


class _UntrustworthyFile(Exception):
    """Why the list is not used."""


def _read_store(folder: str) -> _StoreFile | None:
    """The content of the file, None if it does not exist."""
    try:
        _check_ownership(folder)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        # With an opener: otherwise a folder of that name would leave its descriptor open.
        file = os.path.join(folder, FILE)
        with open(file, "rb", opener=lambda path, _: os.open(path, flags)) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _UntrustworthyFile("it is not a regular file")
            _check_ownership(file)
            text = stream.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as problem:
        linked = os.path.islink(os.path.join(folder, FILE))
        raise _UntrustworthyFile("it is a link" if linked else str(problem.strerror)) from None
    if len(text) > LARGEST:
        raise _UntrustworthyFile(f"it has more than {LARGEST} bytes")
    try:
        read = convert(json.loads(text), _StoreFile)
    except (msgspec.ValidationError, ValueError, RecursionError):
        raise _UntrustworthyFile("it is damaged") from None
    if read.version != VERSION:
        raise _UntrustworthyFile(
            f"it has version {read.version}; only version {VERSION} is supported"
        )
    return read


def _check_ownership(path: str) -> None:
    """Raise if another user can change the path or one of its folders."""
    if why := who_else_can_change(path):
        raise _UntrustworthyFile(why)


def _update(
    folder: str, changed: Callable[[tuple[TrustEntry, ...]], tuple[TrustEntry, ...]]
) -> None:
    from filelock import FileLock, Timeout  # here: it takes 15 ms, and only changes need it

    file = os.path.join(folder, FILE)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _check_ownership(folder)
        with FileLock(file + ".lock", timeout=PATIENCE, mode=0o600):
            known = read_trust_list(folder)
            if known.warning:
                _set_aside(file)
            content = _StoreFile(version=VERSION, entries=changed(known.entries))
            # Not msgspec: it cannot encode folder names that are not UTF-8.
            _replace(file, json.dumps(msgspec.to_builtins(content), indent=1))
    except Timeout:
        why = "another process keeps it locked"
    except OSError as problem:
        why = str(problem.strerror or problem)
    except _UntrustworthyFile as problem:
        why = str(problem)
    else:
        return
    raise ConfigError(f"{one_line(file)} cannot be changed: {why}", file=file)


def _set_aside(file: str) -> None:
    """Rename a list that is not used. Of a link, the link itself is renamed."""
    number = 0
    while os.path.lexists(kept := f"{file}.bad{number or ''}"):
        number += 1
    if os.path.lexists(file):
        os.rename(file, kept)


def _replace(file: str, content: str) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{FILE}.", dir=os.path.dirname(file))
    try:
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
