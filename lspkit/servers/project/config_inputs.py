"""Files on disk that decide which servers there are, and what a running one goes by.

A server reads its configuration when it starts. What it does when that changes is in its definition
(`Rereads`): it says when it has read the files again, or it has to be started anew.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Iterable, Iterator

import msgspec

from lspkit.boundary import is_inside
from lspkit.protocol.watch_registrations import CHANGED
from lspkit.servers.definition import Definition
from lspkit.servers.project.config_imports import imported_by
from lspkit.servers.project.file_times import Times
from lspkit.servers.project.installed import is_of_packages

_WILD = re.compile(r"[*?\[]")


class Markers:
    """The names of all files by which servers and their roots are chosen."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        names = {
            name
            for one in definitions
            for name in (*one.markers, *one.outermost, *one.kept_out_by, *one.only_with)
        }
        globs = {name for name in names if _WILD.search(name)}
        self._names = frozenset(names - globs)
        self._globs = re.compile("|".join(map(fnmatch.translate, sorted(globs))) or r"(?!)")

    def hold(self, path: str) -> bool:
        """Whether a file is one of them."""
        name = os.path.basename(path)
        return name in self._names or self._globs.fullmatch(name) is not None


class Inputs(msgspec.Struct):
    """What one process of a server has read of its configuration."""

    definition: Definition
    root: str
    #: Files and folders that the configuration imports, itself included; None: to be looked at.
    _imported: frozenset[str] | None = None
    _times: Times = msgspec.field(default_factory=Times)

    def hold(self, path: str, kind: int = CHANGED) -> bool:
        """Whether it has read a file that it does not read again by itself at once."""
        rereads = self.definition.rereads
        if changes_modules(path, kind, self.definition, self.root):
            return True
        if self._hides_change(path, kind):
            return True
        if rereads is None:
            return False
        names, packages = rereads.files, os.path.join(self.root, self.definition.packages)
        if is_named(path, names, self.root) and is_inside(path, self.root):
            held = not (rereads.one and is_shadowed(path, names, self.root))
        elif rereads.packages and is_inside(path, packages):
            held = is_of_packages(path, packages)
        else:
            held = bool(rereads.imports) and self._import(path, rereads.imports)
        if os.path.basename(path) in rereads.imports:
            self._imported = None  # it may import something else from now on
        return held

    def read(self) -> None:
        """The process is about to start: look at what it will read."""
        self._times = Times()
        if self.definition.rereads is not None and self.definition.rereads.imports:
            self._imported = imported_by(self.root, self.definition.rereads.imports)

    def _hides_change(self, path: str, kind: int) -> bool:
        """Whether it takes a source for unchanged, by its time."""
        if not self.definition.compares_times or not is_inside(path, self.root):
            return False
        is_source = self.definition.language_of(os.path.basename(path)) is not None
        return is_source and self._times.hide(path, kind)

    def _import(self, path: str, names: tuple[str, ...]) -> bool:
        if self._imported is None:
            self._imported = imported_by(self.root, names)
        return bool(self._imported) and any(one in self._imported for one in _and_above(path))


def is_named(path: str, names: tuple[str, ...], root: str) -> bool:
    """Whether one of the names or globs fits; one with `/` before it only directly in the root."""
    name = os.path.basename(path)
    if not names or not _any_of(names).fullmatch(name):
        return False
    in_root = os.path.dirname(path) == root
    return any(
        fnmatch.fnmatchcase(name, one.removeprefix("/"))
        for one in names
        if in_root or not one.startswith("/")
    )


def changes_modules(path: str, kind: int, definition: Definition, root: str) -> bool:
    """Whether there is another set of modules now than a server believes that has to be replaced.

    A folder of modules or a file that decides where a module is came or went, and it would go on to
    resolve imports as before.
    """
    if definition.refreshed_by is None and is_source_folder(path, definition, root):
        return True
    return kind != CHANGED and is_named(path, definition.modules, root) and is_inside(path, root)


def is_source_folder(path: str, definition: Definition, root: str) -> bool:
    """Whether a server looks for modules in this folder, from when it has seen it on."""
    above, name = os.path.split(path)
    return name in definition.source_folders and above == root


def is_shadowed(path: str, names: tuple[str, ...], root: str) -> bool:
    """Whether a file that is named before this one is in the root."""
    plain = [one.removeprefix("/") for one in names]
    before = plain[: plain.index(os.path.basename(path))]
    return any(os.path.exists(os.path.join(root, one)) for one in before)


def _and_above(path: str) -> Iterator[str]:
    """The path, and all folders above it."""
    while True:
        yield path
        path, below = os.path.dirname(path), path
        if path == below:
            return


@functools.cache
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(one.removeprefix("/")) for one in names))
