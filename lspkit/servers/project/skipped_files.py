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
from lspkit.protocol.globs import compile_glob
from lspkit.regular_files import read_regular_text
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.selection.roots import has_marker, upwards
from lspkit.workspace_boundary import folders_above, is_inside, work_tree

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
    return re.compile(
        "|".join(fnmatch.translate(pattern.rpartition("/")[2]) for pattern in patterns)
    )


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
    known = next((row for row in BUILT_IN if row.id == definition.id), definition)
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
        fitting = [rule for rule in rules if (number or not rule.folders_only) and rule.fits(part)]
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
    text = read_regular_text(file, LARGEST_IGNORE_FILE + 1)
    if len(text) > LARGEST_IGNORE_FILE or text.count("\n") > MOST_IGNORE_RULES:
        return None
    return read_rules(text)


# Which files of a folder git ignores: `.gitignore` in each folder, and `.git/info/exclude`.
#
# The file nearest to a path has the first say, and in one file the last pattern that fits. A folder
# that is ignored is not entered, so nothing inside it can be taken back. The rules end at the
# folder with `.git`: a repository inside another one has its own. Nothing of git is run, and the
# time of a match is bounded, since the patterns may be anybody's.

#: The name of an ignore file, and of the file with rules that are not shared.
IGNORE_FILE, OWN_RULES = ".gitignore", os.path.join(".git", "info", "exclude")


class GitIgnore:
    """What git ignores in a folder that is walked, which is a real path.

    A folder that is ignored itself is walked all the same if it was named: the rules above it do
    not count then.
    """

    def __init__(self, folder: str) -> None:
        #: The rules in each folder, None if they may ignore everything.
        self._rules: dict[str, list[Rule] | None] = {}
        #: The folders above which no rule counts.
        self._ends: set[str] = set()
        self._top = work_tree(folder)
        above = folder
        while above != self._top:
            if self.ignores(above, is_folder=True):
                self._top = folder
                break
            above = os.path.dirname(above)

    @property
    def is_work_tree(self) -> bool:
        """Whether the folder is in a work tree of git."""
        return os.path.exists(os.path.join(self._top, ".git"))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file or folder is ignored. The folders above it are not."""
        folder = os.path.dirname(path)
        while is_inside(folder, self._top):
            rules = self._rules_in(folder)
            if rules is None:
                return True
            if rules:
                relative = path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")
                fitting = [rule for rule in rules if is_folder or not rule.folders_only]
                last = next((rule for rule in reversed(fitting) if rule.fits(relative)), None)
                if last is not None:
                    return not last.takes_back
            if folder in self._ends:
                break
            folder = os.path.dirname(folder)
        return False

    def _rules_in(self, folder: str) -> list[Rule] | None:
        if folder not in self._rules:
            own, shared = (
                rules_of(os.path.join(folder, name)) for name in (OWN_RULES, IGNORE_FILE)
            )
            self._rules[folder] = None if own is None or shared is None else [*own, *shared]
            if folder == self._top or os.path.exists(os.path.join(folder, ".git")):
                self._ends.add(folder)
        return self._rules[folder]
