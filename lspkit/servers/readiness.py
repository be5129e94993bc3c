"""When the answers of a server that has just started count. Pure: the caller reports events.

Many servers answer before they have loaded the project: with nothing, or with something else. Their
definitions say how to notice.
"""

from __future__ import annotations

from typing import Any

from lspkit.protocol.server_signal import LOG_MESSAGE
from lspkit.servers.definition_parts import Readiness


class Loading:
    """The loading state of one server process."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        #: Whether it has loaded its project.
        self.done = readiness.load_begins_within is None
        #: Seconds after which a server that has started no work has none to do.
        self.begins_within = readiness.load_begins_within or 0.0
        #: Whether it is loading again: it answers requests, but its findings are outdated.
        self.again = False
        #: Whether it sends the signal that its definition names.
        self._gives_sign = False
        self._work_ended = False

    def work_ended(self) -> None:
        """A piece of work that it reports has ended."""
        self._work_ended = True

    def notified(self, method: str, params: Any) -> None:
        """It has sent a notification that is not part of the protocol."""
        sign, lost = self._readiness.ready_by, self._readiness.unready_by
        if lost is not None and lost.fits(method, params):
            self.again = self.done
        if sign is None or method != sign.method:
            return
        # A server that logs may never log the signal.
        self._gives_sign = method != LOG_MESSAGE
        if sign.fits(method, params):
            self.done, self.again = True, False

    def look(self, *, busy: bool, late: bool) -> bool:
        """Whether its answers count by now. `late`: the time to start any work is over.

        A server that has sent its signal's method is waited for until the signal fits; for others
        the end of their work counts, or that they started none.
        """
        if not self.done and not self._gives_sign and not busy:
            self.done = late or (self._work_ended and self._readiness.ready_by is None)
        return self.done
