"""The decision whether a server's findings are those of the text that a caller means.

Pure: from the text (`Target`), the rule of the source (`ProofRule`), the events so far in order of
time, and the time, it decides that the findings are proven, that the server is merely quiet, how
long to wait and what to send meanwhile, or that it cannot be known and why.

Only events after the write count, and none before the server is ready. Events after a later change
of the document do not count either, unless they carry the version of this text. A version proves
nothing about other files: if one of them was written after the push, the server gets a `touch`,
which gives the same text a new version. Further pushes may follow a push, so the first sufficient
silence is awaited, but not beyond the deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lspkit.diagnostics.freshness_events import (
    CHANGED,
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
    Superseded,
    Target,
    Unknown,
    Wait,
    Written,
)
from lspkit.diagnostics.progress_proof import idle_since, looked_since, proof_by_progress
from lspkit.diagnostics.proof_rule import ProofRule


def settle(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    now: float,
    debounce: float = 0.15,
) -> Decision:
    """Decide for this target."""
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
    """The first change of the document after the target."""
    later = (one for one in events if isinstance(one, Superseded) and one.version > target.version)
    return min(later, key=lambda one: one.version, default=None)


def _concerns_target(event: FreshnessEvent, moved: Superseded) -> bool:
    """Whether an event cannot be about the later text."""
    if isinstance(event, Pushed) and event.version is not None:
        return event.version < moved.version
    return isinstance(event, Written | Saved | Ready) or event.at < moved.at


def _since(target: Target, rule: ProofRule, events: Iterable[FreshnessEvent]) -> float | None:
    """The time from which events count; None if it has not come."""
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
    # The task that begins when the project is loaded may be what makes the server ready.
    since = max(written, ready) if rule.how != "progress" or rule.start else written
    return since if rule.sees == "buffer" or saved is None else max(since, saved)


def _proof_by_pull(
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


def _proof_by_order(
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
    """The times of answers to the rule's request that was sent after the target."""
    return [
        one.at
        for one in events
        if isinstance(one, RequestAnswered) and one.tag == rule.ask and one.asked_seq >= target.seq
    ]


def _proof_by_version(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    now: float,
    debounce: float,
) -> Judged:
    kinds = _OF_VERSION | Started | Began | Ended if rule.token else _OF_VERSION
    heard = sorted((one for one in events if isinstance(one, kinds)), key=lambda one: one.at)
    # A proof stays valid after later events.
    for index, following in enumerate(heard):
        at = min(now, following.at)
        judged = _proof_by_version_so_far(target, rule, heard[:index], since, at, debounce)
        if isinstance(judged, Proven):
            return judged
    return _proof_by_version_so_far(target, rule, heard, since, now, debounce)


def _proof_by_version_so_far(
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
        # Other files may change meanwhile; the server has read the relevant changes.
        return Proven("version", spoken[-1])
    idle = idle_since(rule, events) if rule.token else since
    if idle is None or (spoken and rule.rests_by and not any(at >= spoken[-1] for at in rested)):
        return Wait(target.deadline)
    answers = _answers(target, rule, events) if rule.ask else [since]
    if spoken and rule.ask and not any(at >= spoken[-1] for at in answers):
        return Wait(target.deadline, "ordered")
    if spoken:
        # `single` holds for changes; a document that is opened may get two pushes.
        pause = 0.0 if rule.single and not target.first else _pause(rule, debounce)
        start = max(spoken[0], idle, answers[-1])
        settled = _silence([start, *(at for at in spoken if at > start)], pause, target, now)
        return settled if isinstance(settled, Wait) else Proven("version", settled)
    # While it still publishes older versions, it has not processed this one.
    silent = max([since, *(one.at for one in after)])
    named = any(one.version == target.version for one in pushes)
    if named or any(one.version is None for one in after):
        # There was a push without a version, or before another change: touch the document.
        again = silent + target.pause
    elif rule.rests_by:
        return Wait(target.deadline)
    else:
        # After a touch, the server may not repeat findings that it published for an older version.
        again = silent + (target.pause if after and target.touched else target.patience)
    return Wait(target.deadline, "touch") if now >= again else Wait(again)


def _proof_by_quiet(
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
    # A silence that the deadline has shortened is not a proof.
    whole = any(at + _pause(rule, debounce) == settled for at in after)
    return Proven("quiet", settled) if rule.trusted and whole else Quiet(settled)


#: The events that decide about a push, besides the server's task if the rule has one.
_OF_VERSION = Pushed | Rested | RequestAnswered

_RULES = {
    "pull": _proof_by_pull,
    "ordered": _proof_by_order,
    "version": _proof_by_version,
    "quiet": _proof_by_quiet,
    "progress": proof_by_progress,
}


def _pause(rule: ProofRule, debounce: float) -> float:
    return debounce if rule.debounce is None else rule.debounce


def _silence(times: Sequence[float], pause: float, target: Target, now: float) -> float | Wait:
    """When the first silence of that length ended, or the wait for it."""
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
