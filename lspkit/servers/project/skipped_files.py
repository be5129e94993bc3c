"""Files that a server does not check because of their folder, or because an ignore file names them.

It reads such a file when it is open, answers requests about it, and always reports an empty list.
Its definition names these folders and ignore files. What the project's configuration excludes or
includes besides is not considered: that is the project's decision.

Patterns of ignore files are git's. In one file the last pattern that fits counts, first for the
path itself and then for the folders above it. One file does not undo what another one ignores. A
file that is too large to be read may ignore everything, so everything counts as ignored by it.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Callable, Iterator

from lspkit.limits import LARGEST_IGNORE_FILE, MOST_IGNORE_RULES
from lspkit.protocol.watching.globs import compile_glob
from lspkit.regular_files import open_regular
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.selection.roots import has_marker, upwards
from lspkit.workspace_boundary import folders_above

#: Characters that are escaped, or special in globs but not in git's patterns.
_ODD = re.compile(r"\\.|[{}]")


def passed_over(path: str, definition: Definition, root: str, workspace: str) -> str:
    """The name of the folder because of which it skips the file; empty if it checks it.

    All are real paths; the root is the server's.
    """
    patterns = definition.caveats.skipped_folders
    # Most paths contain no such name, and this is called for each empty list.
    if not patterns or not any(map(_any_of(patterns).fullmatch, path.split(os.sep))):
        return ""
    for folder in folders_above(path):
        name = os.path.basename(folder)
        for pattern in patterns:
            reach, slash, wanted = pattern.rpartition("/")
            if fnmatch.fnmatchcase(name, wanted) and _reaches(
                reach + slash, folder, definition, root, workspace
            ):
                return name
    return ""


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that fits every name that one of these fits, without folders."""
    return re.compile("|".join(fnmatch.translate(one.rpartition("/")[2]) for one in patterns))


def _reaches(reach: str, folder: str, definition: Definition, root: str, workspace: str) -> bool:
    """Whether a folder lies where this pattern applies."""
    parent = os.path.dirname(folder)
    match reach:
        case "**/":
            return True
        case "./":
            return any(upwards(folder, root))
        case "/":
            return parent == workspace or has_marker(parent, _markers(definition))
    # Servers look for their project upwards, beyond the workspace.
    return any(upwards(folder, workspace)) or any(
        has_marker(above, _markers(definition)) for above in folders_above(folder)
    )


def _markers(definition: Definition) -> tuple[str, ...]:
    """The markers by which the server itself finds its project, without configured roots."""
    known = next((one for one in BUILT_IN if one.id == definition.id), definition)
    return known.roots.markers


def ignoring(path: str, names: tuple[str, ...], root: str) -> str:
    """The name of the file that ignores a path; empty if there is none.

    All are real paths. Only files with these names count, in the root or below it.
    """
    for folder in upwards(path, root):
        for name in names:
            rules = rules_of(os.path.join(folder, name))
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            if rules is None or is_ignored(relative, rules):
                return name
    return ""


class Rule:
    """One line of an ignore file."""

    def __init__(self, line: str) -> None:
        self.takes_back = line.startswith("!")
        pattern = line.removeprefix("!")
        self.folders_only = pattern.endswith("/")
        pattern = pattern.rstrip("/")
        # A slash anchors it to the folder of the file; without one it fits at any depth.
        tied = "/" in pattern
        if pattern.endswith("/**"):
            pattern += "/*"  # all that is inside, and not the folder itself
        # They fit any character.
        pattern = _ODD.sub("?", pattern.removeprefix("/"))
        self.fits: Callable[[str], bool] = compile_glob(pattern if tied else f"**/{pattern}")


def read_rules(text: str) -> list[Rule]:
    """The rules in the text of an ignore file."""
    lines = (line.rstrip() for line in text.splitlines())
    kept = (line for line in lines if line.strip("!/") and not line.startswith("#"))
    return [Rule(line) for line in kept]


def is_ignored(path: str, rules: list[Rule]) -> bool:
    """Whether a path, with slashes and relative to the file's folder, is ignored."""
    for number, part in enumerate(_itself_and_above(path)):
        fitting = [one for one in rules if (number or not one.folders_only) and one.fits(part)]
        if fitting:
            return not fitting[-1].takes_back
    return False


def _itself_and_above(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def rules_of(file: str) -> list[Rule] | None:
    """The rules of an ignore file, none if there is no such file; None if there are too many."""
    try:
        stat = os.stat(file)
    except OSError:
        return []
    return _rules(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@functools.lru_cache(256)
def _rules(file: str, *_: int) -> list[Rule] | None:
    """The rules, cached by the numbers, which stand for the file's state; None: too many."""
    try:
        with open(file, encoding="utf-8", errors="replace", opener=open_regular) as stream:
            text = stream.read(LARGEST_IGNORE_FILE + 1)
    except OSError:
        return []
    if len(text) > LARGEST_IGNORE_FILE or text.count("\n") > MOST_IGNORE_RULES:
        return None
    return read_rules(text)
