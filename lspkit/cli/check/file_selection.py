"""The files that the paths and options of `lspkit check` select.

A named file is taken whatever its kind. In a named folder, files of known kinds are taken that git
does not ignore; folders with the code of others, and virtual environments, are not entered.
`--include` and `--exclude` hold for both. Their globs go by the path relative to the current
folder; one without a slash fits at any depth.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from lspkit.cli.argument_types import UsageError
from lspkit.cli.file_arguments import given_path
from lspkit.config import Config
from lspkit.protocol.globs import compile_glob, pattern_mistake
from lspkit.servers.project.git_ignore import GitIgnore
from lspkit.servers.project.project_files import walk
from lspkit.servers.selection.choose import definitions
from lspkit.workspace_boundary import not_there

#: Why files of a folder may not have been found.
TOO_LATE = "the timeout expired before all its files were found"


class FileSelection(msgspec.Struct, frozen=True):
    """The files that the paths of a command line select."""

    #: The files to check, in order.
    files: list[Path]
    #: Files and folders that cannot be read, and why.
    unreadable: dict[Path, str]
    #: Paths that do not exist, and where they were looked for.
    missing: dict[Path, str]


class PathGlobs:
    """What `--include` and `--exclude` leave of the files."""

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = [_compile(one, "--include") for one in include]
        self._exclude = [_compile(one, "--exclude") for one in exclude]

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Whether a file is not wanted, or nothing in a folder."""
        if not self._include and not self._exclude:
            return False
        relative = os.path.relpath(path).replace(os.sep, "/")
        if any(fits(relative) for fits in self._exclude):
            return True
        return bool(self._include) and not is_folder and not any(f(relative) for f in self._include)


def _compile(pattern: str, option: str) -> Callable[[str], bool]:
    if mistake := pattern_mistake(pattern):
        raise UsageError(f"argument {option}: {pattern!r} is not a valid glob: {mistake}")
    pattern = pattern.strip().removeprefix("./").rstrip("/")
    return compile_glob(pattern if "/" in pattern else f"**/{pattern}")


def known_kinds(config: Config) -> Callable[[str], bool]:
    """Whether a server is defined for a file, by its name. Disabled servers do not count."""
    known = definitions(config)
    if config.enabled:
        known = [one for one in known if not config.server(one.id, one.aliases).disabled]
    return lambda name: any(one.language_of(name) for one in known)


def select_files(
    given: Sequence[str],
    config: Config | None = None,
    globs: PathGlobs | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> FileSelection:
    """The given files, and the files of known kinds in the given folders, in order.

    When `is_over` no other file is searched for. Then `unreadable` has the folder.
    """
    is_known, globs = known_kinds(config or Config()), globs or PathGlobs()
    files: dict[Path, None] = {}
    unreadable: dict[Path, str] = {}
    missing: dict[Path, str] = {}

    def failed(problem: OSError) -> None:
        unreadable[Path(problem.filename)] = f"cannot be read: {problem.strerror}"

    def is_late(folder: str) -> bool:
        late = is_over()
        if late:
            unreadable[Path(folder)] = TOO_LATE
        return late

    for name in given:
        path = given_path(name)
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            missing[Path(path)] = not_there(name, os.getcwd()).removeprefix(f"{name} ")
        except OSError as problem:
            failed(problem)
        else:
            found = _files_in(path, is_known, globs, failed, is_late) if is_folder else [path]
            files |= {
                Path(one): None for one in found if is_folder or not globs.leaves_out(one, False)
            }
    return FileSelection(list(files), unreadable, missing)


def _files_in(
    folder: str,
    is_known: Callable[[str], bool],
    globs: PathGlobs,
    failed: Callable[[OSError], object],
    is_late: Callable[[str], bool],
) -> Iterable[str]:
    ignored = GitIgnore(folder)

    def leaves_out(path: str, is_folder: bool) -> bool:
        if is_late(folder):
            return True
        if not is_folder and not is_known(os.path.basename(path)):
            return True
        return globs.leaves_out(path, is_folder) or ignored.ignores(path, is_folder=is_folder)

    return (one for one in walk(folder, failed, leaves_out) if not _is_broken_link(one))


def _is_broken_link(file: str) -> bool:
    """Whether it is a link to a missing file: editors use these as locks."""
    try:
        os.stat(file)
    except FileNotFoundError:
        return os.path.islink(file)
    except OSError:
        return False
    return False
