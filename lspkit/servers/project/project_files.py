"""The files of a folder that belong to the project itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

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


def walk(folder: str, failed: Callable[[OSError], object] | None = None) -> Iterator[str]:
    """All files, folder by folder, in the order of their names.

    `failed` is called for each folder that cannot be read; `filename` names it.
    """
    for here, inner, names in os.walk(folder, onerror=failed):
        inner[:] = sorted(one for one in inner if one not in PASSED_OVER)
        for name in sorted(names):
            yield os.path.join(here, name)


def samples(folder: str) -> list[str]:
    """One file of each kind from every folder: packages have their own roots."""
    found: dict[tuple[str, str], str] = {}
    for number, path in enumerate(walk(folder)):
        if number >= ENOUGH:
            break
        here, name = os.path.split(path)
        found.setdefault((here, os.path.splitext(name)[1] or name), path)
    return list(found.values())
