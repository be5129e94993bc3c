"""What the configuration of a server imports or names as its base, as far as it is the project's.

The texts are not run, nor read as a language: every quoted path counts that begins with a dot or
ends like a script or a configuration, and leads to a file; and every quoted name of a package that
is a link into the project. That is more than what is imported, and more is no harm.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

#: So many files are read for one configuration.
MOST = 200
#: No larger ones: they are data.
LARGEST = 1_000_000

_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.ts")
_PATH = re.compile(
    r"""["'`](\.{1,2}/[^"'`\n]+|[^"'`\n]+\.(?:[cm]?[jt]s|jsonc?|toml|ya?ml|ini|cfg))["'`]"""
)
_PACKAGE = re.compile(
    r"""(?:\bfrom|\bimport|\brequire|\bextends)\b[\s(:\[]*["'`]((?:@[\w.-]+/)?[\w-][\w.-]*)"""
)


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
    for match in _PATH.finditer(text):
        path = os.path.normpath(os.path.join(folder, match[1]))
        there = next((path + one for one in _ENDINGS if os.path.isfile(path + one)), None)
        if there is not None:
            yield there
    for match in _PACKAGE.finditer(text):
        package = _linked(match[1], folder)
        if package is not None:
            yield package


def _text(file: str) -> str:
    try:
        if os.path.getsize(file) > LARGEST:
            return ""
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _linked(package: str, folder: str) -> str | None:
    """The folder of a package of the same workspace, which its tool has put there as a link."""
    while True:
        link = os.path.join(folder, "node_modules", package)
        if os.path.isdir(link):
            real = os.path.realpath(link)
            return None if "node_modules" in real.split(os.sep) else real
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
