"""When the answers of a server that has just started count. Pure: the caller reports events.

Many servers answer before they have loaded the project: with nothing, or with something else. Their
definitions say how to notice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from lspkit.protocol.events import LOG_MESSAGE
from lspkit.servers.adapters.adapter import BackgroundIndex
from lspkit.servers.definition_parts import Readiness


class Loading:
    """What one server process has reported about loading its project."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        #: Seconds after which a server that has started no work has none to do.
        self.begins_within = readiness.load_begins_within or 0.0
        #: Whether it sends the signal that its definition names, and whether that has come.
        self._gives_sign = self._has_sign = False
        self._work_ended = False

    def end_work(self) -> None:
        """A piece of work that it reports has ended."""
        self._work_ended = True

    def notified(self, method: str, params: Any) -> Literal["", "loaded", "reload"]:
        """It has sent a notification that is not part of the protocol. Returns what that means."""
        sign, reload = self._readiness.ready_by, self._readiness.unready_by
        if sign is not None and method == sign.method:
            # A server that logs may never log the signal.
            self._gives_sign = method != LOG_MESSAGE
        if reload is not None and reload.fits(method, params):
            self._has_sign = False
            return "reload"
        if sign is None or not sign.fits(method, params):
            return ""
        self._has_sign = True
        return "loaded"

    def is_over(self, *, busy: bool, late: bool) -> bool:
        """Whether it has loaded the project. `late`: the time to start any work is over.

        A server that has sent its signal's method is waited for until the signal fits; for others
        the end of their work counts, or that they started none.
        """
        if self._has_sign or self._readiness.load_begins_within is None:
            return True
        ended = self._work_ended and self._readiness.ready_by is None
        return not self._gives_sign and not busy and (late or ended)


# Whether a server knows its whole project. Pure: the caller reports events and the time.


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
