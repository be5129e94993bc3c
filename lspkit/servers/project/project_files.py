"""The files of a folder that belong to the project itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator

#: Folders with code of others, or without code.
PASSED_OVER = frozenset(
    {
        *(".git", ".hg", ".svn", ".idea", ".vscode"),
        *(".venv", "venv", "node_modules", ".servers", "target", "build", "dist"),
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
        inner[:] = sorted(one for one in inner if is_entered(os.path.join(here, one), one))
        for name in sorted(names):
            if not leaves_out(path := os.path.join(here, name), False):
                yield path


def samples(folder: str) -> list[str]:
    """One file of each kind from every folder: packages have their own roots."""
    found: dict[tuple[str, str], str] = {}
    for number, path in enumerate(walk(folder)):
        if number >= ENOUGH:
            break
        here, name = os.path.split(path)
        found.setdefault((here, os.path.splitext(name)[1] or name), path)
    return list(found.values())
