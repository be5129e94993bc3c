"""What the configuration of a server imports or names as its base, as far as it is the project's.

The texts are not run, nor read as a language. Of data only the values of a few keys count, and in a
script what it imports as well: a configuration names sources, too, and these are none of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

#: So many files are read for one configuration.
MOST = 200
#: No larger ones: they are data.
LARGEST = 1_000_000

_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_DATA = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".grit")
#: What may be left out of a path.
_AFTER_KEYS = ("", ".json", ".js", ".cjs")
_AFTER_IMPORTS = ("", *_SCRIPTS, ".json", "/index.js", "/index.ts")

_QUOTED = r"""["'`][^"'`\n]+["'`]"""
#: `extends` and `extend` name a base, the others what is loaded or read besides.
_KEYS = re.compile(
    rf"""\b(extends?|parser|plugins|jsPlugins|project)\b["']?\s*[:=(]\s*({_QUOTED}|\[[^\]]*\])"""
)
_IMPORTS = re.compile(
    rf"""\b(?:from|import|require(?:\.resolve)?|readFile(?:Sync)?|new\s+URL)\b\s*\(?\s*({_QUOTED})"""
)
_VALUE = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w-][\w.-]*")


def imported_by(root: str, names: tuple[str, ...]) -> frozenset[str]:
    """The files of these names in a folder, with all that they import, and folders of packages.

    None at all if they import nothing.
    """
    begin = [path for name in names if os.path.isfile(path := os.path.join(root, name))]
    found, todo = set(begin), list(begin)
    while todo and len(found) < MOST:
        file = todo.pop()
        for path in _named_in(file):
            if path not in found:
                found.add(path)
                todo += [path] if os.path.isfile(path) else []
    return frozenset(found) if len(found) > len(begin) else frozenset()


def _named_in(file: str) -> Iterator[str]:
    text, folder = _text(file), os.path.dirname(file)
    for match in _KEYS.finditer(text):
        for value in _VALUE.findall(match[2]):
            if path := _file(value, folder, _AFTER_KEYS):
                yield path
            elif match[1] == "extends" and (package := _linked(value, folder)):
                yield package
    for match in _IMPORTS.finditer(text) if file.endswith(_SCRIPTS) else ():
        value = match[1][1:-1]
        if path := _file(value, folder, _AFTER_IMPORTS):
            yield path
        elif package := _linked(value, folder):
            yield package


def _file(value: str, folder: str, endings: tuple[str, ...]) -> str | None:
    """The configuration or script that a value names, if it is the path of one."""
    if not value.startswith(("./", "../")) and not value.endswith((*_SCRIPTS, *_DATA)):
        return None
    path = os.path.normpath(os.path.join(folder, value))
    with_endings = [path + one for one in endings if (path + one).endswith((*_SCRIPTS, *_DATA))]
    return next((one for one in with_endings if os.path.isfile(one)), None)


def _text(file: str) -> str:
    try:
        if os.path.getsize(file) > LARGEST:
            return ""
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read()
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
