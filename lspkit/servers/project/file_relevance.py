"""Which changes on disk concern a server, whether it has asked to be told of them or not."""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import PurePath

from lspkit.boundary import is_inside
from lspkit.protocol.watch_registrations import CHANGED, FileEvent, WatchRegistrations
from lspkit.servers.definition import Definition
from lspkit.servers.project.config_inputs import is_source_folder
from lspkit.servers.project.installed import is_of_packages
from lspkit.servers.project.package_folders import PackageFolder
from lspkit.servers.project.unsaved_texts import concerns

#: Files that nobody takes for a part of a program: what is written while one works or runs.
NOISE = re.compile(
    "|".join(
        fnmatch.translate(one)
        for one in (
            *("*.log", "*.log.*", "*.tmp", "*.temp", "*.bak", "*.orig", "*.pid", "*.pyc"),
            *("*.swp", "*.swo", "*~", ".#*", "#*#", "4913", ".coverage", ".coverage.*"),
            *("*.sqlite", "*.sqlite3", "*.db", "*-journal", "*-wal", "*-shm", ".DS_Store"),
        )
    )
)


def speaks(definition: Definition, root: str, path: str) -> bool:
    """Whether a file is one of a server's languages, and in its root."""
    return definition.language_of(os.path.basename(path)) is not None and is_inside(path, root)


def may_read(definition: Definition, path: str) -> bool:
    """Whether a server may have read a file, wherever it lies."""
    name = os.path.basename(path)
    if definition.language_of(name) is not None or definition.is_marker(name):
        return True
    # What is named more closely than by `*` is read, whatever it is called.
    is_noise = NOISE.fullmatch(name) is not None
    return _is_named(definition, name) or ("*" in definition.depends_on and not is_noise)


def is_by_chance(
    definition: Definition, watched: WatchRegistrations, path: str, place: PackageFolder
) -> bool:
    """Whether a server hears of a file only since it has asked for whatever is in a folder.

    It is none that it could read by its name, nor one that a pattern of its own says more about.
    """
    name = os.path.basename(path)
    if definition.language_of(name) is not None or definition.is_marker(name):
        return False
    if os.path.splitext(name)[1] in definition.reads or _is_named(definition, name):
        return False
    return (not place.kind or place.kind != definition.packages) and not watched.matches_by_name(
        path
    )


def _is_named(definition: Definition, name: str) -> bool:
    return any(one != "*" and fnmatch.fnmatchcase(name, one) for one in definition.depends_on)


def is_missed(
    definition: Definition,
    root: str,
    watched: WatchRegistrations,
    event: FileEvent,
    place: PackageFolder,
) -> bool:
    """Whether a server does not see a change by itself, even if it is told of it.

    `place` is where it has happened.
    """
    if definition.refreshed_by is None:
        return False
    if place.kind:
        return place.kind == definition.packages and is_of_packages(event.path, place.top)
    if event.is_folder and is_source_folder(event.path, definition, root):
        return True
    above, name = os.path.split(event.path)
    if event.kind != CHANGED and len(PurePath(above).parts[1:]) <= definition.unnoticed_within:
        return concerns(definition, name, is_inside=is_inside(event.path, root))
    if not any(fnmatch.fnmatchcase(name, one) for one in definition.refreshed_for):
        return False
    return not is_inside(event.path, root) or not watched.kinds_to_send(event.path, event.kind)
