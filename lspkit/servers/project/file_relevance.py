"""Which files matter to a server, and why. Pure: functions of its definition and of paths.

One rule (`relevance`) decides whether a file matters, by its name. The other functions derive the
consequences for a change on disk, and for an unsaved text.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from pathlib import PurePath
from typing import Literal

from lspkit.protocol.registrations import CHANGED, CREATED, FileEvent, WatchRegistrations
from lspkit.servers.definition import Definition
from lspkit.servers.project.project_files import PackageFolder, is_of_packages
from lspkit.workspace_boundary import is_inside

#: Why a file matters: it is of one of the server's languages (`source`), marks a root (`marker`),
#: `reads` has a pattern for it (`named`), or only `*` (`any`). Empty: it does not matter.
Relevance = Literal["source", "marker", "named", "any", ""]

#: Files that are no part of a program: written while a program or tool runs.
NOISE = (
    *("*.log", "*.log.*", "*.tmp", "*.temp", "*.bak", "*.orig", "*.pid", "*.pyc"),
    *("*.swp", "*.swo", "*~", ".#*", "#*#", "4913", ".coverage", ".coverage.*"),
    *("*.sqlite", "*.sqlite3", "*.db", "*-journal", "*-wal", "*-shm", ".DS_Store"),
)


def relevance(definition: Definition, name: str) -> Relevance:
    """Why a file of this name matters to a server, wherever it lies."""
    if definition.language_of(name) is not None:
        return "source"
    if definition.is_marker(name):
        return "marker"
    reads = definition.disk.reads
    if is_one_of(name, tuple(glob for glob in reads if glob != "*")):
        return "named"
    return "any" if "*" in reads and not is_one_of(name, NOISE) else ""


def is_one_of(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name or glob fits. A leading `/` is ignored."""
    return bool(patterns) and _any_of(patterns).fullmatch(name) is not None


def is_named(path: str, patterns: tuple[str, ...], root: str) -> bool:
    """Whether a name or glob fits; one with a leading `/` only directly in the root."""
    name = os.path.basename(path)
    if not is_one_of(name, patterns):
        return False
    return os.path.dirname(path) == root or is_one_of(
        name, tuple(pattern for pattern in patterns if not pattern.startswith("/"))
    )


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        "|".join(fnmatch.translate(pattern.removeprefix("/")) for pattern in patterns)
    )


# A text that is not on disk


def concerns(definition: Definition, name: str, *, is_inside: bool) -> bool:
    """Whether findings in other files may depend on the text of a file of this name.

    A source may be imported from anywhere; other files count inside the server's root.
    """
    if is_inside and definition.is_marker(name):
        return True
    if not definition.compares_files:
        return False
    why = relevance(definition, name)
    return why == "source" or (is_inside and why == "named")


def unseen(
    definition: Definition, name: str, *, is_shown: bool, is_there: bool, has_folder: bool = True
) -> str:
    """Why a server does not see the unsaved text of another file; empty if it does.

    `is_shown`: the file is open in the server with that text. `is_there`: the file exists on disk.
    `has_folder`: its folder does.
    """
    documents = definition.documents
    if documents.unsaved == "never":
        return f"it reads other files from disk, and the text of {name} is not there"
    if documents.unsaved == "untried":
        return f"it is not known whether it sees a text that is not on disk, such as that of {name}"
    if not is_shown:
        return f"it reads {name} from disk, and not the text that replaces it"
    if not is_there and not documents.unsaved_files:
        return f"it does not see files that are not on disk, such as {name}"
    if not has_folder and documents.unsaved_files == "in folders":
        return f"it does not see files in a folder that is not on disk, such as {name}"
    return ""


# A change on disk


def is_source_in(definition: Definition, root: str, path: str) -> bool:
    """Whether a file is of one of the server's languages, and in its root."""
    return definition.language_of(os.path.basename(path)) is not None and is_inside(path, root)


def may_read(definition: Definition, path: str) -> bool:
    """Whether a server may have read a file, wherever it lies."""
    return relevance(definition, os.path.basename(path)) != ""


def is_by_chance(
    definition: Definition, watched: WatchRegistrations, path: str, place: PackageFolder
) -> bool:
    """Whether a server is notified of a file only because it has registered for a whole folder.

    Nothing else says that it reads the file: no name, no package, no closer pattern of its own.
    """
    if relevance(definition, os.path.basename(path)) not in ("any", ""):
        return False
    return (
        not place.kind or place.kind != definition.disk.packages
    ) and not watched.matches_by_name(path)


def is_missed(
    definition: Definition,
    root: str,
    watched: WatchRegistrations,
    event: FileEvent,
    place: PackageFolder,
) -> bool:
    """Whether a server has to read all files again, since it does not notice a change.

    `place` is where the change is.
    """
    refresh = definition.disk.refresh
    if refresh is None:
        return False
    if place.kind:
        return place.kind == definition.disk.packages and is_of_packages(event.path, place.top)
    if event.is_folder and is_source_folder(event.path, definition, root):
        return True
    above, name = os.path.split(event.path)
    if event.kind != CHANGED and len(PurePath(above).parts[1:]) <= refresh.path_depth:
        return concerns(definition, name, is_inside=is_inside(event.path, root))
    if not is_one_of(name, refresh.files):
        return False
    return not is_inside(event.path, root) or not watched.kinds_to_send(event.path, event.kind)


def misses_created(definition: Definition, kind: int) -> bool:
    """Whether a server does not notice a change if it is shown an unsaved text of the file."""
    return definition.documents.misses_created and kind == CREATED


def changes_modules(path: str, definition: Definition, root: str) -> bool:
    """Whether a server has to be restarted, since a folder of modules was created or deleted."""
    return definition.disk.refresh is None and is_source_folder(path, definition, root)


def is_source_folder(path: str, definition: Definition, root: str) -> bool:
    """Whether a server looks for modules in this folder, once it has seen it."""
    above, name = os.path.split(path)
    return name in definition.disk.source_folders and above == root
