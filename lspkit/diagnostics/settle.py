"""The decision whether a server has spoken about the text that a caller means.

Pure: given what was asked for (`Target`), how this source proves itself (`ProofRule`), what has
happened so far (events, in the order of time) and the time, it says that the findings are proven,
that the server is merely quiet, how long to wait and what to ask meanwhile, or that it is unknown
and why.

Only what came after the write counts, and nothing counts before the server is ready. A version
says nothing about other files: where one of them was written after the push, the server is asked
to look once more (`touch`), which gives the same text a new version. After pushes more may follow,
so the first silence long enough is waited for, but never past the deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from lspkit.diagnostics.proof import How, ProofRule

#: Seconds after a write in which a push should have come; then the server is asked to look again.
PATIENCE = 2.0


class Target(msgspec.Struct, frozen=True):
    """What a caller wants to know about."""

    uri: str
    version: int
    #: The number of the last write that the findings may depend on.
    seq: int
    deadline: float
    #: Whether it is the text that the document was opened with.
    first: bool = False


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to one server. `at` is the driver's clock."""

    at: float


class Written(Event, frozen=True):
    """A change was sent; `seq` counts them."""

    seq: int


class Saved(Event, frozen=True):
    """The server was told that a text is on disk."""

    seq: int


class Ready(Event, frozen=True):
    """Its answers can be believed from now on."""


class Pushed(Event, frozen=True):
    """Findings about a file, not asked for."""

    uri: str
    version: int | None


class Pulled(Event, frozen=True):
    """Findings about a file, asked for after the write of that number."""

    uri: str
    asked_seq: int
    kind: Literal["full", "unchanged"] = "full"


class Answered(Event, frozen=True):
    """The answer to an ordered request, asked after the write of that number."""

    tag: str
    asked_seq: int


class Began(Event, frozen=True):
    """A piece of work began."""

    token: str


class Ended(Event, frozen=True):
    """It ended."""

    token: str


class Superseded(Event, frozen=True):
    """The document has another text by now."""

    version: int


class Gone(Event, frozen=True):
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
    ask: Literal["", "pull", "ordered", "touch", "save"] = ""


class Unknown(msgspec.Struct, frozen=True):
    """It will not be known."""

    reason: str


Decision = Proven | Quiet | Wait | Unknown


def settle(
    target: Target, rule: ProofRule, events: Sequence[Event], now: float, debounce: float = 0.15
) -> Decision:
    """What the events are worth for this target."""
    since = _since(target, rule, events)
    waited = Wait(target.deadline)
    if since is not None:
        judged = _RULES[rule.how or "version"](target, rule, events, since, now, debounce)
        if not isinstance(judged, Wait):
            return judged
        waited = judged
    for event in events:
        if isinstance(event, Gone):
            return Unknown(event.reason)
        if isinstance(event, Superseded) and event.version > target.version:
            return Unknown("the text was changed meanwhile")
    if now >= target.deadline:
        return Unknown(_why(rule, since))
    return Wait(min(waited.until, target.deadline), waited.ask)


def _since(target: Target, rule: ProofRule, events: Iterable[Event]) -> float | None:
    """The moment from which on something can count; None if it has not come."""
    written = ready = saved = None
    for event in events:
        if isinstance(event, Written) and event.seq >= target.seq and written is None:
            written = event.at
        elif isinstance(event, Ready) and ready is None:
            ready = event.at
        elif isinstance(event, Saved):
            saved = event.at
    if written is None or ready is None:
        return None
    since = max(written, ready) if rule.how != "progress" else written
    return since if rule.sees == "buffer" or saved is None else max(since, saved)


def _by_pull(
    target: Target, _: ProofRule, events: Sequence[Event], since: float, __: float, ___: float
) -> Decision:
    for event in events:
        if not isinstance(event, Pulled) or event.uri != target.uri or event.at < since:
            continue
        if event.asked_seq >= target.seq:
            return Proven("pull", event.at)
    return Wait(target.deadline, "pull")


def _by_order(
    target: Target, rule: ProofRule, events: Sequence[Event], since: float, _: float, __: float
) -> Decision:
    for event in events:
        if not isinstance(event, Answered) or event.tag != rule.ask or event.at < since:
            continue
        if event.asked_seq >= target.seq:
            return Proven("ordered", event.at)
    return Wait(target.deadline, "ordered")


def _by_version(
    target: Target,
    rule: ProofRule,
    events: Sequence[Event],
    since: float,
    now: float,
    debounce: float,
) -> Decision:
    pushes = [one for one in events if isinstance(one, Pushed) and one.uri == target.uri]
    after = [one for one in pushes if one.at > since]
    spoken = [one.at for one in after if one.version is not None and one.version >= target.version]
    if spoken:
        # Where one push is all, that is so for changes; a document that is opened may get two.
        pause = 0.0 if rule.single and not target.first else _pause(rule, debounce)
        settled = _silence(spoken, pause, target, now)
        return settled if isinstance(settled, Wait) else Proven("version", settled)
    if after or any(one.version == target.version for one in pushes):
        # It has spoken, without a version, or before something else changed: let it look again.
        return Wait(target.deadline, "touch")
    if rule.patient:
        return Wait(target.deadline)
    if now >= since + PATIENCE:
        return Wait(target.deadline, "touch")
    return Wait(since + PATIENCE)


def _by_quiet(
    target: Target,
    rule: ProofRule,
    events: Sequence[Event],
    since: float,
    now: float,
    debounce: float,
) -> Decision:
    after = [
        one.at
        for one in events
        if isinstance(one, Pushed) and one.uri == target.uri and one.at > since
    ]
    if not after:
        return Wait(target.deadline)
    settled = _silence(after, _pause(rule, debounce), target, now)
    if isinstance(settled, Wait):
        return settled
    # A silence that the deadline has cut short is none.
    whole = any(at + _pause(rule, debounce) == settled for at in after)
    return Proven("quiet", settled) if rule.trusted and whole else Quiet(settled)


def _by_progress(
    target: Target,
    rule: ProofRule,
    events: Sequence[Event],
    since: float,
    now: float,
    _: float,
) -> Decision:
    began: str | None = None
    for event in events:
        if isinstance(event, Began) and event.token.startswith(rule.token) and event.at >= since:
            began = event.token
        elif isinstance(event, Ended) and event.token == began:
            return Proven("progress", event.at)
    if began is not None:
        return Wait(target.deadline)
    # A change that the server was not told of as a save starts no work.
    told = target.seq == 0 or any(isinstance(one, Saved) and one.at >= since for one in events)
    patience = since + PATIENCE if told else now
    return Wait(target.deadline, "save") if now >= patience else Wait(patience)


_RULES = {
    "pull": _by_pull,
    "ordered": _by_order,
    "version": _by_version,
    "quiet": _by_quiet,
    "progress": _by_progress,
}


def _pause(rule: ProofRule, debounce: float) -> float:
    return debounce if rule.debounce is None else rule.debounce


def _silence(times: Sequence[float], pause: float, target: Target, now: float) -> float | Wait:
    """When the first silence of that length was over, or the wait for it."""
    for at, following in zip(times, [*times[1:], float("inf")], strict=True):
        quiet_at = at + pause
        if following >= quiet_at:
            until = min(quiet_at, target.deadline)
            return until if now >= until else Wait(until)
    return Wait(target.deadline)


def _why(rule: ProofRule, since: float | None) -> str:
    if since is None:
        return "it was not ready in time"
    if rule.how == "progress":
        return f"{rule.source or rule.token} did not finish in time"
    if rule.how in ("pull", "ordered"):
        return "it did not answer in time"
    return "no report about this text came in time"
