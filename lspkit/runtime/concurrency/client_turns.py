"""Whose texts the servers are shown, where several clients share one engine.

The texts of one client, its overlays, are shown only while its own calls run. Calls of one client
run together; those of different clients take turns, in the order of their arrival. Clients without
such texts count as one, `None`: as long as nobody shows a text, nobody waits.
"""

from __future__ import annotations

import threading
from itertools import takewhile

from lspkit.runtime.concurrency.waiter import Waiter


class ClientTurn(Waiter, eq=False, kw_only=True):
    """The turn of one call; complete when it may begin."""

    #: Whose texts it sees.
    client: object = None


class ClientTurns:
    """The turns of all calls that depend on texts."""

    def __init__(self) -> None:
        #: Guards `_queue`.
        self._lock = threading.Lock()
        #: Calls that run, and then those that wait.
        self._queue: list[ClientTurn] = []
        #: Whose texts the servers are shown. Set by the first call in the queue.
        self.shown: object = None

    def join(self, client: object) -> ClientTurn:
        """Add a call. `leave` has to follow in any case."""
        turn = ClientTurn(client=client)
        with self._lock:
            self._queue.append(turn)
        self.admit()
        return turn

    def leave(self, turn: ClientTurn) -> None:
        """A call is over, or does not wait any longer."""
        with self._lock:
            self._queue.remove(turn)
        self.admit()

    def admit(self) -> None:
        """Complete the turns that may begin: the first alone if it has to show its texts first."""
        with self._lock:
            queue = self._queue
            if queue and queue[0].client is not self.shown:
                admitted = queue[:1]
            else:
                admitted = list(takewhile(lambda turn: turn.client is self.shown, queue))
        for turn in admitted:
            turn.complete()
