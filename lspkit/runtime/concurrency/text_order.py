"""The order of calls where some show texts: who is asked after a text was shown sees it.

Each call runs in a thread of its own, and threads begin in any order. So a call waits until the
calls before it that show texts are over.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.call import Call
from lspkit.runtime.concurrency.parallel import submit_to
from lspkit.runtime.concurrency.thread_cache import ThreadCache

T = TypeVar("T")


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
