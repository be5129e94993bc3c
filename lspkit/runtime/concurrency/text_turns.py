"""The order of calls where some show texts: whoever asks after a text was shown sees it.

`TextOrder` is that of the calls of one caller. Each runs in a thread of its own, and threads begin
in any order. So a call waits until the calls before it that show texts are over.

`ClientTurns` is for several clients that share one engine. The texts of one client, its overlays,
are shown only while its own calls run. Calls of one client run together; those of different clients
take turns, in the order of their arrival. Clients without such texts count as one, `None`: as long
as nobody shows a text, nobody waits.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import submit_to
from lspkit.runtime.concurrency.threads import ThreadCache
from lspkit.runtime.concurrency.waiter import Broadcast, Waiter

T = TypeVar("T")
#: Stands for a client while texts are being exchanged.
NOBODY = object()


class TextTurn:
    """The place of one call in the order."""

    def __init__(self) -> None:
        #: That of the last call before this one that shows a text; None if none has to be awaited.
        self.before: TextTurn | None = None
        self._news = Broadcast()

    def begin(self, call: Call) -> None:
        """Wait until it is this call's turn."""
        while self.before is not None and call.wait(self.before._news.next()):
            # One that was cancelled is over, and perhaps those before it are not.
            self.before = self.before.before

    def end(self) -> None:
        """The call is over. May be called again."""
        self._news.tell(over=True)


class TextOrder:
    """The order of the calls of one caller, by when they were accepted."""

    def __init__(self) -> None:
        self._last: TextTurn | None = None

    def join(self, turn: TextTurn, *, shows: bool) -> None:
        """Add the next call; `shows`: it shows the servers a text. `end` has to follow."""
        turn.before, self._last = self._last, turn if shows else self._last

    def submit(
        self, threads: ThreadCache, job: Callable[[], T], call: Call, *, shows: bool
    ) -> Future[T]:
        """Carry out the next call in a thread of its own."""
        turn = TextTurn()

        def run() -> T:
            turn.begin(call)
            return job()

        try:
            self.join(turn, shows=shows)
            return submit_to(threads, run, turn.end)
        except BaseException:
            turn.end()  # interrupted, perhaps before there is a job that ends it
            raise


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
