"""The files of a folder that belong to the project itself."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Container, Iterator

from lspkit.regular_files import read_regular_text
from lspkit.workspace_boundary import is_inside

#: Folders with code of others, or without code.
PASSED_OVER = frozenset(
    {
        *(".git", ".hg", ".svn", ".idea", ".vscode"),
        *(".venv", "venv", "node_modules", "target", "build", "dist"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".nox"),
    }
)

#: How many files are visited for a sample.
ENOUGH = 20_000


#: In the folder of a virtual environment, whatever its name.
ENVIRONMENT = "pyvenv.cfg"


def walk(
    folder: str,
    failed: Callable[[OSError], object] | None = None,
    leaves_out: Callable[[str, bool], bool] = lambda path, is_folder: False,
    passed_over: Container[str] = PASSED_OVER,
) -> Iterator[str]:
    """All files, folder by folder, in the order of their names.

    `failed` is called for each folder that cannot be read; `filename` names it. `leaves_out` is
    asked about each path, and whether it is a folder. `passed_over` are names of folders.
    """

    def is_entered(path: str, name: str) -> bool:
        if name in passed_over or os.path.exists(os.path.join(path, ENVIRONMENT)):
            return False
        return not leaves_out(path, True)

    for here, inner, names in os.walk(folder, onerror=failed):
        inner[:] = sorted(name for name in inner if is_entered(os.path.join(here, name), name))
        for name in sorted(names):
            if not leaves_out(path := os.path.join(here, name), False):
                yield path


def samples(folder: str) -> list[str]:
    """One file of each kind from every folder: packages have their own roots."""
    files: dict[tuple[str, str], str] = {}
    for number, path in enumerate(walk(folder)):
        if number >= ENOUGH:
            break
        here, name = os.path.split(path)
        files.setdefault((here, os.path.splitext(name)[1] or name), path)
    return list(files.values())


# Folders of installed packages, which are far too many to be watched as a whole.
#
# Only what shows that a package was added, removed or replaced is watched: the folder that holds
# the packages, with the records of package managers, and the folder of each package itself, not its
# subfolders. In a virtual environment that includes the path to its packages, and the folder of its
# interpreter.
#
#     node_modules  node_modules/@scope  node_modules/name  node_modules/@scope/name
#     node_modules/.pnpm
#     .venv  .venv/bin  .venv/lib  .venv/lib/python3.x
#     .venv/lib/python3.x/site-packages  …/site-packages/name

#: Kinds of package folders, as named in the definitions of servers.
NODE, PYTHON = "node_modules", "site-packages"

#: How many packages of one folder are watched by themselves; of the others only additions, removals
#: and the records of package managers are seen.
MOST = 500

_HOLDERS = re.compile(
    r"(?:(?!/node_modules/).)*/node_modules(?:/\.pnpm|/@[^/]+)?"
    r"|.*/\.?venv(?:/bin|/Scripts|/[lL]ib(?:/python[^/]*)?)?"
    r"|.*/site-packages",
    re.DOTALL,
)
_PACKAGES = re.compile(r"/(?:node_modules(?:/@[^/]+)?|site-packages)$")
_FIRST = re.compile(r"/(node_modules|\.?venv|site-packages)(?:/|$)")
#: Entries of package folders that are no package: caches, programs, what is being removed, and
#: metadata of a package.
_NONE = re.compile(r"\.|~|@|__pycache__$|.*\.(?:dist|egg)-info$")
#: Records that package managers write when they have changed packages.
_NOTES = frozenset({".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"})
#: Where pnpm stores the packages.
_STORE = ".pnpm"


class PackageFolder:
    """The position of a path relative to package folders."""

    def __init__(self, path: str, workspace: str) -> None:
        # The path of the workspace itself does not count.
        inner = path[len(workspace.rstrip(os.sep)) :] if is_inside(path, workspace) else path
        self._inner = inner.replace(os.sep, "/")
        match = _FIRST.search(self._inner)
        name = match[1] if match else ""
        #: The kind of packages that it lies among, or that it holds; empty if none.
        self.kind = NODE if name == NODE else PYTHON if name else ""
        #: The outermost of these package folders.
        self.top = path[: len(path) - len(inner) + match.end(1)] if match else ""

    @property
    def holds_packages(self) -> bool:
        """Whether it is a folder that holds packages, or lies on the path to them."""
        return _HOLDERS.fullmatch(self._inner) is not None

    @property
    def is_package(self) -> bool:
        """Whether it is the folder of a package."""
        above, _, name = self._inner.rpartition("/")
        holds = _HOLDERS.fullmatch(above) is not None and _PACKAGES.search(above) is not None
        return holds and _NONE.match(name) is None


def is_of_packages(path: str, top: str) -> bool:
    """Whether a file or folder belongs to a package, or is a record of what is installed.

    Tools keep other things there as well: caches, programs, half-removed packages. `top` is the
    folder above it that holds the packages, or that folder itself.
    """
    parts = path[len(top) :].strip(os.sep).split(os.sep)
    if parts[0] == _STORE:
        parts = parts[1:]
    if len(parts) == 1 and parts[0] in _NOTES:
        return True
    return not any(part.startswith((".", "~")) or part == "__pycache__" for part in parts)


# Files by which a server can be made to load the projects of a folder.
#
# Some servers load a project only when one of its files is opened. Which files belong to a project
# is known to the server alone, so there are several candidates for each, the likely ones first.

#: Candidates for each project.
CANDIDATES = 6
#: Bytes of a configuration that are searched for the names of folders.
LONGEST_CONFIG = 100_000


def project_samples(
    root: str, configs: tuple[str, ...], language: Callable[[str], str | None]
) -> dict[str, list[str]]:
    """For each configuration below a folder, the files that may belong to it.

    `language` tells the language of a file by its name; None for files of other servers.
    """
    config_files: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    for path in itertools.islice(walk(root), ENOUGH):
        folder, name = os.path.split(path)
        if name in configs:
            config_files.setdefault(folder, path)
        elif kind := language(name):
            sources.append((path, kind))
    groups: dict[str, dict[tuple[str, str], str]] = {folder: {} for folder in config_files}
    for path, kind in sources:
        folder = os.path.dirname(path)
        while folder not in config_files and len(folder) > len(root):
            folder = os.path.dirname(folder)
        if folder in config_files:
            part = os.path.relpath(path, folder).split(os.sep)[0]
            groups[folder].setdefault(
                (part if os.sep in path[len(folder) + 1 :] else "", kind), path
            )
    return {
        config_files[folder]: _likely_first(
            read_regular_text(config_files[folder], LONGEST_CONFIG), group
        )
        for folder, group in groups.items()
        if group
    }


def _likely_first(config: str, group: dict[tuple[str, str], str]) -> list[str]:
    """One file for each folder and language. Typed languages, and named folders, come first."""

    def key(entry: tuple[tuple[str, str], str]) -> tuple[bool, bool, str]:
        (part, kind), path = entry
        return not (part and part in config), kind.startswith("javascript"), path

    return [path for _, path in sorted(group.items(), key=key)][:CANDIDATES]
