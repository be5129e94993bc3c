"""Progress reports of a server (`$/progress`) as a proof.

In the simplest case, the proof is a task that began after the text was on disk, and ended. Servers
that need more decide in their adapters (`Adapter.proof_by_progress`).
"""

from __future__ import annotations

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
    Ready,
    Saved,
    Started,
    Stopped,
)
from lspkit.diagnostics.proof_rule import ProofRule


def proof_by_progress(case: Case) -> Judged:
    """The rule `progress`."""
    target, rule, events, since = case.target, case.rule, case.events, case.since
    began: str | None = None
    for event in events:
        if isinstance(event, Began) and is_named(event, rule) and event.at >= since:
            began = event.token
        elif isinstance(event, Ended) and event.token == began:
            return Proven("progress", event.at)
    if began is not None:
        return case.wait()
    # A change without `didSave` starts no task.
    saved = target.seq == 0 or any(
        isinstance(event, Saved) and event.at >= since for event in events
    )
    again = since + target.patience if saved or target.touched else case.now
    return case.wait("save") if case.now >= again else case.wait(until=again)


class Run(msgspec.Struct):
    """One run of a task that the server was told to start."""

    asked: float
    began: float | None = None
    ended: float | None = None
    stopped: bool = False
    #: Tokens in progress: a run may have several.
    at_work: set[str] = msgspec.field(default_factory=set)


def runs_of(rule: ProofRule, events: Iterable[FreshnessEvent]) -> list[Run]:
    """The runs of a task that lspkit starts, or that each notification of files starts."""
    runs: list[Run] = []
    for event in events:
        if isinstance(event, Started) and event.token == rule.token:
            runs.append(Run(event.at))
        elif isinstance(event, Began) and runs and is_named(event, rule):
            runs[-1].began = runs[-1].began or event.at
            runs[-1].at_work.add(event.token)
        elif isinstance(event, Stopped) and runs and event.token == rule.token:
            runs[-1].stopped = runs[-1].ended is None
        elif isinstance(event, Ended) and runs and event.token in runs[-1].at_work:
            runs[-1].at_work.discard(event.token)
            if not runs[-1].at_work:
                runs[-1].ended = event.at
    return runs


def at_work_since(rule: ProofRule, events: Sequence[FreshnessEvent]) -> float | None:
    """When the server was told to start the running task; None if none is running."""
    runs = runs_of(rule, events)
    if not runs or runs[-1].began is None or runs[-1].ended is not None or runs[-1].stopped:
        return None
    return runs[-1].asked


def may_start(rule: ProofRule, events: Sequence[FreshnessEvent], now: float) -> bool:
    """Whether the task is not running, so that the next beginning belongs to the next start."""
    runs = runs_of(rule, events)
    if not runs or runs[-1].ended is not None:
        return True
    last = runs[-1]
    if last.began is None:
        return now >= last.asked + PATIENCE  # the start was lost
    # A task that was running when the project was reloaded may never end.
    return any(isinstance(event, Ready) and event.at > last.asked for event in events)


def idle_since(rule: ProofRule, events: Iterable[FreshnessEvent]) -> float | None:
    """When the task after the last notification of changed files ended; None if it has not."""
    runs = runs_of(rule, events)
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
        elif isinstance(event, Began) and is_named(event, rule):
            if event.at < since:
                owed = 0
            else:
                at_work.add(event.token)
        elif isinstance(event, Ended) and event.token in at_work:
            owed -= 1
            if owed <= 0:
                return event.at
    return None


def is_named(event: Began, rule: ProofRule) -> bool:
    """Whether a task is the one of the rule."""
    return event.token.startswith(rule.token) or event.title.startswith(rule.token)
