"""Which servers files have, as far as a pool knows."""

from __future__ import annotations

import os

import msgspec

from lspkit.config import Config
from lspkit.errors import LspkitError
from lspkit.runtime.server.server import Server
from lspkit.servers.selection.choose import Kinds

#: So many files are never too many to be remembered.
MANY = 10_000


class Assignment(msgspec.Struct, frozen=True):
    """Which servers a file has: taken for granted until then, or, if one is missing, until `PATH`
    is another.
    """

    until: float
    path_variable: str
    servers: list[Server]
    failures: list[LspkitError]

    def holds(self, now: float) -> bool:
        """Whether it is still to be taken for granted."""
        return (
            now < self.until
            and all(one.usable for one in self.servers)
            and (not self.failures or os.environ.get("PATH", "") == self.path_variable)
        )

    def admits(self, path: str) -> bool:
        """Whether it may be taken for a file of the same kind, too."""
        return all(one.channel.admits(path) for one in self.servers)


class AssignmentCache:
    """What is known of each file, and of others of its kind. Changed under the pool's lock."""

    def __init__(self, config: Config) -> None:
        self._kinds = Kinds(config)
        #: By path, and by kind of file.
        self._known: dict[str | tuple[str, str], Assignment] = {}
        #: Counts how often servers had to be chosen anew.
        self.turnover = 0

    def get(self, path: str) -> Assignment | None:
        """What is known of a file; perhaps it no longer holds. Needs no lock."""
        return self._known.get(path)

    def like_another(self, path: str, now: float) -> Assignment | None:
        """What is known of a file of the same kind, if that still holds; now also of this one."""
        known = self._known.get(self._kinds.kind_of(path))
        if known is None or not known.holds(now):
            return None
        self._remember(path, known)
        return known

    def keep(self, path: str, serving: Assignment, turnover: int) -> None:
        """Remember what was found out since that turnover, unless there was another."""
        if self.turnover == turnover:
            self._remember(path, serving)
            self._known[self._kinds.kind_of(path)] = serving

    def _remember(self, path: str, serving: Assignment) -> None:
        if len(self._known) > MANY:
            self._known.clear()
        self._known[path] = serving

    def choose_again(self, config: Config | None = None) -> None:
        """A server leaves, or something has changed that they are chosen by, perhaps the
        configuration: what is being found out now does not count.
        """
        self._known.clear()
        self.turnover += 1
        if config is not None:
            self._kinds = Kinds(config)
