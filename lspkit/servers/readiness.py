"""When a server that has just started can be believed. Pure: the driver tells it what happens.

Many servers answer before they know the project: with nothing, or with something else. How one can
tell is in their definitions.
"""

from __future__ import annotations

from typing import Any

from lspkit.protocol.server_signal import LOG_MESSAGE
from lspkit.servers.definition_parts import Readiness


class Loading:
    """The signs that one server process has given so far."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        #: Whether it knows its project.
        self.done = readiness.load_begins_within is None
        #: Seconds after which one that has begun with nothing has nothing to do.
        self.begins_within = readiness.load_begins_within or 0.0
        #: Whether it is loading it once more: questions are answered, but findings are of before.
        self.again = False
        #: Whether it gives the sign of its own that its definition names.
        self._gives_sign = False
        self._work_ended = False

    def work_ended(self) -> None:
        """A piece of work that it reports on has ended."""
        self._work_ended = True

    def notified(self, method: str, params: Any) -> None:
        """It has sent a notification that the protocol does not know."""
        sign, lost = self._readiness.ready_by, self._readiness.unready_by
        if lost is not None and lost.fits(method, params):
            self.again = self.done
        if sign is None or method != sign.method:
            return
        # A log line that is none may be the only kind there is.
        self._gives_sign = method != LOG_MESSAGE
        if sign.fits(method, params):
            self.done, self.again = True, False

    def look(self, *, busy: bool, late: bool) -> bool:
        """Whether it can be believed by now. `late`: the time to begin with anything is over.

        A server with a sign of its own is waited for until it gives it, once it has given any;
        for the others the end of their work counts, or that they never began.
        """
        if not self.done and not self._gives_sign and not busy:
            self.done = late or (self._work_ended and self._readiness.ready_by is None)
        return self.done
