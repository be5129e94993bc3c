"""The files of a command line."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lspkit.config import Config
from lspkit.servers.project.project_files import walk
from lspkit.servers.selection.choose import definitions
from lspkit.workspace_boundary import is_inside


class FileSelection(msgspec.Struct, frozen=True):
    """The files that the paths of a command line select."""

    #: The files to check, in order.
    files: list[Path]
    #: Files and folders that cannot be read, and why.
    unreadable: dict[Path, str]
    #: Paths that do not exist.
    missing: list[Path]


def workspace_of(paths: Sequence[str]) -> str:
    """The current folder if it contains all paths, else the folder that contains all paths.

    Missing paths are ignored: a mistake must not make the workspace larger.
    """
    here = os.path.realpath(os.curdir)
    real = [os.path.realpath(path) for path in paths if os.path.exists(path)]
    if all(is_inside(path, here) for path in real):
        return here
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in real]
    return os.path.commonpath(folders)


def select_files(given: Sequence[str]) -> FileSelection:
    """The given files, and the files of known kinds in the given folders, in order."""
    known = definitions(Config())
    files: dict[Path, None] = {}
    unreadable: dict[Path, str] = {}
    missing: dict[Path, None] = {}

    def failed(problem: OSError) -> None:
        unreadable[Path(problem.filename)] = f"cannot be read: {problem.strerror}"

    for name in given:
        path = Path(os.path.abspath(name))
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            missing[path] = None
            continue
        except OSError as problem:
            failed(problem)
            continue
        if not is_folder:
            files[path] = None
            continue
        for file in walk(str(path), failed):
            kind = any(definition.language_of(os.path.basename(file)) for definition in known)
            if kind and not _is_broken_link(file):
                files[Path(file)] = None
    return FileSelection(list(files), unreadable, list(missing))


def _is_broken_link(file: str) -> bool:
    """Whether it is a link to a missing file: editors use these as locks."""
    try:
        os.stat(file)
    except FileNotFoundError:
        return os.path.islink(file)
    except OSError:
        return False
    return False
