"""Which program a bare name stands for. The look-up runs nothing."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence

from lspkit.edits.paths import leads_through


@functools.cache
def tools_folder() -> str:
    """lspkit's own folder for programs."""
    import platformdirs  # here: only for who looks for programs

    return os.path.join(platformdirs.user_data_dir("lspkit"), "tools", "bin")


def search_folders(workspace: str, path_variable: str | None = None) -> list[str]:
    """Where programs are looked for: the interpreter's scripts, `PATH`, lspkit's own folder.

    Relative folders, and folders inside the workspace or reached by way of it, are left out: a
    repository must not be able to bring the program that opens it. The interpreter's own folder
    counts also there, since its code is running already.
    """
    variable = os.environ.get("PATH", "") if path_variable is None else path_variable
    folders = [os.path.dirname(sys.executable)] if sys.executable else []
    for folder in variable.split(os.pathsep):
        if not os.path.isabs(folder) or folder in folders:
            continue
        if not leads_through(folder, workspace):
            folders.append(folder)
    return [*folders, tools_folder()]


def find_program(name: str, folders: Sequence[str], at: str = "") -> str | None:
    """The absolute path of a program, None if there is none that may be run.

    `at` is where a relative path begins; without it such a path leads nowhere.
    """
    if os.sep in name:
        path = os.path.normpath(os.path.join(at, name))
        return path if os.path.isabs(path) and _runnable(path) else None
    for folder in folders:
        path = os.path.join(folder, name)
        if _runnable(path):
            return path
    return None


def _runnable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
