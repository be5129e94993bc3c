"""Files on disk that decide which servers run, and which a running server has read.

A server reads its configuration when it starts. Its definition (`ConfigFiles`) says what it does
when that changes: it reports that it has read the files again, or it has to be restarted.
"""

from __future__ import annotations

import fnmatch
import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from lspkit.limits import LONGEST_PATH, MOST_NAMES
from lspkit.protocol.registrations import CHANGED
from lspkit.regular_files import read_regular_text
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import ConfigFiles
from lspkit.servers.project.file_relevance import changes_modules, is_named, is_one_of
from lspkit.servers.project.project_files import is_of_packages
from lspkit.servers.project.python_environment import Environments
from lspkit.workspace_boundary import folders_above, is_inside

_WILD = re.compile(r"[*?\[]")


class Markers:
    """The names of all files that decide about servers and their roots."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        names = {
            name
            for roots in (definition.roots for definition in definitions)
            for name in (*roots.markers, *roots.outermost, *roots.kept_out_by, *roots.only_with)
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
    plain = [name.removeprefix("/") for name in names]
    before = plain[: plain.index(os.path.basename(path))]
    return any(os.path.exists(os.path.join(root, name)) for name in before)


# Files of the project that the configuration of a server imports or names as its base.
#
# The files are neither run nor parsed. In data only the values of a few keys count, and in a script
# its imports as well: a configuration also names sources, which are no part of it. The files are
# untrusted: every pattern scans them once, and accesses to the disk are counted.

#: How many files are read for one configuration.
MOST = 200
#: How many paths are kept at which there is no file yet.
MOST_MISSING = 1_000
#: Bytes of a file that are read.
LARGEST = 1_000_000

_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_DATA = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".grit")
#: Endings that a path may omit.
_AFTER_KEYS = ("", ".json", ".js", ".cjs")
_AFTER_IMPORTS = ("", *_SCRIPTS, ".json", "/index.js", "/index.ts")

_QUOTED = r"""["'`][^"'`\n]++["'`]"""
#: `extends` and `extend` name a base, the others what is loaded or read besides. A value or the
#: start of a list follows.
_KEYS = re.compile(
    rf"""\b(extends?|parser|plugins|jsPlugins|project)\b["']?+\s*+[:=(]\s*+({_QUOTED}|\[)"""
)
_IMPORTS = re.compile(
    r"\b(?:from|import|require(?:\.resolve)?|readFile(?:Sync)?|new\s++URL)\b"
    rf"\s*+(?:\(\s*+)?({_QUOTED})"
)
_VALUE = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
#: Used as the key of a script's imports.
_IMPORT = "import"
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w-][\w.-]*")


def imported_by(root: str, names: tuple[str, ...]) -> frozenset[str]:
    """The files of these names in a folder, with all that they import, and package folders.

    Includes the paths of imported files that do not exist: they count as soon as they do. Empty if
    the files import nothing.
    """
    begin = [path for name in names if os.path.isfile(path := os.path.join(root, name))]
    files, todo, missing = set(begin), list(begin), set[str]()
    left = MOST_NAMES
    while todo and left and len(files) < MOST:
        file = todo.pop()
        for key, value in itertools.islice(_names_in(file), left):
            left -= 1
            meant, not_there = _meant(key, value, os.path.dirname(file))
            missing.update(not_there[: MOST_MISSING - len(missing)])
            if meant is not None and meant not in files:
                files.add(meant)
                todo += [meant] if os.path.isfile(meant) else []
    return frozenset(files | missing) if missing or len(files) > len(begin) else frozenset()


def _names_in(file: str) -> Iterator[tuple[str, str]]:
    """What a file names, each once: its key, or `import`, and the name."""
    text = read_regular_text(file, LARGEST)
    seen: set[tuple[str, str]] = set()
    for key, value in _all_names_in(text, is_script=file.endswith(_SCRIPTS)):
        if len(value) <= LONGEST_PATH and (key, value) not in seen:
            seen.add((key, value))
            yield key, value


def _all_names_in(text: str, *, is_script: bool) -> Iterator[tuple[str, str]]:
    at = 0
    while match := _KEYS.search(text, at):
        at = match.end()
        if match[2] == "[":
            end = text.find("]", at)
            if end < 0:
                break  # no later list has an end, either
            values, at = text[at:end], end
        else:
            values = match[2]
        for value in _VALUE.finditer(values):
            yield match[1], value[1]
    for match in _IMPORTS.finditer(text) if is_script else ():
        yield _IMPORT, match[1][1:-1]


def _meant(key: str, value: str, folder: str) -> tuple[str | None, list[str]]:
    """The file or package folder that a name stands for, if it is part of the project.

    And the paths without a file, of which each would come before it.
    """
    paths = _paths(value, folder, _AFTER_IMPORTS if key == _IMPORT else _AFTER_KEYS)
    missing = list(itertools.takewhile(lambda path: not os.path.isfile(path), paths))
    if len(missing) < len(paths):
        return paths[len(missing)], missing
    package = _linked(value, folder) if key in (_IMPORT, "extends") else None
    return package, [] if package is not None or value.startswith("@") else missing


def _paths(value: str, folder: str, endings: tuple[str, ...]) -> list[str]:
    """The configurations or scripts that a value may name, the first choice first."""
    if not value.startswith(("./", "../")) and not value.endswith((*_SCRIPTS, *_DATA)):
        return []
    path = os.path.normpath(os.path.join(folder, value))
    return [path + ending for ending in endings if (path + ending).endswith((*_SCRIPTS, *_DATA))]


def _linked(value: str, folder: str) -> str | None:
    """The folder of a package of this workspace, which the package manager has linked."""
    match = _PACKAGE.match(value)
    while match is not None:
        link = os.path.join(folder, "node_modules", match[0])
        if os.path.isdir(link):
            real = os.path.realpath(link)
            return None if "node_modules" in real.split(os.sep) else real
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            break
    return None
