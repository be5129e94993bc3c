"""Files of the project that the configuration of a server imports or names as its base.

The files are neither run nor parsed. In data only the values of a few keys count, and in a script
its imports as well: a configuration also names sources, which are no part of it. The files are
untrusted: every pattern scans them once, and accesses to the disk are counted.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from lspkit.limits import LONGEST_PATH, MOST_NAMES
from lspkit.regular_files import open_regular

#: How many files are read for one configuration.
MOST = 200
#: How many paths are kept at which there is no file yet.
MOST_MISSING = 1_000
#: Largest file that is read: larger ones are data.
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
    found, todo, missing = set(begin), list(begin), set[str]()
    left = MOST_NAMES
    while todo and left and len(found) < MOST:
        file = todo.pop()
        for key, value in itertools.islice(_names_in(file), left):
            left -= 1
            meant, not_there = _meant(key, value, os.path.dirname(file))
            missing.update(not_there[: MOST_MISSING - len(missing)])
            if meant is not None and meant not in found:
                found.add(meant)
                todo += [meant] if os.path.isfile(meant) else []
    return frozenset(found | missing) if missing or len(found) > len(begin) else frozenset()


def _names_in(file: str) -> Iterator[tuple[str, str]]:
    """What a file names, each once: its key, or `import`, and the name."""
    text = _text(file)
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
    missing = list(itertools.takewhile(lambda one: not os.path.isfile(one), paths))
    if len(missing) < len(paths):
        return paths[len(missing)], missing
    package = _linked(value, folder) if key in (_IMPORT, "extends") else None
    return package, [] if package is not None or value.startswith("@") else missing


def _paths(value: str, folder: str, endings: tuple[str, ...]) -> list[str]:
    """The configurations or scripts that a value may name, the first choice first."""
    if not value.startswith(("./", "../")) and not value.endswith((*_SCRIPTS, *_DATA)):
        return []
    path = os.path.normpath(os.path.join(folder, value))
    return [path + one for one in endings if (path + one).endswith((*_SCRIPTS, *_DATA))]


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace", opener=open_regular) as stream:
            text = stream.read(LARGEST + 1)
            return text if len(text) <= LARGEST else ""
    except OSError:
        return ""


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
