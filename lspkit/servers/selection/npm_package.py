"""Where the npm package of a program lies, and which packages it can load. Runs nothing.

A program of an npm package is a link into it, or a small script that names a file of it, as the
launchers of npm, pnpm and Nix do, and those that users write themselves.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from lspkit.regular_files import read_regular

#: How many bytes of a launcher are read, and of a `package.json`.
LAUNCHER, DESCRIPTION = 4096, 1024 * 1024
#: How a launcher writes its own folder.
_HERE = re.compile(r"""\$\(dirname (?:-- )?"?\$0"?\)|\$\{0%/\*\}|\$\{basedir\}|\$basedir""")
#: A word of a script, in quotes or not.
_WORD = re.compile(r""""([^"\n]+)"|'([^'\n]+)'|([^\s"']+)""")


def package_of(program: str, name: str) -> str | None:
    """The folder of the package that a program belongs to, None if it is not found."""
    for path in (program, *_paths_in(program)):
        folder = os.path.dirname(os.path.realpath(path))
        while os.path.dirname(folder) != folder:
            if description_of(folder).get("name") == name:
                return folder
            folder = os.path.dirname(folder)
    return None


def can_load(folder: str, name: str) -> bool:
    """Whether a package in this folder can load another one, by Node's rules."""
    while True:
        if os.path.isfile(os.path.join(folder, "node_modules", name, "package.json")):
            return True
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False


def _paths_in(program: str) -> Iterator[str]:
    """The files that a launcher names."""
    text = read_regular(program, LAUNCHER)
    if b"\0" in text:
        return  # it is no script
    here = os.path.dirname(program)
    script = _HERE.sub(lambda _: here, text.decode("utf-8", "replace"))
    for found in _WORD.finditer(script):
        path = found[1] or found[2] or found[3]
        if os.path.isabs(path) and os.path.isfile(path):
            yield path


def description_of(folder: str) -> dict[str, Any]:
    """The content of `package.json` in a folder; empty if there is none that can be read."""
    try:
        package = json.loads(read_regular(os.path.join(folder, "package.json"), DESCRIPTION))
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}
