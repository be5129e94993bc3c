"""Whose texts the servers are shown, where several clients share one engine.

The texts of one client, its overlays, are shown only while its own calls run. Calls of one client
run together; those of different clients take turns, in the order of their arrival. Clients without
such texts count as one, `None`: as long as nobody shows a text, nobody waits.
"""

from __future__ import annotations

import collections
import threading

from lspkit.runtime.concurrency.waiter import Waiter

#: Stands for a client while texts are being exchanged.
NOBODY = object()


class ClientTurn(Waiter, eq=False, kw_only=True):
    """The turn of one call; complete when it may begin."""

    #: Whose texts it sees.
    client: object = None
    #: Whether the call has been counted as one that runs.
    admitted: bool = False
    #: Whether it has to show the texts of its client first.
    switches: bool = False


class ClientTurns:
    """The turns of all calls that depend on texts."""

    def __init__(self) -> None:
        #: Guards the fields below.
        self._lock = threading.Lock()
        #: Whose texts the servers are shown.
        self._shown: object = None
        #: Calls that run.
        self._running = 0
        self._waiting: collections.deque[ClientTurn] = collections.deque()

    def join(self, client: object) -> ClientTurn:
        """Add a call. `leave` has to follow in any case."""
        turn = ClientTurn(client=client)
        with self._lock:
            self._waiting.append(turn)
            admitted = self._admit()
        _complete(admitted)
        return turn

    def leave(self, turn: ClientTurn) -> None:
        """A call is over, or does not wait any longer."""
        with self._lock:
            if turn.admitted:
                self._running -= 1
            else:
                self._waiting.remove(turn)
            admitted = self._admit()
        _complete(admitted)

    def note_shown(self, client: object) -> None:
        """The servers have been shown the texts of a client, whose calls may run now."""
        with self._lock:
            self._shown = client
            admitted = self._admit()
        _complete(admitted)

    def _admit(self) -> list[ClientTurn]:
        """The calls that may begin now. Called with the lock."""
        admitted: list[ClientTurn] = []
        waiting = self._waiting
        while waiting and (waiting[0].client is self._shown or not self._running):
            turn = waiting.popleft()
            if turn.client is not self._shown:
                self._shown, turn.switches = NOBODY, True
            turn.admitted = True
            self._running += 1
            admitted.append(turn)
        return admitted


def _complete(admitted: list[ClientTurn]) -> None:
    for turn in admitted:
        turn.complete()
