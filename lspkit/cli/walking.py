"""Which files a command line means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lspkit.config import Config
from lspkit.edits.paths import is_inside
from lspkit.servers.choosing import definitions
from lspkit.servers.walking import walk


def workspace_of(paths: Sequence[str]) -> str:
    """The current folder if everything lies in it, else the folder that holds everything."""
    here = os.path.realpath(os.curdir)
    real = [os.path.realpath(path) for path in paths]
    if all(is_inside(path, here) for path in real):
        return here
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in real]
    return os.path.commonpath(folders)


def files_below(given: Sequence[str]) -> list[Path]:
    """The files that are named, and those of a known kind in the folders that are, in order."""
    known = definitions(Config())
    found: dict[Path, None] = {}
    for name in given:
        path = Path(os.path.abspath(name))
        if not path.is_dir():
            found[path] = None
            continue
        for file in walk(str(path)):
            if any(definition.language_of(os.path.basename(file)) for definition in known):
                found[Path(file)] = None
    return list(found)
