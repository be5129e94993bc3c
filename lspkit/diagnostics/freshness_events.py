"""What the decision about freshness goes by, and what it comes to: plain values."""

from __future__ import annotations

from typing import Literal

import msgspec

from lspkit.diagnostics.proof import How

#: Seconds after a write in which a push should have come; then the server is asked to look again.
PATIENCE = 2.0
#: The same where it has spoken, but not of this text. The first time, it is asked at once.
PAUSE = 0.5
#: What is said where the document got another text before anything was proven about this one.
CHANGED = "the text was changed meanwhile"


class Target(msgspec.Struct, frozen=True):
    """What a caller wants to know about."""

    uri: str
    version: int
    #: The number of the last write that the findings may depend on.
    seq: int
    deadline: float
    #: Whether it is the text that the document was opened with.
    first: bool = False
    #: How often the server was asked to look again already. Each time it is given twice the time:
    #: what is asked of a busy one too early is lost, and keeps it busy.
    touched: int = 0

    @property
    def patience(self) -> float:
        """Seconds of silence after which it is asked to look again."""
        return PATIENCE * 2.0**self.touched

    @property
    def pause(self) -> float:
        """The same where it has spoken, but not of this text."""
        return PAUSE * (2.0**self.touched - 1)


class FreshnessEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to one server. `at` is the driver's clock."""

    at: float


class Written(FreshnessEvent, frozen=True):
    """A change was sent; `seq` counts them."""

    seq: int


class Saved(FreshnessEvent, frozen=True):
    """The server was told that a text is on disk."""

    seq: int


class Ready(FreshnessEvent, frozen=True):
    """Its answers can be believed from now on."""


class Pushed(FreshnessEvent, frozen=True):
    """Findings about a file, not asked for."""

    uri: str
    version: int | None


class Pulled(FreshnessEvent, frozen=True):
    """Findings about a file, asked for after the write of that number."""

    uri: str
    asked_seq: int
    kind: Literal["full", "unchanged"] = "full"


class RequestAnswered(FreshnessEvent, frozen=True):
    """The answer to an ordered request, asked after the write of that number."""

    tag: str
    asked_seq: int


class Started(FreshnessEvent, frozen=True):
    """The server was told to begin with a piece of work that it begins with only when it is told.

    Never while it may still be at it: so what begins next is this.
    """

    token: str


class Stopped(FreshnessEvent, frozen=True):
    """The server was told to leave off, if it is still at it: an end after that says nothing."""

    token: str


class Began(FreshnessEvent, frozen=True):
    """A piece of work began."""

    token: str
    #: What people read.
    title: str = ""


class Ended(FreshnessEvent, frozen=True):
    """It ended."""

    token: str


class Rested(FreshnessEvent, frozen=True):
    """It says that it is done with a file, and has not begun anew since."""

    uri: str


class Superseded(FreshnessEvent, frozen=True):
    """The document has got another text, with this version, at that time or later."""

    version: int


class Gone(FreshnessEvent, frozen=True):
    """The server is no more."""

    reason: str


class Proven(msgspec.Struct, frozen=True):
    """The findings are those of the text."""

    how: How
    #: Since when that is known.
    at: float


class Quiet(msgspec.Struct, frozen=True):
    """A push came and then none; whether it spoke of this text nobody knows."""

    at: float


class Wait(msgspec.Struct, frozen=True):
    """Not yet: look again then, or when something happens; and ask this meanwhile."""

    until: float
    ask: Literal["", "pull", "ordered", "touch", "save", "start", "stop"] = ""


class Unknown(msgspec.Struct, frozen=True):
    """It will not be known."""

    reason: str


#: What a rule says by itself.
Judged = Proven | Quiet | Wait
Decision = Judged | Unknown
