"""Which files a command line means."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lspkit.boundary import is_inside
from lspkit.config import Config
from lspkit.servers.project.project_files import walk
from lspkit.servers.selection.choose import definitions


class FileSelection(msgspec.Struct, frozen=True):
    """What the paths of a command line stand for."""

    #: To be checked, in order.
    files: list[Path]
    #: Files and folders that cannot be read, and why.
    unreadable: dict[Path, str]
    #: What was named and is not there.
    missing: list[Path]


def workspace_of(paths: Sequence[str]) -> str:
    """The current folder if everything lies in it, else the folder that holds everything.

    A path that is not there has no say: a mistake must not make the workspace a wider one.
    """
    here = os.path.realpath(os.curdir)
    real = [os.path.realpath(path) for path in paths if os.path.exists(path)]
    if all(is_inside(path, here) for path in real):
        return here
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in real]
    return os.path.commonpath(folders)


def select_files(given: Sequence[str]) -> FileSelection:
    """The files that are named, and those of a known kind in the folders that are, in order."""
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
    """Whether it is a link to nothing, by which editors lock a file. Not one to what is locked."""
    try:
        os.stat(file)
    except FileNotFoundError:
        return os.path.islink(file)
    except OSError:
        return False
    return False
