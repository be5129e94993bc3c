"""The decision whether a server has spoken about the text that a caller means.

Pure: given what was asked for (`Target`), how this source proves itself (`ProofRule`), what has
happened so far (events, in the order of time) and the time, it says that the findings are proven,
that the server is merely quiet, how long to wait and what to ask meanwhile, or that it is unknown
and why.

Only what came after the write counts, and nothing counts before the server is ready. Nor does what
came when the document had another text already: it may be about that one, unless it carries the
version of this one. A version says nothing about other files: where one of them was written after
the push, the server is asked to look once more (`touch`), which gives the same text a new version.
After pushes more may follow, so the first silence long enough is waited for, but never past the
deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lspkit.diagnostics.freshness_events import (
    CHANGED,
    PATIENCE,
    Began,
    Decision,
    Ended,
    FreshnessEvent,
    Gone,
    Judged,
    Proven,
    Pulled,
    Pushed,
    Quiet,
    Ready,
    RequestAnswered,
    Rested,
    Saved,
    Started,
    Stopped,
    Superseded,
    Target,
    Unknown,
    Wait,
    Written,
)
from lspkit.diagnostics.progress_proof import by_progress, idle_since, looked_since
from lspkit.diagnostics.proof import ProofRule

__all__ = [
    "CHANGED",
    "PATIENCE",
    "Began",
    "Decision",
    "Ended",
    "FreshnessEvent",
    "Gone",
    "Judged",
    "Proven",
    "Pulled",
    "Pushed",
    "Quiet",
    "Ready",
    "RequestAnswered",
    "Rested",
    "Saved",
    "Started",
    "Stopped",
    "Superseded",
    "Target",
    "Unknown",
    "Wait",
    "Written",
    "settle",
]


def settle(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    now: float,
    debounce: float = 0.15,
) -> Decision:
    """What the events are worth for this target."""
    since = _since(target, rule, events)
    moved = _superseding_text(target, events)
    waited = Wait(target.deadline)
    if since is not None:
        events_of_it = (
            events if moved is None else [one for one in events if _concerns_target(one, moved)]
        )
        judged = _RULES[rule.how or "version"](target, rule, events_of_it, since, now, debounce)
        if isinstance(judged, Wait):
            waited = judged
        elif moved is None or rule.how in (None, "version") or judged.at < moved.at:
            return judged
    for event in events:
        if isinstance(event, Gone):
            return Unknown(event.reason)
    if moved is not None:
        return Unknown(CHANGED)
    if now >= target.deadline:
        return Unknown(_why(rule, since))
    return Wait(min(waited.until, target.deadline), waited.ask)


def _superseding_text(target: Target, events: Iterable[FreshnessEvent]) -> Superseded | None:
    """The first text after the one that is meant."""
    later = (one for one in events if isinstance(one, Superseded) and one.version > target.version)
    return min(later, key=lambda one: one.version, default=None)


def _concerns_target(event: FreshnessEvent, moved: Superseded) -> bool:
    """Whether something cannot be about the text that came after the one that is meant."""
    if isinstance(event, Pushed) and event.version is not None:
        return event.version < moved.version
    return isinstance(event, Written | Saved | Ready) or event.at < moved.at


def _since(target: Target, rule: ProofRule, events: Iterable[FreshnessEvent]) -> float | None:
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
    # Work that begins when the project is loaded may be what makes the server ready.
    since = max(written, ready) if rule.how != "progress" or rule.start else written
    return since if rule.sees == "buffer" or saved is None else max(since, saved)


def _by_pull(
    target: Target,
    _: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    __: float,
    ___: float,
) -> Judged:
    for event in events:
        if not isinstance(event, Pulled) or event.uri != target.uri or event.at < since:
            continue
        if event.asked_seq >= target.seq:
            return Proven("pull", event.at)
    return Wait(target.deadline, "pull")


def _by_order(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    _: float,
    __: float,
) -> Judged:
    for at in _answers(target, rule, events):
        if at >= since:
            return Proven("ordered", at)
    return Wait(target.deadline, "ordered")


def _answers(target: Target, rule: ProofRule, events: Sequence[FreshnessEvent]) -> list[float]:
    """When the rule's own question was answered, asked after the target was written."""
    return [
        one.at
        for one in events
        if isinstance(one, RequestAnswered) and one.tag == rule.ask and one.asked_seq >= target.seq
    ]


def _by_version(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    now: float,
    debounce: float,
) -> Judged:
    kinds = _OF_VERSION | Started | Began | Ended if rule.token else _OF_VERSION
    heard = sorted((one for one in events if isinstance(one, kinds)), key=lambda one: one.at)
    # What was proven before something else was heard stays so.
    for index, following in enumerate(heard):
        at = min(now, following.at)
        judged = _by_version_so_far(target, rule, heard[:index], since, at, debounce)
        if isinstance(judged, Proven):
            return judged
    return _by_version_so_far(target, rule, heard, since, now, debounce)


def _by_version_so_far(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    now: float,
    debounce: float,
) -> Judged:
    pushes = [one for one in events if isinstance(one, Pushed) and one.uri == target.uri]
    after = [one for one in pushes if one.at > since]
    spoken = [one.at for one in after if one.version is not None and one.version >= target.version]
    rested = [one.at for one in events if isinstance(one, Rested) and one.uri == target.uri]
    looked = looked_since(rule, events, since) if rule.token else None
    if looked is not None and spoken and spoken[-1] >= looked + _pause(rule, debounce):
        # Others may go on to change files, and it to look at these; it has seen what it had to.
        return Proven("version", spoken[-1])
    idle = idle_since(rule, events) if rule.token else since
    if idle is None or (spoken and rule.rests_by and not any(at >= spoken[-1] for at in rested)):
        return Wait(target.deadline)
    answers = _answers(target, rule, events) if rule.ask else [since]
    if spoken and rule.ask and not any(at >= spoken[-1] for at in answers):
        return Wait(target.deadline, "ordered")
    if spoken:
        # Where one push is all, that is so for changes; a document that is opened may get two.
        pause = 0.0 if rule.single and not target.first else _pause(rule, debounce)
        start = max(spoken[0], idle, answers[-1])
        settled = _silence([start, *(at for at in spoken if at > start)], pause, target, now)
        return settled if isinstance(settled, Wait) else Proven("version", settled)
    # While it still speaks of older versions it has not come to this one.
    silent = max([since, *(one.at for one in after)])
    named = any(one.version == target.version for one in pushes)
    if named or any(one.version is None for one in after):
        # It has spoken, without a version, or before something else changed: let it look again.
        again = silent + target.pause
    elif rule.rests_by:
        return Wait(target.deadline)
    else:
        # Made to look again, it may leave it at what it has said of an older version.
        again = silent + (target.pause if after and target.touched else target.patience)
    return Wait(target.deadline, "touch") if now >= again else Wait(again)


def _by_quiet(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    now: float,
    debounce: float,
) -> Judged:
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


#: What decides whether a push is a proof, besides the work of the server where that matters.
_OF_VERSION = Pushed | Rested | RequestAnswered

_RULES = {
    "pull": _by_pull,
    "ordered": _by_order,
    "version": _by_version,
    "quiet": _by_quiet,
    "progress": by_progress,
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
    if rule.token:
        return f"{rule.source or rule.token} did not finish in time"
    if rule.how in ("pull", "ordered"):
        return "it did not answer in time"
    return "no report about this text came in time"
