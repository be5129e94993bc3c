"""Finding the program for a bare name. Runs nothing."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lspkit.regular_files import read_regular

if sys.platform == "darwin":
    import platformdirs  # elsewhere four lines suffice

from lspkit.workspace_boundary import leads_through, own_home, project_tree

#: Names another folder for the programs that lspkit installs.
TOOLS_VARIABLE = "LSPKIT_TOOLS"


def tools_home(environ: Mapping[str, str] = os.environ) -> str:
    """lspkit's own folder for what it installs."""
    given = environ.get(TOOLS_VARIABLE, "")
    if os.path.isabs(given):
        return os.path.normpath(given)
    if sys.platform == "darwin":
        data = platformdirs.user_data_dir("lspkit")
    else:
        base, home = environ.get("XDG_DATA_HOME", ""), environ.get("HOME", "")
        home = home if os.path.isabs(home) else own_home()
        base = base if os.path.isabs(base) else os.path.join(home, ".local", "share")
        data = os.path.join(base, "lspkit")
    return os.path.join(data, "tools")


def tools_folder(environ: Mapping[str, str] = os.environ) -> str:
    """lspkit's own folder for programs."""
    return os.path.join(tools_home(environ), "bin")


def search_folders(
    workspace: str,
    path_variable: str | None = None,
    *,
    trusted: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> list[str]:
    """Where programs are looked for: the interpreter's scripts, `PATH`, lspkit's own folder.

    Relative folders, and folders in the workspace or reached through it, are left out: a repository
    must not bring the program that opens it. If it is not trusted, that holds for the whole work
    tree around the workspace. The interpreter's folder counts in any case, since its code is
    running already.
    """
    variable = environ.get("PATH", "") if path_variable is None else path_variable
    project = workspace if trusted else project_tree(workspace)
    folders = [os.path.dirname(sys.executable)] if sys.executable else []
    for folder in (*variable.split(os.pathsep), tools_folder(environ)):
        if not os.path.isabs(folder) or folder in folders:
            continue
        if not leads_through(folder, project):
            folders.append(folder)
    return folders


def find_program(name: str, folders: Sequence[str], at: str = "") -> str | None:
    """The absolute path of a program, None if there is none that may be run.

    `at` is the base of a relative path; without it such a path is not found.
    """
    return next(programs_named(name, folders, at), None)


def programs_named(name: str, folders: Sequence[str], at: str = "") -> Iterator[str]:
    """The absolute paths of all programs of a name, in the order of the folders."""
    if os.sep in name:
        path = os.path.normpath(os.path.join(at, name))
        if os.path.isabs(path) and _runnable(path):
            yield path
        return
    for folder in folders:
        path = os.path.join(folder, name)
        if _runnable(path):
            yield path


def _runnable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


# Where the npm package of a program lies, and which packages it can load. Runs nothing.
#
# A program of an npm package is a link into it, or a small script that names a file of it, as the
# launchers of npm, pnpm and Nix do, and those that users write themselves.

#: How many bytes of a launcher are read, and of a `package.json`.
LAUNCHER, DESCRIPTION = 4096, 1024 * 1024
#: How a launcher writes its own folder.
_HERE = re.compile(r"""\$\(dirname (?:-- )?"?\$0"?\)|\$\{0%/\*\}|\$\{basedir\}|\$basedir""")
#: A word of a script, in quotes or not.
_WORD = re.compile(r""""([^"\n]+)"|'([^'\n]+)'|([^\s"']+)""")


def package_of(program: str, name: str) -> str | None:
    """The folder of the package that a program belongs to, None if it is not found."""
    for path in (program, *_paths_in(program)):
        folder = os.path.dirname(os.path.realpath(path))
        while os.path.dirname(folder) != folder:
            if description_of(folder).get("name") == name:
                return folder
            folder = os.path.dirname(folder)
    return None


def can_load(folder: str, name: str) -> bool:
    """Whether a package in this folder can load another one, by Node's rules."""
    while True:
        if os.path.isfile(os.path.join(folder, "node_modules", name, "package.json")):
            return True
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False


def _paths_in(program: str) -> Iterator[str]:
    """The files that a launcher names."""
    text = read_regular(program, LAUNCHER)
    if b"\0" in text:
        return  # it is no script
    here = os.path.dirname(program)
    script = _HERE.sub(lambda _: here, text.decode("utf-8", "replace"))
    for match in _WORD.finditer(script):
        path = match[1] or match[2] or match[3]
        if os.path.isabs(path) and os.path.isfile(path):
            yield path


def description_of(folder: str) -> dict[str, Any]:
    """The content of `package.json` in a folder; empty if there is none that can be read."""
    try:
        package = json.loads(read_regular(os.path.join(folder, "package.json"), DESCRIPTION))
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}
