"""lspkit's own list of trusted projects, `trust.json` in the user's state folder.

The file is replaced as a whole, by renaming a complete one over it, so a reader needs no lock and
never sees half of it. Whoever changes it holds the lock beside it from reading to renaming: nothing
that others add at the same time is lost. Both files and the folder are for the user alone; the
list is believed only if nobody else can have written it. One that is not believed counts as empty,
with a warning, and is kept under another name before a new one takes its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Mapping

import msgspec

from lspkit.boundary import is_inside, leads_through, own_home, work_tree
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.errors import ConfigError
from lspkit.late_imports import safe_imports
from lspkit.msgspec_types import prepare_struct
from lspkit.visible_text import one_line

#: Names another state folder.
VARIABLE = "LSPKIT_STATE"
#: The list, in the state folder.
FILE = "trust.json"
#: Of the file's form. Another one is not understood.
VERSION = 1
#: Bytes. Far more than thousands of projects need.
LARGEST = 2**23
#: Seconds to wait for others who change the list.
PATIENCE = 60.0


class TrustEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A project that was looked at and trusted."""

    #: The real path of its folder.
    path: str
    #: Of what its configuration would run, as `gate.digest` has it.
    digest: str
    #: Whether it is trusted although others can change it.
    shared: bool = False
    #: When, in UTC: `2025-01-31T12:00:00Z`.
    added: str = ""


class TrustList(msgspec.Struct, frozen=True):
    """What the list says."""

    entries: tuple[TrustEntry, ...] = ()
    #: Why it is not believed; empty if all is well.
    warning: str = ""


@prepare_struct
class _StoreFile(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    entries: tuple[TrustEntry, ...]


def state_folder(environ: Mapping[str, str] = os.environ) -> str:
    """Where lspkit keeps what it has to remember: `LSPKIT_STATE`, or the system's place for it."""
    named = environ.get(VARIABLE, "")
    # A relative one would let the current folder decide what is trusted.
    if named and not os.path.isabs(named):
        expected = "an absolute path"
        why = f"{VARIABLE} is {one_line(named)}; expected {expected}"
        raise ConfigError(why, place=VARIABLE, expected=expected)
    if named:
        return os.path.normpath(named)
    if sys.platform in ("win32", "darwin"):
        with safe_imports():
            import platformdirs  # here: only where it knows more than the three lines below

        return platformdirs.user_state_dir("lspkit", appauthor=False)
    base = environ.get("XDG_STATE_HOME", "")
    usual = os.path.join(_home(environ), ".local", "state")
    return os.path.join(base if os.path.isabs(base) else usual, "lspkit")


def _home(environ: Mapping[str, str]) -> str:
    named = environ.get("HOME", "")
    # A relative one would let the current folder decide what is trusted.
    return named if os.path.isabs(named) else own_home() or os.path.expanduser("~")


def trust_list_for(project: str, environ: Mapping[str, str]) -> TrustList:
    """The list as far as a project is concerned, which cannot bring its own.

    `project` is a real path. Where it holds the user's home, the list is the user's nevertheless.
    """
    folder, around = state_folder(environ), work_tree(project)
    if not is_inside(own_home(), around) and leads_through(folder, around):
        where = one_line(os.path.join(folder, FILE))
        named = f"{VARIABLE} names a folder of the project" if environ.get(VARIABLE) else ""
        return TrustList(warning=f"{where} is not followed: {named or 'it lies in the project'}")
    return read_trust_list(folder)


def read_trust_list(folder: str) -> TrustList:
    """What the list in a state folder says. A list that cannot be believed is empty."""
    try:
        content = _read_store(folder)
    except _UntrustworthyFile as problem:
        where = one_line(os.path.join(folder, FILE))
        return TrustList(warning=f"{where} is not followed: {problem}. Nothing in it is trusted")
    return TrustList() if content is None else TrustList(content.entries)


def add(folder: str, path: str, digest: str, *, shared: bool = False) -> TrustEntry:
    """Put a project on the list, in place of what the list says of it."""
    added = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = TrustEntry(path=path, digest=digest, shared=shared, added=added)
    _update(folder, lambda known: (*(one for one in known if one.path != path), entry))
    return entry


def remove(folder: str, path: str) -> bool:
    """Take a project off the list; False if it was not on it."""
    if all(one.path != path for one in read_trust_list(folder).entries):
        return False
    _update(folder, lambda known: tuple(one for one in known if one.path != path))
    return True


class _UntrustworthyFile(Exception):
    """Why the list is not followed."""


def _read_store(folder: str) -> _StoreFile | None:
    """The file, None if there is none."""
    try:
        _check_ownership(folder)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        # By an opener: else a folder of that name would leave its descriptor open.
        file = os.path.join(folder, FILE)
        with open(file, "rb", opener=lambda path, _: os.open(path, flags)) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _UntrustworthyFile("it is no regular file")
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
        read = msgspec.convert(json.loads(text), _StoreFile)
    except (msgspec.ValidationError, ValueError, RecursionError):
        raise _UntrustworthyFile("it is damaged") from None
    if read.version != VERSION:
        raise _UntrustworthyFile(
            f"it is of version {read.version}, and {VERSION} is what is known here"
        )
    return read


def _check_ownership(path: str) -> None:
    """Refuse what others could have written: a file, or a folder on the way to it."""
    if why := who_else_can_change(path):
        raise _UntrustworthyFile(why)


def _update(
    folder: str, changed: Callable[[tuple[TrustEntry, ...]], tuple[TrustEntry, ...]]
) -> None:
    with safe_imports():
        from filelock import FileLock, Timeout  # here: only for who changes something

    file = os.path.join(folder, FILE)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _check_ownership(folder)
        with FileLock(file + ".lock", timeout=PATIENCE, mode=0o600):
            known = read_trust_list(folder)
            if known.warning:
                _set_aside(file)
            content = _StoreFile(version=VERSION, entries=changed(known.entries))
            # Not msgspec: names of folders may be any bytes, which it does not write.
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
    """Put aside a list that is not believed. A link goes as it is, not what it leads to."""
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
