"""Which files of a folder git ignores: `.gitignore` in each folder, and `.git/info/exclude`.

The file nearest to a path has the first say, and in one file the last pattern that fits. A folder
that is ignored is not entered, so nothing inside it can be taken back. The rules end at the
folder with `.git`: a repository inside another one has its own. Nothing of git is run, and the
time of a match is bounded, since the patterns may be anybody's.
"""

from __future__ import annotations

import os

from lspkit.servers.project.skipped_files import Rule, rules_of
from lspkit.workspace_boundary import is_inside, work_tree

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
            own, shared = (rules_of(os.path.join(folder, one)) for one in (OWN_RULES, IGNORE_FILE))
            self._rules[folder] = None if own is None or shared is None else [*own, *shared]
            if folder == self._top or os.path.exists(os.path.join(folder, ".git")):
                self._ends.add(folder)
        return self._rules[folder]
