"""Where the npm package of a program lies, and what it can load. The look-up runs nothing.

A program of an npm package is a link into it, or a small script that names a file of it: so do the
launchers of pnpm, of Nix, and those that people write themselves.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

#: Of a launcher, so many first bytes are read.
LAUNCHER = 4096
#: A path in a launcher; pnpm's begin at the folder that they lie in.
_PATH = re.compile(r"(?:\$basedir)?/[^\s\"':;]+")


def package_of(program: str, name: str) -> str | None:
    """The folder of the package that a program belongs to, None if it is of another one."""
    for path in (program, *_paths_in(program)):
        folder = os.path.dirname(os.path.realpath(path))
        while os.path.dirname(folder) != folder:
            if _name_of(folder) == name:
                return folder
            folder = os.path.dirname(folder)
    return None


def can_load(folder: str, name: str) -> bool:
    """Whether a package in this folder finds another one, as Node looks for it."""
    while True:
        if os.path.isfile(os.path.join(folder, "node_modules", name, "package.json")):
            return True
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False


def _paths_in(program: str) -> Iterator[str]:
    """The files that a launcher names."""
    try:
        with open(program, "rb") as file:
            text = file.read(LAUNCHER)
    except OSError:
        return
    if b"\0" in text:
        return  # no script
    for found in _PATH.findall(text.decode("utf-8", "replace")):
        path = found.replace("$basedir", os.path.dirname(program))
        if os.path.isfile(path):
            yield path


def _name_of(folder: str) -> str:
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            package = json.load(file)
    except (OSError, ValueError, RecursionError):
        return ""
    return str(package.get("name", "")) if isinstance(package, dict) else ""
