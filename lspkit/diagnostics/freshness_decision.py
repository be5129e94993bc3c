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

import math
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from lspkit.diagnostics.freshness_events import (
    BEGINS_WITHIN,
    CHANGED,
    Began,
    Case,
    CheckDue,
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
    by_progress: Callable[[Case], Judged] = proof_by_progress,
) -> Decision:
    """Decide for this target; `by_progress` is what decides for a rule `progress`."""
    since = _since(target, rule, events)
    moved = _superseding_text(target, events)
    waited = Wait(target.deadline)
    if since is not None:
        mine = events
        if moved is not None:
            mine = [event for event in events if _concerns_target(event, moved)]
        case = Case(target, rule, mine, since, now, debounce)
        judged = (
            by_progress(case) if rule.how == "progress" else _RULES[rule.how or "version"](case)
        )
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
    changes = (event for event in events if isinstance(event, Superseded))
    later = [change for change in changes if change.version > target.version]
    return min(later, key=lambda change: change.version) if later else None


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
    since = max(written, ready) if rule.how != "progress" else written
    return since if rule.sees == "buffer" or saved is None else max(since, saved)


def _proof_by_pull(case: Case) -> Judged:
    pulls = (event for event in case.events if isinstance(event, Pulled) and event.at >= case.since)
    for pull in pulls:
        if pull.uri == case.target.uri and pull.asked_seq >= case.target.seq:
            return Quiet(pull.at) if case.rule.untried else Proven("pull", pull.at)
    return case.wait("pull")


def _proof_by_order(case: Case) -> Judged:
    for at in case.answers():
        if at >= case.since:
            return Proven("ordered", at)
    return case.wait("ordered")


def _proof_by_version(case: Case) -> Judged:
    kinds = _OF_VERSION | Started | Began | Ended if case.rule.token else _OF_VERSION
    heard = [event for event in case.events if isinstance(event, kinds)]
    heard.sort(key=lambda event: event.at)
    # A proof stays valid after later events.
    for index, following in enumerate(heard[1:], start=1):
        so_far = replace(case, events=heard[:index], now=min(case.now, following.at))
        judged = _proof_by_version_so_far(so_far)
        if isinstance(judged, Proven):
            return judged
    return _proof_by_version_so_far(replace(case, events=heard))


def _proof_by_version_so_far(case: Case) -> Judged:
    target, rule, events, since = case.target, case.rule, case.events, case.since
    pushes = [event for event in events if isinstance(event, Pushed) and event.uri == target.uri]
    after = [push for push in pushes if push.at > since]
    spoken = [
        push.at for push in after if push.version is not None and push.version >= target.version
    ]
    looked = looked_since(rule, events, since) if rule.token else None
    if looked is not None and spoken and spoken[-1] >= looked + case.pause:
        # Other files may change meanwhile; the server has read the relevant changes.
        return Proven("version", spoken[-1])
    idle = idle_since(rule, events) if rule.token else since
    if idle is None:
        return case.wait()
    began = -math.inf
    if spoken and rule.rests_by:
        rest = _rest(case, spoken[-1])
        if isinstance(rest, Wait):
            return rest
        began = rest
    # An answer to a request from before the server worked once more says nothing about that work.
    answers = case.answers(began) if rule.ask else [since]
    if spoken and rule.ask and not any(at >= spoken[-1] for at in answers):
        return case.wait("ordered")
    if spoken:
        # `single` holds for changes; a document that is opened may get two pushes.
        pause = 0.0 if rule.single and not target.first else case.pause
        start = max(spoken[0], idle, answers[-1])
        settled = _silence([start, *(at for at in spoken if at > start)], pause, case)
        return settled if isinstance(settled, Wait) else Proven("version", settled)
    # While it still publishes older versions, it has not processed this one.
    silent = max([since, *(push.at for push in after)])
    named = any(push.version == target.version for push in pushes)
    if named or any(push.version is None for push in after):
        # There was a push without a version, or before another change: touch the document.
        again = silent + target.pause
    elif rule.rests_by:
        return case.wait()
    else:
        # After a touch, the server may not repeat findings that it published for an older version.
        again = silent + (target.pause if after and target.touched else target.patience)
    return case.wait("touch") if case.now >= again else case.wait(until=again)


def _rest(case: Case, spoken: float) -> float | Wait:
    """Since when the server has been done with the file, if it is after a push."""
    rests = (event for event in case.events if isinstance(event, Rested))
    last = next((rest for rest in reversed(list(rests)) if rest.uri == case.target.uri), None)
    if last is None or last.at < spoken:
        return case.wait()
    latest = max(last.since, spoken) + BEGINS_WITHIN
    return last.since if last.worked or case.now >= latest else case.wait(until=latest)


def _proof_by_quiet(case: Case) -> Judged:
    pushes = [
        event
        for event in case.events
        if isinstance(event, Pushed) and event.at > case.since and event.uri == case.target.uri
    ]
    # The session infers the version for some servers (`protocol/checked_versions.py`).
    for push in pushes:
        if push.version is not None and push.version >= case.target.version:
            return Proven("version", push.at)
    after = [push.at for push in pushes if push.version is None]
    if not after or any(isinstance(event, CheckDue) for event in case.events):
        return case.wait()
    settled = _silence(after, case.pause, case)
    if isinstance(settled, Wait):
        return settled
    # A silence that the deadline has shortened is not a proof.
    whole = any(at + case.pause == settled for at in after)
    return Proven("quiet", settled) if case.rule.trusted and whole else Quiet(settled)


#: The events that decide about a push, besides the server's task if the rule has one.
_OF_VERSION = Pushed | Rested | RequestAnswered

_RULES = {
    "pull": _proof_by_pull,
    "ordered": _proof_by_order,
    "version": _proof_by_version,
    "quiet": _proof_by_quiet,
}


def _silence(times: Sequence[float], pause: float, case: Case) -> float | Wait:
    """When the first silence of that length ended, or the wait for it."""
    for at, following in zip(times, [*times[1:], float("inf")], strict=True):
        quiet_at = at + pause
        if following >= quiet_at:
            until = min(quiet_at, case.target.deadline)
            return until if case.now >= until else Wait(until)
    return case.wait()


def _why(rule: ProofRule, since: float | None) -> str:
    if since is None:
        return "it was not ready in time"
    if rule.token:
        return f"{rule.source or rule.token} did not finish in time"
    if rule.how in ("pull", "ordered"):
        return "it did not answer in time"
    return "no report about this text came in time"
