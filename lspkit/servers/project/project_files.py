"""The files of a folder that are the project's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

#: Folders that hold other people's code, or none.
PASSED_OVER = frozenset(
    {
        *(".git", ".hg", ".svn", ".idea", ".vscode"),
        *(".venv", "venv", "node_modules", ".servers", "target", "build", "dist"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".nox"),
    }
)

#: So many files are looked at when only a sample is wanted.
ENOUGH = 20_000


def walk(folder: str, failed: Callable[[OSError], object] | None = None) -> Iterator[str]:
    """All files, folder by folder, in the order of their names.

    `failed` is told of each folder that cannot be read; its `filename` says which.
    """
    for here, inner, names in os.walk(folder, onerror=failed):
        inner[:] = sorted(one for one in inner if one not in PASSED_OVER)
        for name in sorted(names):
            yield os.path.join(here, name)


def samples(folder: str) -> list[str]:
    """One file of each kind from every folder: packages have roots of their own."""
    found: dict[tuple[str, str], str] = {}
    for number, path in enumerate(walk(folder)):
        if number >= ENOUGH:
            break
        here, name = os.path.split(path)
        found.setdefault((here, os.path.splitext(name)[1] or name), path)
    return list(found.values())
