"""The order of calls where some show texts: who is asked after a text was shown sees it.

Each call runs in a thread of its own, and threads begin in any order. So a call waits until the
calls before it that show texts are over.
"""

from __future__ import annotations

from typing import NamedTuple

from lspkit.runtime.concurrency.broadcast import Broadcast
from lspkit.runtime.concurrency.call import Call


class TextTurn(NamedTuple):
    """The place of one call in the order."""

    #: Over when the last call before this one that shows a text is; None if there is none.
    before: Broadcast | None
    #: Over when this call is; None if it shows no text.
    own: Broadcast | None

    def begin(self, call: Call) -> None:
        """Wait until it is this call's turn."""
        if self.before is not None:
            call.wait(self.before.next())

    def end(self) -> None:
        """The call is over. May be called again."""
        if self.own is not None:
            self.own.tell(over=True)


class TextOrder:
    """The order of the calls of one caller, by when they were accepted."""

    def __init__(self) -> None:
        self._last: Broadcast | None = None

    def join(self, *, shows: bool) -> TextTurn:
        """The turn of the next call; `shows`: it shows the servers a text. `end` has to follow."""
        if not shows:
            return TextTurn(self._last, None)
        turn = TextTurn(self._last, Broadcast())
        self._last = turn.own
        return turn
