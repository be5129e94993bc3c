"""The files that given paths select for a check.

A named file is taken whatever its kind. In a named folder, files of known kinds are taken that git
does not ignore; folders with the code of others, and virtual environments, are not entered. Files
of both can be left out.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from lspkit.config import Config
from lspkit.servers.definition import Definition
from lspkit.servers.project.project_files import walk
from lspkit.servers.project.skipped_files import GitIgnore
from lspkit.servers.selection.choose import definitions
from lspkit.workspace_boundary import absolute_path, not_there

#: Why files of a folder may not have been found.
TOO_LATE = "the timeout expired before all its files were found"


class FileSelection(msgspec.Struct, frozen=True):
    """The files that given paths select."""

    #: The files to check, in order.
    files: list[Path]
    #: Files and folders that cannot be read, and why.
    unreadable: dict[Path, str]
    #: Paths that do not exist, and where they were looked for.
    missing: dict[Path, str]
    #: The files that were named themselves, not by a folder.
    named: frozenset[Path] = frozenset()


#: Whether a path is left out; the second argument tells whether it is a folder.
LeavesOut = Callable[[str, bool], bool]


def known_kinds(config: Config) -> Callable[[str], bool]:
    """Whether a server is defined for a file, by its name. Disabled servers do not count."""

    @functools.cache
    def known() -> Sequence[Definition]:
        # When a file is looked at: the definitions of all servers are imported for it.
        defined = definitions(config)
        if not config.enabled:
            return defined
        return [row for row in defined if not config.server(row.id, row.aliases).disabled]

    return lambda name: any(row.language_of(name) for row in known())


def select_files(
    given: Sequence[str],
    config: Config | None = None,
    leaves_out: LeavesOut = lambda path, is_folder: False,
    *,
    folder: str = "",
    is_over: Callable[[], bool] = lambda: False,
) -> FileSelection:
    """The given files, and the files of known kinds in the given folders, in order.

    Relative paths are looked for in `folder`, or in the current one. When `is_over` no other file
    is searched for; `unreadable` then has the folder.
    """
    is_known, here = known_kinds(config or Config()), folder or os.getcwd()
    files: dict[Path, None] = {}
    unreadable: dict[Path, str] = {}
    missing: dict[Path, str] = {}
    named: set[Path] = set()

    def failed(problem: OSError) -> None:
        unreadable[Path(problem.filename)] = f"cannot be read: {problem.strerror}"

    def is_late(folder: str) -> bool:
        late = is_over()
        if late:
            unreadable[Path(folder)] = TOO_LATE
        return late

    for name in given:
        path = os.path.normpath(absolute_path(name, here))
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            missing[Path(path)] = not_there(name, here).removeprefix(f"{name} ")
        except OSError as problem:
            failed(problem)
        else:
            if is_folder:
                inside = _files_in(path, is_known, leaves_out, failed, is_late)
                files |= {Path(file): None for file in inside}
            elif not leaves_out(path, False):
                files[Path(path)] = None
                named.add(Path(path))
    return FileSelection(list(files), unreadable, missing, frozenset(named))


def _files_in(
    folder: str,
    is_known: Callable[[str], bool],
    unwanted: LeavesOut,
    failed: Callable[[OSError], object],
    is_late: Callable[[str], bool],
) -> Iterable[str]:
    ignored = GitIgnore(folder)

    def leaves_out(path: str, is_folder: bool) -> bool:
        if is_late(folder):
            return True
        if not is_folder and not is_known(os.path.basename(path)):
            return True
        return unwanted(path, is_folder) or ignored.ignores(path, is_folder=is_folder)

    return (file for file in walk(folder, failed, leaves_out) if not _is_broken_link(file))


def _is_broken_link(file: str) -> bool:
    """Whether it is a link to a missing file: editors use these as locks."""
    try:
        os.stat(file)
    except FileNotFoundError:
        return os.path.islink(file)
    except OSError:
        return False
    return False
