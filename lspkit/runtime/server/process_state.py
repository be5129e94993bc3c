"""The state of one server process: what each state allows, and which event leads where.

Theory of operation. A server is NEW while the pool prepares its start. It is STARTING until it has
answered `initialize`. Then it is LOADING its project, and READY when its answers count. Some
servers load the project again, or read their configuration again: then they are RELOADING, still
answer requests, and their findings do not count.

When something changes that a server reads only once, it is OUTDATED: new calls get its successor,
and calls that have it already may still be answered by it. If that happens before it has answered
`initialize`, it is STARTING_OUTDATED first. It comes up all the same: where files keep changing,
an answer of an outdated server is better than none.

STOPPING: lspkit ends it. ENDED is for good, and `End` says how it came to that. `RIGHTS` and
`TRANSITIONS` are the complete state machine.

An event that `TRANSITIONS` does not list for a state changes nothing. That is no fault: it comes
from a thread that saw an earlier state, or from the server, which may say what it likes.
"""

from __future__ import annotations

import enum
from typing import Literal, NamedTuple

import msgspec

from lspkit.errors import LspkitError
from lspkit.servers.status import ServerState


class ProcessState(enum.Enum):
    """The state of a server process."""

    NEW = "new"
    STARTING = "starting"
    STARTING_OUTDATED = "starting, outdated"
    LOADING = "loading"
    READY = "ready"
    RELOADING = "reloading"
    OUTDATED = "outdated"
    STOPPING = "stopping"
    ENDED = "ended"


#: What changes the state.
Event = Literal["start", "initialized", "loaded", "reload", "outdated", "stop", "end"]


class Rights(NamedTuple):
    """What a state allows."""

    #: Whether new calls get the server. Otherwise they get its successor.
    takes_calls: bool
    #: Whether it is coming up: texts for it are kept until it is there.
    is_coming: bool
    #: Whether requests may be sent.
    is_up: bool
    #: Whether it has loaded its project. Of an outdated server this is not kept.
    is_loaded: bool
    #: Whether lspkit ends it, or it has ended.
    is_over: bool
    #: The state in the status of a workspace, and the word for it in errors.
    shown: ServerState
    word: str


_S, _SHOWN, _YES, _NO = ProcessState, ServerState, True, False
RIGHTS: dict[ProcessState, Rights] = {
    # takes calls, is coming, is up, is loaded, is over
    _S.NEW: Rights(_YES, _YES, _NO, _NO, _NO, _SHOWN.STARTING, "starting"),
    _S.STARTING: Rights(_YES, _YES, _NO, _NO, _NO, _SHOWN.STARTING, "starting"),
    _S.STARTING_OUTDATED: Rights(_NO, _YES, _NO, _NO, _NO, _SHOWN.STARTING, "starting"),
    _S.LOADING: Rights(_YES, _NO, _YES, _NO, _NO, _SHOWN.ACTIVE, "running"),
    _S.READY: Rights(_YES, _NO, _YES, _YES, _NO, _SHOWN.ACTIVE, "running"),
    _S.RELOADING: Rights(_YES, _NO, _YES, _YES, _NO, _SHOWN.ACTIVE, "running"),
    _S.OUTDATED: Rights(_NO, _NO, _YES, _NO, _NO, _SHOWN.ACTIVE, "running"),
    _S.STOPPING: Rights(_NO, _NO, _NO, _NO, _YES, _SHOWN.ACTIVE, "stopping"),
    _S.ENDED: Rights(_NO, _NO, _NO, _NO, _YES, _SHOWN.BROKEN, "broken"),
}

#: (state, event): the next state. Any other event changes nothing.
TRANSITIONS: dict[tuple[ProcessState, Event], ProcessState] = {
    (_S.NEW, "start"): _S.STARTING,
    (_S.STARTING, "initialized"): _S.LOADING,
    (_S.STARTING, "outdated"): _S.STARTING_OUTDATED,
    (_S.STARTING_OUTDATED, "initialized"): _S.OUTDATED,
    (_S.LOADING, "loaded"): _S.READY,
    (_S.READY, "reload"): _S.RELOADING,
    (_S.RELOADING, "loaded"): _S.READY,
    **{(state, "outdated"): _S.OUTDATED for state in (_S.LOADING, _S.READY, _S.RELOADING)},
    **{(state, "stop"): _S.STOPPING for state in _S if not RIGHTS[state].is_over},
    **{(state, "end"): _S.ENDED for state in _S if state is not _S.ENDED},
}


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How a server has ended. The rules of restarting follow from it (`pool/slot.py`)."""

    #: Why, for its callers.
    error: LspkitError
    #: Whether it has been up, and whether it has ever sent an answer or a finding.
    was_up: bool = False
    was_of_use: bool = False
    #: Whether it was ended because it blocked itself.
    blocked_itself: bool = False
    #: Whether its callers may ask again at once: another process answers then.
    may_ask_again: bool = False


class Life:
    """The state of one server process, and its end. Changed under the lock of the server."""

    def __init__(self) -> None:
        self.state = ProcessState.NEW
        #: What it allows.
        self.rights = RIGHTS[self.state]
        self.end: End | None = None

    def __repr__(self) -> str:
        return f"<Life {self.state.value}>"

    def move(self, event: Event) -> bool:
        """Take an event into account; whether it has changed the state."""
        after = TRANSITIONS.get((self.state, event))
        if after is None:
            return False
        self.state, self.rights = after, RIGHTS[after]
        return True
