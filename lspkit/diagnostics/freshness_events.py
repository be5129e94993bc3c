"""Input and output of the decision about freshness: plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from lspkit.diagnostics.proof_rule import How, ProofRule

#: What is sent to the server while its findings are awaited.
Ask = Literal["", "pull", "ordered", "touch", "save", "start", "stop"]

#: Seconds after a write without a push until the server gets a touch.
PATIENCE = 2.0
#: Seconds until a touch after a push that is not about this text. The first touch is immediate.
PAUSE = 0.5
#: Seconds after which a server that is done with a file, and did not say that it had begun, counts
#: as done: some files need no work.
BEGINS_WITHIN = 0.5
#: The reason if the document was changed before anything was proven about this text.
CHANGED = "the text was changed meanwhile"


class Target(msgspec.Struct, frozen=True):
    """The text that a caller asks about."""

    uri: str
    version: int
    #: The number of the last write that the findings may depend on.
    seq: int
    deadline: float
    #: Whether it is the text that the document was opened with.
    first: bool = False
    #: The number of touches so far. Each doubles the waiting time: a touch of a busy server is
    #: wasted, and keeps it busy.
    touched: int = 0

    @property
    def patience(self) -> float:
        """Seconds of silence until the next touch."""
        return PATIENCE * 2.0**self.touched

    @property
    def pause(self) -> float:
        """Seconds until the next touch after a push that is not about this text."""
        return PAUSE * (2.0**self.touched - 1)


class FreshnessEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to one server. `at` is a time of the driver's clock."""

    at: float


class Written(FreshnessEvent, frozen=True):
    """A change was sent; `seq` counts them."""

    seq: int


class Saved(FreshnessEvent, frozen=True):
    """The server was told that a text is on disk."""

    seq: int


class Ready(FreshnessEvent, frozen=True):
    """From now on its answers are valid."""


class Pushed(FreshnessEvent, frozen=True):
    """Findings about a file, sent by the server without a request."""

    uri: str
    version: int | None


class Pulled(FreshnessEvent, frozen=True):
    """Findings about a file, requested after the write of that number."""

    uri: str
    asked_seq: int
    kind: Literal["full", "unchanged"] = "full"


class RequestAnswered(FreshnessEvent, frozen=True):
    """The answer to an ordered request, sent after the write of that number."""

    tag: str
    asked_seq: int
    #: When it was sent.
    asked_at: float = -math.inf


class Started(FreshnessEvent, frozen=True):
    """The server was told to start a task that it starts only when told.

    Never sent while the task may be running, so the next beginning belongs to it.
    """

    token: str


class Stopped(FreshnessEvent, frozen=True):
    """The server was told to stop a task: an end after that proves nothing."""

    token: str


class Began(FreshnessEvent, frozen=True):
    """A task began (`$/progress`)."""

    token: str
    #: The title for people.
    title: str = ""


class Ended(FreshnessEvent, frozen=True):
    """A task ended."""

    token: str


class Rested(FreshnessEvent, frozen=True):
    """The server says that it is done with a file, and has not said otherwise since.

    `at` is when it last said so.
    """

    uri: str
    #: When it first said so after it had said otherwise.
    since: float
    #: Whether it has said that it works on the last text (`finished_files.py`).
    worked: bool = True


class CheckDue(FreshnessEvent, frozen=True):
    """The server has not published since it began to check the last text, or has not begun yet."""


class Superseded(FreshnessEvent, frozen=True):
    """The document was changed to this version, at that time or later."""

    version: int


class Gone(FreshnessEvent, frozen=True):
    """The server has exited."""

    reason: str


class Proven(msgspec.Struct, frozen=True):
    """The findings are proven to be those of the text."""

    how: How
    #: Since when it is proven.
    at: float


class Quiet(msgspec.Struct, frozen=True):
    """A push came, then silence; it is not known whether the push is about this text."""

    at: float


class Wait(msgspec.Struct, frozen=True):
    """Not yet: decide again at that time or after the next event, and send this meanwhile."""

    until: float
    ask: Ask = ""


class Unknown(msgspec.Struct, frozen=True):
    """It cannot be proven any more."""

    reason: str


class Case(msgspec.Struct, frozen=True):
    """What a rule decides about."""

    target: Target
    rule: ProofRule
    #: The events so far that can be about the target.
    events: Sequence[FreshnessEvent]
    #: The time from which events count.
    since: float
    now: float
    #: Seconds of silence that count, unless the rule says otherwise.
    debounce: float

    def answers(self, began: float = -math.inf) -> list[float]:
        """The times of answers to the rule's request that was sent after the target.

        And not before `began`.
        """
        answered = (event for event in self.events if isinstance(event, RequestAnswered))
        mine = (answer for answer in answered if answer.tag == self.rule.ask)
        later = (answer for answer in mine if answer.asked_at >= began)
        return [answer.at for answer in later if answer.asked_seq >= self.target.seq]

    @property
    def pause(self) -> float:
        """Seconds of silence that count."""
        return self.debounce if self.rule.debounce is None else self.rule.debounce

    def wait(self, ask: Ask = "", until: float = math.inf) -> Wait:
        """Wait until then, at the latest until the deadline."""
        return Wait(min(until, self.target.deadline), ask)


#: The result of a single rule.
Judged = Proven | Quiet | Wait
Decision = Judged | Unknown
