"""Which servers a file has, as far as a pool knows."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from lspkit.config import Config
from lspkit.errors import LspkitError
from lspkit.runtime.server.server import Server
from lspkit.servers.selection.choose import Kinds

#: Up to this many files are always remembered.
MANY = 10_000


class Assignment(msgspec.Struct, frozen=True):
    """The servers of a file: valid until a time, and, if one is missing, until `PATH` changes."""

    until: float
    path_variable: str
    servers: list[Server]
    failures: list[LspkitError]

    def holds(self, now: float, environ: Mapping[str, str] = os.environ) -> bool:
        """Whether it is still valid."""
        for one in self.servers:
            if not one.takes_calls:
                return False
        is_current = not self.failures or environ.get("PATH", "") == self.path_variable
        return is_current and now < self.until

    def admits(self, path: str) -> bool:
        """Whether it is also valid for this file of the same kind."""
        for one in self.servers:  # noqa: SIM110 (quicker than a generator, before every request)
            if not one.channel.admits(path):
                return False
        return True


class AssignmentCache:
    """Assignments by file and by kind of file. Changed under the pool's lock."""

    def __init__(self, config: Config, environ: Mapping[str, str] = os.environ) -> None:
        self._kinds = Kinds(config)
        self._environ = environ
        #: By path, and by kind of file. They may no longer be valid. Readers need no lock.
        self.known: dict[str | tuple[str, str], Assignment] = {}
        #: How often servers had to be chosen again.
        self.turnover = 0

    def like_another(self, path: str, now: float) -> Assignment | None:
        """A valid assignment of a file of the same kind; it is kept for this file, too."""
        known = self.known.get(self._kinds.kind_of(path))
        if known is None or not known.holds(now, self._environ):
            return None
        self._remember(path, known)
        return known

    def keep(self, path: str, serving: Assignment, turnover: int) -> None:
        """Keep an assignment that was found at this turnover, unless that has changed since."""
        if self.turnover == turnover:
            self._remember(path, serving)
            self.known[self._kinds.kind_of(path)] = serving

    def _remember(self, path: str, serving: Assignment) -> None:
        if len(self.known) > MANY:
            self.known.clear()
        self.known[path] = serving

    def choose_again(self, config: Config | None = None) -> None:
        """A server leaves, or an input of the choice has changed, perhaps the configuration:
        assignments that are being found now do not count.
        """
        self.known.clear()
        self.turnover += 1
        if config is not None:
            self._kinds = Kinds(config)
