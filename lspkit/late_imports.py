"""Imports inside functions, which must not load modules from the project's folder.

If `sys.path` begins with an empty string, as in a notebook or with `python -c`, Python searches the
current folder first. A late import could then load a module of the project. Inside `safe_imports`,
modules are searched only where Python and its packages are installed. Other threads, and modules
that are loaded already, are not affected.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

#: Names of folders into which packages are installed.
INSTALLED = ("site-packages", "dist-packages")

#: Inside `safe_imports`: the safe entries for each current folder and `sys.path` so far.
_inside: ContextVar[dict[tuple[str, ...], list[str]] | None] = ContextVar("_inside", default=None)


@contextmanager
def safe_imports() -> Iterator[None]:
    """Imports in this block, direct and indirect, load nothing from a project."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    before = _inside.set(_inside.get() or {})
    try:
        load_datetime()
        yield
    finally:
        _inside.reset(before)


def load_datetime() -> None:
    """Load `datetime` before msgspec does.

    msgspec (0.22) ignores an interrupt while it loads it, and crashes when it is used.
    """
    import_module("datetime")


def late_names(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package, which imports a name when it is first used.

    `names` are the modules of the package, with the names in each, separated by spaces. The
    subpackages that hold them can be used as attributes, as if all had been imported.
    """
    homes = {name: module for module, several in names.items() for name in several.split()}
    parts = {module.removeprefix(f"{package}.").partition(".")[0] for module in names}

    def get(name: str) -> Any:
        with safe_imports():
            if name in homes:
                value: Any = getattr(import_module(homes[name]), name)
            elif name in parts:
                value = import_module(f"{package}.{name}")
            else:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return get


def import_without_collection(name: str) -> ModuleType:
    """Import a module while Python does not search for garbage.

    Modules make many objects that stay. Searching all of them again and again takes a tenth of the
    time. For a process of lspkit's own: in another program the collector is not lspkit's to stop.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if was_enabled:
            gc.enable()


def safe_path(entries: Sequence[str]) -> list[str]:
    """The safe entries of `sys.path`: folders of installed packages first.

    Then the other absolute paths, without the current folder and the folders in it.
    """
    absolute = [one for one in entries if os.path.isabs(one)]
    installed = [one for one in absolute if _is_installed(one)]
    here = os.path.join(_current_folder(), "")
    others = [one for one in absolute if not _real_folder(one).startswith(here)]
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
    except OSError:  # it was deleted
        return os.sep


def _real_folder(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


class _Finder:
    """The first finder in `sys.meta_path`; it acts only inside `safe_imports`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # A submodule is searched in its package.
        known = _inside.get()
        if known is None or path is not None:
            return None
        for finder in list(sys.meta_path):
            if finder is self:
                continue
            if finder is PathFinder:
                place = (_current_folder(), *sys.path)
                if place not in known:
                    known[place] = safe_path(sys.path)
                found = PathFinder.find_spec(name, known[place], target)
            else:
                found = finder.find_spec(name, None, target)
            if found is not None:
                return found
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _own_place(file: str) -> str:
    """The folder that a package is installed in."""
    return os.path.dirname(os.path.dirname(os.path.abspath(file)))


def _place_of_msgspec() -> list[str]:
    """Where msgspec is installed.

    It is not imported for that: this would take longer than all the rest of `import lspkit`.
    """
    for path in (safe_path(sys.path), None):
        found = PathFinder.find_spec("msgspec", path)
        if found is not None and found.origin is not None:
            return [_own_place(found.origin)]
    return []


_FINDER = _Finder()
#: Where lspkit and the packages that it always needs are installed.
_OWN = {_own_place(__file__)}
_OWN.update(_place_of_msgspec())
