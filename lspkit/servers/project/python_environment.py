"""The virtual environments that a Python project may have: interpreter, packages, identity.

Nothing is run. A server is told of the interpreter or of the packages when it starts, or looks for
them then. So it has to be restarted when an environment is created, removed, or made anew.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lspkit.limits import LONGEST_OBJECT
from lspkit.regular_files import read_regular_text
from lspkit.workspace_boundary import folders_above, is_inside

#: The names of environments, in the order of preference, and of the folder with their programs.
FOLDERS = (".venv", "venv")
PROGRAMS = "bin"
#: Variables that name an environment.
VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
#: How far below an environment the paths lie that identify it: `lib/python3.x/site-packages`.
DEPTH = 3


def own_interpreter(root: str) -> str | None:
    """The interpreter in the root of a project; None if there is none."""
    interpreters = (_interpreter(os.path.join(root, name)) for name in FOLDERS)
    return next((path for path in interpreters if path), None)


def own_packages(root: str) -> list[str]:
    """The folders of installed packages in the root of a project."""
    return sorted(folder for name in FOLDERS for folder in _packages(os.path.join(root, name)))


def named_interpreter(settings: Mapping[str, Any]) -> str:
    """The interpreter in the settings of a server; empty if there is none."""
    python = settings.get("python")
    named = python.get("pythonPath") if isinstance(python, dict) else None
    return named if isinstance(named, str) else ""


class Environments(msgspec.Struct, frozen=True):
    """The environments of a project at one time, to notice that there are others."""

    #: Where they may be.
    folders: tuple[str, ...] = ()
    #: What identifies those that exist.
    state: tuple[str, ...] = ()

    def may_be_changed_by(self, paths: Sequence[str]) -> bool:
        """Whether one of these files or folders may identify an environment."""
        return any(
            is_inside(path, folder) and path.count(os.sep) - folder.count(os.sep) <= DEPTH
            for folder in self.folders
            for path in paths
        )

    def are_current(self) -> bool:
        """Whether the same environments exist now. Installed packages and programs do not count."""
        return state_of(self.folders) == self.state


def find_environments(
    root: str,
    workspace: str,
    settings: Mapping[str, Any],
    variables: Mapping[str, str],
) -> Environments:
    """The environments of a project in this root, as far as the workspace has them.

    They may also be above the root, or named by the settings of a server or by its variables.
    """
    inside = [above for above in (root, *folders_above(root)) if is_inside(above, workspace)]
    own = [os.path.join(folder, name) for folder in inside for name in FOLDERS]
    named = [os.path.join(root, variable) for variable in map(variables.get, VARIABLES) if variable]
    if interpreter := named_interpreter(settings):
        named.append(os.path.dirname(os.path.dirname(os.path.join(root, interpreter))))
    named = [path for path in map(os.path.normpath, named) if is_inside(path, workspace)]
    folders = tuple(dict.fromkeys([*own, *named]))
    return Environments(folders, state_of(folders))


def state_of(folders: Iterable[str]) -> tuple[str, ...]:
    """What identifies the environments that exist in these places."""
    return tuple(part for folder in folders if os.path.isdir(folder) for part in _parts(folder))


def _parts(folder: str) -> Iterator[str]:
    interpreter = _interpreter(folder)
    yield folder
    yield os.path.realpath(interpreter) if interpreter else ""
    yield from sorted(_packages(folder))
    yield _settings(folder)


def _interpreter(folder: str) -> str:
    path = os.path.join(folder, PROGRAMS, "python")
    return path if os.access(path, os.X_OK) else ""


def _packages(folder: str) -> list[str]:
    return glob.glob(os.path.join(glob.escape(folder), "lib", "python*", "site-packages"))


def _settings(folder: str) -> str:
    """The text of `pyvenv.cfg`: the version, and whether the system's packages count."""
    return read_regular_text(os.path.join(folder, "pyvenv.cfg"), LONGEST_OBJECT)
