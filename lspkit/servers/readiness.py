"""When the answers of a server that has just started count. Pure: the caller reports events.

Many servers answer before they have loaded the project: with nothing, or with something else. Their
definitions say how to notice.
"""

from __future__ import annotations

from typing import Any, Literal

from lspkit.protocol.server_signal import LOG_MESSAGE
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
