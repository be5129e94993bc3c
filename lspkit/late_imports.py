"""Modules that are imported late, without the project's folder among the places to look.

Python looks for a module in the current folder first where `sys.path` begins with an empty string,
as it does in a notebook and with `python -c`. So whatever is imported after somebody has gone into
a project can be the project's. What lspkit imports inside of a function is looked for where Python
and its packages are installed. Other threads, and what is imported already, notice nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import msgspec

#: Names of folders into which packages are installed.
INSTALLED = ("site-packages", "dist-packages")


#: Whether this thread is in such a block.
_inside = ContextVar("_inside", default=False)


@contextmanager
def safe_imports() -> Iterator[None]:
    """Imports in this block, and those that follow from them, take nothing from a project."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    before = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(before)


def safe_path(entries: Sequence[str]) -> list[str]:
    """The entries of `sys.path` that are safe: first those with what is installed.

    Then the other absolute ones, but the current folder and what lies in it.
    """
    absolute = [one for one in entries if os.path.isabs(one)]
    installed = [one for one in absolute if _is_installed(one)]
    here = os.path.join(_current_folder(), "")
    others = [one for one in absolute if not _real(one).startswith(here)]
    return list(dict.fromkeys([*installed, *others]))


def _is_installed(folder: str) -> bool:
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    return (
        os.path.basename(folder) in INSTALLED
        or folder in _OWN
        or any(folder.startswith(os.path.join(one, "")) for one in prefixes)
    )


def _current_folder() -> str:
    try:
        return os.path.realpath(os.getcwd())
    except OSError:  # it is gone
        return os.sep


def _real(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


class _Finder:
    """Asked before all others; has something to say only inside of `safe_imports`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # A part of a package is looked for in the package.
        if not _inside.get() or path is not None:
            return None
        for finder in list(sys.meta_path):
            if finder is self:
                continue
            if finder is PathFinder:
                found = PathFinder.find_spec(name, safe_path(sys.path), target)
            else:
                found = finder.find_spec(name, None, target)
            if found is not None:
                return found
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


_FINDER = _Finder()
#: Where lspkit itself, and what it could not be imported without, are installed.
_OWN = frozenset(
    os.path.dirname(os.path.dirname(os.path.abspath(one))) for one in (__file__, msgspec.__file__)
)
