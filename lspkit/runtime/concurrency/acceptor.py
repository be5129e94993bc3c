"""Accepting connections, also where no descriptor is left for them."""

from __future__ import annotations

import logging
import selectors
import socket

#: The log of the services that accept connections.
log = logging.getLogger("lspkit.service")

#: Seconds before the next attempt after one that failed.
PAUSE = 0.1


class Acceptor:
    """Accepts the connections of one listener. For one thread."""

    def __init__(self, listener: socket.socket, wake: socket.socket, what: str) -> None:
        """`wake` is readable when the thread has something else to do; `what` is for the log."""
        self._listener, self._wake, self._what = listener, wake, what
        #: Why the last attempt failed; empty if it did not.
        self._problem = ""

    def accept(self) -> socket.socket | None:
        """The next connection; None if it cannot be accepted now.

        Without descriptors the listener stays ready: then this waits for a moment, so that callers
        do not become a busy loop, and the problem is logged once.
        """
        try:
            connection, _ = self._listener.accept()
        except OSError as problem:
            if str(problem) != self._problem:
                self._problem = str(problem)
                log.warning("%s could not be accepted: %s", self._what, problem)
            self._pause()
            return None
        self._problem = ""
        return connection

    def _pause(self) -> None:
        with selectors.PollSelector() as selector:  # unlike others, it needs no descriptor
            selector.register(self._wake, selectors.EVENT_READ)
            selector.select(PAUSE)
