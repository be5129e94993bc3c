"""Which files a server says it is done with, for servers that say so (`ProofRule.rests_by`).

A server with several threads may say so too early: it has taken a text, and the thread that reads
what the text includes has not had its turn yet. So it must have said that it works, too, and on
this text: it began after the text was sent, or published findings about the text meanwhile.
"""

from __future__ import annotations

import msgspec

from lspkit.diagnostics.freshness_events import Rested
from lspkit.diagnostics.store import StoredReport
from lspkit.limits import MOST_REPORTED_FILES


class _FileState(msgspec.Struct):
    """What is known about the work of a server on one file."""

    #: When the last text was sent, and its version.
    sent_at: float = 0.0
    version: int = 0
    #: When it began to say that it works; None if it does not say so now.
    began: float | None = None
    rested: Rested | None = None

    def has_worked(self, push: StoredReport | None) -> bool:
        """Whether what it says it is done with is the last text; `push` is its last push."""
        if self.began is None:
            return self.version == 0
        pushed = push is not None and push.at >= self.began and (push.version or 0) >= self.version
        return self.began >= self.sent_at or pushed


class FinishedFiles:
    """The files of one server."""

    def __init__(self) -> None:
        self._states: dict[str, _FileState] = {}

    def _state(self, uri: str) -> _FileState:
        state = self._states.get(uri)
        if state is None:
            state = self._states[uri] = _FileState()
            if len(self._states) > MOST_REPORTED_FILES:
                del self._states[next(iter(self._states))]
        return state

    def sent(self, uri: str, version: int, now: float) -> None:
        """It is sent another text, or another version, of a file."""
        state = self._state(uri)
        state.sent_at, state.version = now, version
        if state.rested is not None:
            state.rested = msgspec.structs.replace(state.rested, worked=False)

    def works(self, uri: str, now: float) -> None:
        """It says that it works on a file."""
        state = self._state(uri)
        state.began = now if state.began is None else state.began
        state.rested = None

    def rests(self, uri: str, now: float, push: StoredReport | None) -> None:
        """It says that it is done with a file; `push` is its last push about it."""
        state = self._state(uri)
        if state.rested is None:
            state.rested = Rested(uri=uri, at=now, since=now, worked=state.has_worked(push))
            state.began = None
        else:
            state.rested = msgspec.structs.replace(state.rested, at=now)

    def get(self, uri: str) -> Rested | None:
        """Since when it has been done with a file; None if it is not."""
        state = self._states.get(uri)
        return None if state is None else state.rested
