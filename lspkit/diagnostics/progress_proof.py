"""Progress reports of a server (`$/progress`) as a proof.

In the simplest case, the proof is a task that began after the text was on disk, and ended. Two
kinds of servers need more. One cancels its task when another file is saved, and reports an end for
that, too: lspkit alone starts its task, one run at a time, so that each end is a real one, and a
request after the end shows that the findings have been sent. The other publishes all open documents
in each run, and may cancel a run: a push after the beginning of a run is a proof, if the server had
read the change before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from lspkit.diagnostics.freshness_events import (
    PATIENCE,
    Began,
    Ended,
    FreshnessEvent,
    Judged,
    Proven,
    Pushed,
    Quiet,
    Ready,
    RequestAnswered,
    Saved,
    Started,
    Stopped,
    Target,
    Wait,
)
from lspkit.diagnostics.proof_rule import ProofRule


def proof_by_progress(
    target: Target,
    rule: ProofRule,
    events: Sequence[FreshnessEvent],
    since: float,
    now: float,
    _: float,
) -> Judged:
    if rule.start:
        return _proof_by_run(target, rule, events, since, now)
    if rule.publishes:
        return _proof_by_publishing(target, rule, events, since, now)
    began: str | None = None
    for event in events:
        if isinstance(event, Began) and _is_named(event, rule) and event.at >= since:
            began = event.token
        elif isinstance(event, Ended) and event.token == began:
            return Proven("progress", event.at)
    if began is not None:
        return Wait(target.deadline)
    # A change without `didSave` starts no task.
    told = target.seq == 0 or any(isinstance(one, Saved) and one.at >= since for one in events)
    again = since + target.patience if told or target.touched else now
    return Wait(target.deadline, "save") if now >= again else Wait(again)


class _Run(msgspec.Struct):
    """One run of a task that the server was told to start."""

    asked: float
    began: float | None = None
    ended: float | None = None
    stopped: bool = False
    #: Tokens in progress: a run may have several.
    at_work: set[str] = msgspec.field(default_factory=set)


def _runs(rule: ProofRule, events: Iterable[FreshnessEvent]) -> list[_Run]:
    runs: list[_Run] = []
    for event in events:
        if isinstance(event, Started) and event.token == rule.token:
            runs.append(_Run(event.at))
        elif isinstance(event, Began) and runs and _is_named(event, rule):
            runs[-1].began = runs[-1].began or event.at
            runs[-1].at_work.add(event.token)
        elif isinstance(event, Stopped) and runs and event.token == rule.token:
            runs[-1].stopped = runs[-1].ended is None
        elif isinstance(event, Ended) and runs and event.token in runs[-1].at_work:
            runs[-1].at_work.discard(event.token)
            if not runs[-1].at_work:
                runs[-1].ended = event.at
    return runs


def _proof_by_run(
    target: Target, rule: ProofRule, events: Sequence[FreshnessEvent], since: float, now: float
) -> Judged:
    runs = _runs(rule, events)
    for run in runs:
        if run.asked < since or run.ended is None or run.stopped:
            continue
        for event in events:
            if (
                isinstance(event, RequestAnswered)
                and event.tag == rule.ask
                and event.at >= run.ended
            ):
                return Proven("progress", event.at)
        return Wait(target.deadline, "ordered")  # its findings may not have been sent yet
    if may_start(rule, events, now):
        return Wait(target.deadline, "start")
    last = runs[-1]
    if last.began is None:
        return Wait(last.asked + PATIENCE)
    return Wait(target.deadline, "stop" if rule.stop and last.asked < since else "")


def at_work_since(rule: ProofRule, events: Sequence[FreshnessEvent]) -> float | None:
    """When the server was told to start the running task; None if none is running."""
    runs = _runs(rule, events)
    if not runs or runs[-1].began is None or runs[-1].ended is not None or runs[-1].stopped:
        return None
    return runs[-1].asked


def may_start(rule: ProofRule, events: Sequence[FreshnessEvent], now: float) -> bool:
    """Whether the task is not running, so that the next beginning belongs to the next start."""
    runs = _runs(rule, events)
    if not runs or runs[-1].ended is not None:
        return True
    last = runs[-1]
    if last.began is None:
        return now >= last.asked + PATIENCE  # the start was lost
    # A task that was running when the project was reloaded may never end.
    return any(isinstance(one, Ready) and one.at > last.asked for one in events)


def _proof_by_publishing(
    target: Target, rule: ProofRule, events: Sequence[FreshnessEvent], since: float, now: float
) -> Judged:
    taken_in = [
        one.at
        for one in events
        if isinstance(one, RequestAnswered) and one.tag == rule.ask and one.asked_seq >= target.seq
    ]
    if not taken_in:
        return Wait(target.deadline, "ordered")
    start = first = max(since, taken_in[0])
    if rule.after:
        named = [
            one for one in events if isinstance(one, Began) and one.title.startswith(rule.after)
        ]
        looked = [one.at for one in named if one.at >= since]
        first = max(start, looked[0]) if looked else float("inf")
    began = [
        one.at
        for one in events
        if isinstance(one, Began) and _is_named(one, rule) and one.at >= first
    ]
    for event in events if began else ():
        if isinstance(event, Pushed) and event.uri == target.uri and event.at >= began[0]:
            return Proven("progress", event.at) if rule.trusted else Quiet(event.at)
    again = start + target.patience
    if began or now < again:
        return Wait(target.deadline if began else again)
    return Wait(target.deadline, "touch")


def idle_since(rule: ProofRule, events: Iterable[FreshnessEvent]) -> float | None:
    """When the task after the last notification of changed files ended; None if it has not."""
    runs = _runs(rule, events)
    if not runs:
        return 0.0
    return None if runs[-1].at_work else runs[-1].ended


def looked_since(rule: ProofRule, events: Iterable[FreshnessEvent], since: float) -> float | None:
    """When the tasks of all notifications up to that time had ended; None if they have not.

    Each notification may have a task of its own, also after later notifications.
    """
    owed, at_work = 0, set[str]()
    for event in events:
        if isinstance(event, Started) and event.token == rule.token and event.at <= since:
            owed += 1
        elif isinstance(event, Began) and _is_named(event, rule):
            if event.at < since:
                owed = 0
            else:
                at_work.add(event.token)
        elif isinstance(event, Ended) and event.token in at_work:
            owed -= 1
            if owed <= 0:
                return event.at
    return None


def _is_named(event: Began, rule: ProofRule) -> bool:
    return event.token.startswith(rule.token) or event.title.startswith(rule.token)
