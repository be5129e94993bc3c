"""What the configuration of a server imports or names as its base, as far as it is the project's.

The texts are not run, nor read as a language. Of data only the values of a few keys count, and in a
script what it imports as well: a configuration names sources, too, and these are none of it. The
texts are a stranger's: every pattern passes over them once, and looks at the disk are counted.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from lspkit.limits import LONGEST_PATH, MOST_NAMES
from lspkit.servers.selection.npm_package import without_waiting

#: So many files are read for one configuration.
MOST = 200
#: No larger ones: they are data.
LARGEST = 1_000_000

_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_DATA = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".grit")
#: What may be left out of a path.
_AFTER_KEYS = ("", ".json", ".js", ".cjs")
_AFTER_IMPORTS = ("", *_SCRIPTS, ".json", "/index.js", "/index.ts")

_QUOTED = r"""["'`][^"'`\n]++["'`]"""
#: `extends` and `extend` name a base, the others what is loaded or read besides. What follows is a
#: value or the start of a list.
_KEYS = re.compile(
    rf"""\b(extends?|parser|plugins|jsPlugins|project)\b["']?+\s*+[:=(]\s*+({_QUOTED}|\[)"""
)
_IMPORTS = re.compile(
    r"\b(?:from|import|require(?:\.resolve)?|readFile(?:Sync)?|new\s++URL)\b"
    rf"\s*+(?:\(\s*+)?({_QUOTED})"
)
_VALUE = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
#: In the place of a key, for what a script imports.
_IMPORT = "import"
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w-][\w.-]*")


def imported_by(root: str, names: tuple[str, ...]) -> frozenset[str]:
    """The files of these names in a folder, with all that they import, and folders of packages.

    None at all if they import nothing.
    """
    begin = [path for name in names if os.path.isfile(path := os.path.join(root, name))]
    found, todo = set(begin), list(begin)
    left = MOST_NAMES
    while todo and left and len(found) < MOST:
        file = todo.pop()
        for key, value in itertools.islice(_names_in(file), left):
            left -= 1
            meant = _meant(key, value, os.path.dirname(file))
            if meant is not None and meant not in found:
                found.add(meant)
                todo += [meant] if os.path.isfile(meant) else []
    return frozenset(found) if len(found) > len(begin) else frozenset()


def _names_in(file: str) -> Iterator[tuple[str, str]]:
    """What a file names, each once: the key that it stands at, or `import`, and the name."""
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
                break  # none of the lists that follow ends, either
            values, at = text[at:end], end
        else:
            values = match[2]
        for value in _VALUE.finditer(values):
            yield match[1], value[1]
    for match in _IMPORTS.finditer(text) if is_script else ():
        yield _IMPORT, match[1][1:-1]


def _meant(key: str, value: str, folder: str) -> str | None:
    """The file or the folder of a package that a name stands for, if it is the project's."""
    path = _file(value, folder, _AFTER_IMPORTS if key == _IMPORT else _AFTER_KEYS)
    if path is None and key in (_IMPORT, "extends"):
        return _linked(value, folder)
    return path


def _file(value: str, folder: str, endings: tuple[str, ...]) -> str | None:
    """The configuration or script that a value names, if it is the path of one."""
    if not value.startswith(("./", "../")) and not value.endswith((*_SCRIPTS, *_DATA)):
        return None
    path = os.path.normpath(os.path.join(folder, value))
    with_endings = [path + one for one in endings if (path + one).endswith((*_SCRIPTS, *_DATA))]
    return next((one for one in with_endings if os.path.isfile(one)), None)


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace", opener=without_waiting) as stream:
            text = stream.read(LARGEST + 1)
            return text if len(text) <= LARGEST else ""
    except OSError:
        return ""


def _linked(value: str, folder: str) -> str | None:
    """The folder of a package of the same workspace, which its tool has put there as a link."""
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
