"""Where the npm package of a program lies, and what it can load. The look-up runs nothing.

A program of an npm package is a link into it, or a small script that names a file of it: so do the
launchers of npm and pnpm, of Nix, and those that people write themselves.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator

#: Of a launcher, so many first bytes are read; and of the file that names a package.
LAUNCHER, DESCRIPTION = 4096, 1024 * 1024
#: How a launcher writes the folder that it lies in.
_HERE = re.compile(r"""\$\(dirname (?:-- )?"?\$0"?\)|\$\{0%/\*\}|\$\{basedir\}|\$basedir""")
#: A word of a script, in quotes or not.
_WORD = re.compile(r""""([^"\n]+)"|'([^'\n]+)'|([^\s"']+)""")


def package_of(program: str, name: str) -> str | None:
    """The folder of the package that a program belongs to, None if that cannot be told."""
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
    text = _read(program, LAUNCHER)
    if b"\0" in text:
        return  # no script
    here = os.path.dirname(program)
    script = _HERE.sub(lambda _: here, text.decode("utf-8", "replace"))
    for found in _WORD.finditer(script):
        path = found[1] or found[2] or found[3]
        if os.path.isabs(path) and os.path.isfile(path):
            yield path


def _name_of(folder: str) -> str:
    try:
        package = json.loads(_read(os.path.join(folder, "package.json"), DESCRIPTION))
    except (ValueError, RecursionError):
        return ""
    return str(package.get("name", "")) if isinstance(package, dict) else ""


def _read(path: str, most: int) -> bytes:
    """The first bytes of a file, nothing if it is none: a pipe may never have any."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(most) if is_file else b""
    except OSError:
        return b""


def without_waiting(path: str, flags: int) -> int:
    """Opens a file for `open`: a pipe in its place is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
