"""Whether a server knows its whole project. Pure: the caller reports events and the time."""

from __future__ import annotations

from collections.abc import Iterable

from lspkit.servers.adapters.adapter import BackgroundIndex


class IndexState:
    """The index of one server process."""

    def __init__(self, index: BackgroundIndex | None) -> None:
        #: The title of the work that builds it; empty if the server does not report that.
        self._title = index.title if index is not None else ""
        #: Tokens of the work that builds it, and when this work began, by the monotonic clock.
        self._work: set[str | int] = set()
        self.began_at: float | None = None
        #: When the first request waited for it.
        self.wanted_at: float | None = None
        #: Whether a silent server was idle once, so that its index is built.
        self.rested = False
        #: Files that have changed on disk and are not in the index.
        self._changed: dict[str, None] = {}
        #: Whether the projects were loaded, as far as possible; how many there are, and how many
        #: could not be loaded.
        self.projects_loaded = False
        #: A document of each loaded project, by the configuration.
        self.documents: dict[str, str] = {}
        self.projects_found = self.projects_left = 0

    @property
    def is_building(self) -> bool:
        """Whether the work is in progress."""
        return bool(self._work)

    @property
    def was_begun(self) -> bool:
        """Whether the work has begun at least once."""
        return self.began_at is not None

    def began(self, token: str | int, title: str, now: float) -> None:
        """A piece of work began."""
        if self._title and title == self._title:
            if not self._work:
                self.began_at = now
            self._work.add(token)

    def ended(self, token: str | int) -> None:
        """It ended."""
        self._work.discard(token)

    def changed(self, paths: Iterable[str]) -> None:
        """Files have changed on disk."""
        if self._title:
            self._changed.update(dict.fromkeys(paths))

    def take_changed(self, most: int) -> tuple[list[str], int]:
        """Remove and return some of these files; and how many are left."""
        taken = list(self._changed)[:most]
        for path in taken:
            del self._changed[path]
        return taken, len(self._changed)

    def wanted(self, now: float) -> float:
        """Since when requests wait for it."""
        if self.wanted_at is None:
            self.wanted_at = now
        return self.wanted_at
