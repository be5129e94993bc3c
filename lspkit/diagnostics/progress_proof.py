"""Progress reports of a server (`$/progress`) as a proof.

In the simplest case, the proof is a task that began after the text was on disk, and ended. Two
kinds of servers need more. One cancels its task when another file is saved, and reports an end for
that, too: lspkit alone starts its task, one run at a time, so that each end is a real one, and a
request after the end shows that the findings have been sent. The other publishes all open documents
in each run, and may cancel a run: a push after the beginning of a run is a proof, if the server had
read the change before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from lspkit.diagnostics.freshness_events import (
    PATIENCE,
    Began,
    Case,
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
)
from lspkit.diagnostics.proof_rule import ProofRule


def proof_by_progress(case: Case) -> Judged:
    """The rule `progress`."""
    target, rule, events, since = case.target, case.rule, case.events, case.since
    if rule.start:
        return _proof_by_run(case)
    if rule.publishes:
        return _proof_by_publishing(case)
    began: str | None = None
    for event in events:
        if isinstance(event, Began) and _is_named(event, rule) and event.at >= since:
            began = event.token
        elif isinstance(event, Ended) and event.token == began:
            return Proven("progress", event.at)
    if began is not None:
        return case.wait()
    # A change without `didSave` starts no task.
    saved = target.seq == 0 or any(isinstance(one, Saved) and one.at >= since for one in events)
    again = since + target.patience if saved or target.touched else case.now
    return case.wait("save") if case.now >= again else case.wait(until=again)


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


def _proof_by_run(case: Case) -> Judged:
    rule = case.rule
    runs = _runs(rule, case.events)
    for run in runs:
        if run.asked < case.since or run.ended is None or run.stopped:
            continue
        answered = (one for one in case.events if isinstance(one, RequestAnswered))
        for event in answered:
            if event.tag == rule.ask and event.at >= run.ended:
                return Proven("progress", event.at)
        return case.wait("ordered")  # its findings may not have been sent yet
    if may_start(rule, case.events, case.now):
        return case.wait("start")
    last = runs[-1]
    if last.began is None:
        return case.wait(until=last.asked + PATIENCE)
    return case.wait("stop" if rule.stop and last.asked < case.since else "")


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


def _proof_by_publishing(case: Case) -> Judged:
    target, rule, events, since = case.target, case.rule, case.events, case.since
    answers = case.answers()
    if not answers:
        return case.wait("ordered")
    start = first = max(since, answers[0])
    begun = [one for one in events if isinstance(one, Began)]
    if rule.after:
        looked = [one.at for one in begun if one.title.startswith(rule.after) and one.at >= since]
        first = max(start, looked[0]) if looked else math.inf
    began = [one.at for one in begun if _is_named(one, rule) and one.at >= first]
    for event in events if began else ():
        if isinstance(event, Pushed) and event.uri == target.uri and event.at >= began[0]:
            return Proven("progress", event.at) if rule.trusted else Quiet(event.at)
    again = start + target.patience
    if began or case.now < again:
        return case.wait() if began else case.wait(until=again)
    return case.wait("touch")


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
