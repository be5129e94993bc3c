"""Files on disk that decide which servers run, and which a running server has read.

A server reads its configuration when it starts. Its definition (`ConfigFiles`) says what it does
when that changes: it reports that it has read the files again, or it has to be restarted.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Callable, Iterable

import msgspec

from lspkit.protocol.watching.registrations import CHANGED
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import ConfigFiles
from lspkit.servers.project.config_imports import imported_by
from lspkit.servers.project.file_relevance import changes_modules, is_named, is_one_of
from lspkit.servers.project.package_folders import is_of_packages
from lspkit.servers.project.python_environment import Environments
from lspkit.workspace_boundary import folders_above, is_inside

_WILD = re.compile(r"[*?\[]")


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
    #: Whether a change on disk outdates this process, by path and kind.
    _needs_restart: Callable[[str, int], bool] = lambda path, kind: False

    def __post_init__(self) -> None:
        self._needs_restart = adapter_of(self.definition).restart_rule(self.definition, self.root)

    def hold(self, path: str, kind: int = CHANGED) -> bool:
        """Whether it has read a file, and does not read it again at once by itself."""
        config = self.definition.disk.config
        if changes_modules(path, self.definition, self.root) or self._needs_restart(path, kind):
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
        self.__post_init__()
        config = self.definition.disk.config
        if config is not None and config.imports:
            self._imported = imported_by(self.root, config.imports)

    def _is_config(self, path: str, config: ConfigFiles) -> bool:
        if is_inside(path, self.root):
            return is_named(path, config.files, self.root)
        folder, name = os.path.split(path)
        return config.above and is_one_of(name, config.files) and is_inside(self.root, folder)

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
