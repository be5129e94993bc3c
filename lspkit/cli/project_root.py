"""The workspace of a command that names none: the project around the current folder, or its paths.

A project is a folder with a configuration of lspkit, or a git work tree. In a sub-folder alone, a
server would find neither the project's settings nor the modules beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lspkit.cli.command_parser import UsageError
from lspkit.config.config_files import FileKind, own_kinds, read_source
from lspkit.errors import ConfigError
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import absolute_path, folders_above, is_inside, own_home


def chosen_root(given: str | None) -> str:
    """The folder that the user named, as it is; else the project around the current folder."""
    return given or project_root(os.path.realpath(os.curdir))


def project_root(folder: str) -> str:
    """The project that a folder belongs to; the folder itself if it belongs to none."""
    return find_project(folder) or folder


def find_project(folder: str) -> str | None:
    """The nearest project among a folder, which is a real path, and the folders above it.

    The home folder and the folders above it are no projects: many users keep their dotfiles in a
    git work tree there. What belongs to another user is none either: in a shared folder such as
    `/tmp`, anybody can make a work tree around the files of others.
    """
    homes = _homes()
    for at in (folder, *folders_above(folder)):
        if _contains(at, homes):
            return None
        if (sign := _sign_of(at)) is not None:
            return at if _is_own(at) and _is_own(sign) else None
    return None


def contains_home(folder: str) -> bool:
    """Whether a real path is the home folder, above it, or the top of the file system."""
    return _contains(folder, _homes())


def _homes() -> tuple[str, str]:
    return own_home(), os.path.realpath(os.path.expanduser("~"))


def _contains(folder: str, homes: Iterable[str]) -> bool:
    is_top = folder == os.path.dirname(folder)
    return is_top or any(home and is_inside(home, folder) for home in homes)


def _sign_of(folder: str) -> str | None:
    """The path that makes a folder a project; None if there is none."""
    git = os.path.join(folder, ".git")
    if os.path.lexists(git):
        return git
    files = ((kind, os.path.join(folder, *kind.name.split("/"))) for kind in own_kinds())
    return next((file for kind, file in files if _has_settings(kind, file)), None)


def _has_settings(kind: FileKind, file: str) -> bool:
    """Whether a file has settings of lspkit, also invalid ones: the workspace reports these."""
    try:
        return read_source(file, kind) is not None
    except ConfigError:
        return True


def _is_own(path: str) -> bool:
    """Whether a path belongs to the current user."""
    if os.name != "posix":
        return True
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def given_path(name: str) -> str:
    """The absolute path that a word means. A leading `@` is dropped unless such a file exists."""
    return os.path.normpath(absolute_path(name, os.getcwd()))


def workspace_of(paths: Sequence[str]) -> str:
    """The project around the current folder if it contains all paths, else that around the folder
    that contains all paths.

    Missing paths are ignored: a mistake must not make the workspace larger. For the same reason,
    paths that have nothing but the home folder or a folder above it in common are an error.
    """
    here = project_root(os.path.realpath(os.curdir))
    given = map(given_path, paths)
    real = [os.path.realpath(path) for path in given if os.path.exists(path)]
    if all(is_inside(path, here) for path in real):
        return here
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in real]
    common = os.path.commonpath(folders)
    if common not in folders and contains_home(common):
        what = f"only {one_line(common)} contains all of these paths"
        raise UsageError(f"{what}; if that is the workspace, name it with --root DIR")
    return project_root(common)
