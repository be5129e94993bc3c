"""Files on disk that decide which servers run, and which a running server has read.

A server reads its configuration when it starts. Its definition (`ConfigFiles`) says what it does
when that changes: it reports that it has read the files again, or it has to be restarted.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import time
from collections.abc import Iterable

import msgspec

from lspkit.protocol.watching.registrations import CHANGED, CREATED, DELETED
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import ConfigFiles
from lspkit.servers.project.config_imports import imported_by
from lspkit.servers.project.file_relevance import changes_modules, is_named, is_one_of
from lspkit.servers.project.package_folders import is_of_packages
from lspkit.servers.project.python_environment import Environments
from lspkit.workspace_boundary import folders_above, is_inside

_WILD = re.compile(r"[*?\[]")
#: How far the clock of a file system may be behind, in nanoseconds.
_BEHIND = 20_000_000
#: For a file that existed when the process was started: its values are unknown.
_OLD = (0, 0, 0)


class Times:
    """The times and sizes of files that have changed since a process was started.

    For a server that compares these instead of contents. It does not notice new content with an
    equal time and size: from an archive, from a cache, or on a file system with coarse times.
    """

    def __init__(self) -> None:
        self._began = time.time_ns()
        #: Path: modification time, size and ctime. Those of a deleted file are kept, since the
        #: server keeps its content.
        self._known: dict[str, tuple[int, int, int]] = {}

    def hide(self, path: str, kind: int) -> bool:
        """Whether a file has new content, with the time and size that it had before."""
        try:
            found = os.stat(path)
        except OSError:
            kind = DELETED
        if kind == DELETED:
            self._known.setdefault(path, _OLD)
            return False
        known = self._known.get(path, None if kind == CREATED else _OLD)
        now = self._known[path] = found.st_mtime_ns, found.st_size, found.st_ctime_ns
        if known is None:
            return False
        if known == _OLD:
            return found.st_mtime_ns < self._began < found.st_ctime_ns + _BEHIND
        return now[:2] == known[:2] and now != known


class Markers:
    """The names of all files that decide about servers and their roots."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        names = {
            name
            for one in (definition.roots for definition in definitions)
            for name in (*one.markers, *one.outermost, *one.kept_out_by, *one.only_with)
        }
        globs = {name for name in names if _WILD.search(name)}
        self._names = frozenset(names - globs)
        self._globs = re.compile("|".join(map(fnmatch.translate, sorted(globs))) or r"(?!)")

    def hold(self, path: str) -> bool:
        """Whether a file has one of these names."""
        name = os.path.basename(path)
        return name in self._names or self._globs.fullmatch(name) is not None


class Inputs(msgspec.Struct):
    """The configuration files that one server process has read."""

    definition: Definition
    root: str
    #: The virtual environments that it was started for, if it reads their packages.
    environments: Environments = Environments()
    #: Files and folders that the configuration imports, with itself, and paths where one is
    #: missing; None: not known.
    _imported: frozenset[str] | None = None
    _times: Times = msgspec.field(default_factory=Times)

    def hold(self, path: str, kind: int = CHANGED) -> bool:
        """Whether it has read a file, and does not read it again at once by itself."""
        config = self.definition.disk.config
        if changes_modules(path, kind, self.definition, self.root):
            return True
        if self._hides_change(path, kind):
            return True
        if config is None:
            return False
        names, packages = config.files, os.path.join(self.root, self.definition.disk.packages)
        if self._is_config(path, config):
            held = not (config.first_only and is_shadowed(path, names, self.root))
        elif config.packages and is_inside(path, packages):
            held = is_of_packages(path, packages)
        else:
            held = bool(config.imports) and self._import(path, config.imports)
        if held or os.path.basename(path) in config.imports:
            self._imported = None  # its imports may have changed
        return held

    def read(self) -> None:
        """The process is about to start: record the files that it will read."""
        self._times = Times()
        config = self.definition.disk.config
        if config is not None and config.imports:
            self._imported = imported_by(self.root, config.imports)

    def _is_config(self, path: str, config: ConfigFiles) -> bool:
        if is_inside(path, self.root):
            return is_named(path, config.files, self.root)
        folder, name = os.path.split(path)
        return config.above and is_one_of(name, config.files) and is_inside(self.root, folder)

    def _hides_change(self, path: str, kind: int) -> bool:
        """Whether it regards a changed source as unchanged, because of its time."""
        if not self.definition.exceptions.compares_times or not is_inside(path, self.root):
            return False
        is_source = self.definition.language_of(os.path.basename(path)) is not None
        return is_source and self._times.hide(path, kind)

    def _import(self, path: str, names: tuple[str, ...]) -> bool:
        if self._imported is None:
            self._imported = imported_by(self.root, names)
        return path in self._imported or not self._imported.isdisjoint(
            _folder_and_above(os.path.dirname(path))
        )


@functools.lru_cache(256)
def _folder_and_above(folder: str) -> tuple[str, ...]:
    return folder, *folders_above(folder)


def is_shadowed(path: str, names: tuple[str, ...], root: str) -> bool:
    """Whether a file that has precedence over this one is in the root."""
    plain = [one.removeprefix("/") for one in names]
    before = plain[: plain.index(os.path.basename(path))]
    return any(os.path.exists(os.path.join(root, one)) for one in before)
