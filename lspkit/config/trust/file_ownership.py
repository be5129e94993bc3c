"""Whether another user could have changed a file.

The rules are those of ssh for its own files. A user who can write to a folder can replace the files
in it, so every folder of the path is checked, with links resolved. Each must belong to the user or
to root, and nobody else may write to it. A folder with the sticky bit, such as `/tmp`, may be
writable for everybody.
"""

from __future__ import annotations

import os
import pwd
import shlex
import stat
from collections.abc import Iterator, Mapping

from lspkit.workspace_boundary import MOST_LINKS


def who_else_can_change(path: str, environ: Mapping[str, str] = os.environ) -> str:
    """Who else could change the file at a path, and how to prevent it; empty if nobody.

    Raises `OSError` if the path cannot be examined.
    """
    own = own_ids(environ)
    for folder, name in _path_steps(os.path.abspath(path)):
        status, entry = os.stat(folder), os.path.join(folder, name)
        if status.st_uid in own and status.st_mode & stat.S_ISVTX:
            why = _foreign_owner(entry, os.lstat(entry), own)
        else:
            why = _distrust_reason(folder, status, own)
        if why:
            return why
    return _distrust_reason(os.path.realpath(path), os.stat(path), own)


def own_ids(environ: Mapping[str, str]) -> set[int]:
    """Trusted owners of files: the user and root; with `sudo` also the user who ran it."""
    ids = {os.geteuid(), 0}
    sudo_uid = environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo_uid.isascii() and sudo_uid.isdigit():
        ids.add(int(sudo_uid))
    return ids


def other_writers(status: os.stat_result) -> str:
    """Who else may write to a file or folder, as text; empty if nobody."""
    if status.st_mode & stat.S_IWOTH:
        return "everybody"
    if status.st_mode & stat.S_IWGRP and status.st_gid != _own_group():
        return "a group of users"
    return ""


def _distrust_reason(path: str, status: os.stat_result, own: set[int]) -> str:
    if why := _foreign_owner(path, status, own):
        return why
    if who := other_writers(status):
        return f"{path} can be changed by {who} (run: chmod go-w {shlex.quote(path)})"
    return ""


def _foreign_owner(path: str, status: os.stat_result, own: set[int]) -> str:
    if status.st_uid in own:
        return ""
    return f"{path} belongs to somebody else (run: chown {os.geteuid()} {shlex.quote(path)})"


def _path_steps(path: str) -> Iterator[tuple[str, str]]:
    """Each folder of the path, by its real path, and the next name in it."""
    at, rest, links = os.sep, path.split(os.sep)[::-1], 0
    while rest:
        step = rest.pop()
        if step in ("", os.curdir, os.pardir):
            at = os.path.dirname(at) if step == os.pardir else at
            continue
        following = os.path.join(at, step)
        entry = os.lstat(following)
        yield at, step
        if not stat.S_ISLNK(entry.st_mode):
            at = following
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(f"{path} has too many levels of symbolic links")
        target = os.readlink(following)
        at = os.sep if os.path.isabs(target) else at
        rest += target.split(os.sep)[::-1]


def _own_group() -> int:
    """The user's primary group; the current group may have other members."""
    try:
        return pwd.getpwuid(os.getuid()).pw_gid
    except KeyError:
        return os.getgid()
