"""Waiting for findings that a server sends by itself: a push, or the end of some work.

`diagnostics/freshness_decision.py` decides when they count. What the decision asks for is done
here: the document is touched or saved, the work is started, the barrier is sent.
"""

from __future__ import annotations

import time

import msgspec

from lspkit.diagnostics import freshness_events
from lspkit.diagnostics.freshness_decision import settle
from lspkit.diagnostics.freshness_events import Proven, Quiet, Target, Unknown
from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.diagnostics.store import StoredReport
from lspkit.errors import RequestFailedError
from lspkit.operations.host_results import Examined
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS
from lspkit.protocol.open_documents import View
from lspkit.protocol.wire.results import read_raw_items
from lspkit.runtime.exchange.ask_server import (
    request_server,
    view_of,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.server.pending_request import PendingRequest
from lspkit.runtime.server.server import Server

#: Seconds to wait for a silent server that sends no versions; and for the first text of a document.
SILENCE, FIRST_SILENCE = 3.0, 10.0


class _Watch(msgspec.Struct):
    """The state of one wait."""

    rule: ProofRule
    view: View
    deadline: float
    #: The events that must precede the findings. Later changes elsewhere are not included: the
    #: findings may reflect them, but need not.
    basis: list[freshness_events.FreshnessEvent]
    unknown: bool
    answered: list[freshness_events.FreshnessEvent] = msgspec.field(default_factory=list)
    touches: int = 0

    @property
    def seq(self) -> int:
        """The number of the change that the findings must follow."""
        return next(
            event.seq for event in self.basis if isinstance(event, freshness_events.Written)
        )

    def target(self, *, first: bool) -> Target:
        """What has to be proven."""
        version = self.view.version
        return Target(self.view.uri, version, self.seq, self.deadline, first, self.touches)


def wait_for_push(
    context: Context, subject: CheckSubject, rule: ProofRule, *, unknown: bool
) -> Examined | None:
    """The findings, or why they are unknown; None if they have to be requested.

    `unknown`: nothing is known about the server, not even whether it sends versions.
    """
    server = subject.server
    pending = server.channel.sync(subject.file, subject.text)
    watch = _begin(subject, rule, view_of(pending), unknown=unknown)
    if rule.how != "progress" or not server.adapter.start_work:
        return _watch(context, subject, watch, pending)
    server.record.want_work(id(watch), max(event.at for event in watch.basis))
    try:
        return _watch(context, subject, watch, pending)
    finally:
        server.record.want_work(id(watch), None)
        server.activity.tell()  # another call may wait to stop this work


def _watch(
    context: Context, subject: CheckSubject, watch: _Watch, pending: PendingRequest
) -> Examined | None:
    server, rule = subject.server, watch.rule
    debounce = context.pool.config.timing.debounce_ms / 1000
    while True:
        activity = server.activity.next(watch.view.uri)
        events, report = server.record.facts(watch.view, [*watch.basis, *watch.answered])
        target = watch.target(first=server.record.is_first(watch.view))
        now, by_progress = time.monotonic(), server.adapter.proof_by_progress
        decision = settle(target, watch.rule, events, now, debounce, by_progress)
        if isinstance(decision, Proven | Quiet):
            return _result(subject, watch, decision, report)
        server.raise_if_ended()
        if watch.unknown and server.channel.session.supports(
            PULL_DIAGNOSTICS, server.channel.key_of(subject.file.uri)
        ):
            # It registered pulls only after its start (pyright does), and pushes nothing now.
            return None
        if isinstance(decision, Unknown):
            server.give_up_if_stuck(pending, subject.began, context.pool.request_timeout(server))
            return subject.failed(
                rule, decision.reason, late=decision.reason != freshness_events.CHANGED
            )
        if _do(context, subject, watch, decision.ask, report):
            continue
        context.call.wait(activity, decision.until)


def _begin(subject: CheckSubject, rule: ProofRule, view: View, *, unknown: bool) -> _Watch:
    server, deadline = subject.server, subject.call.deadline
    view = _look_again(subject, rule, view)
    if rule.how == "quiet":
        patience = FIRST_SILENCE if server.record.is_first(view) else SILENCE
        deadline = min(deadline, time.monotonic() + patience + (rule.debounce or 0.0))
    return _Watch(rule, view, deadline, server.channel.clock.basis(view.uri, rule), unknown)


def _do(
    context: Context, subject: CheckSubject, watch: _Watch, ask: str, report: StoredReport | None
) -> bool:
    """Do what the decision asks for; False if that is only to wait."""
    server, rule = subject.server, watch.rule
    if ask == "touch" and watch.unknown and report is not None and report.version is None:
        # An unknown server that sends no versions.
        server.record.gives_no_versions()
        watch.rule = msgspec.structs.replace(rule, how="quiet")
        watch.deadline = min(watch.deadline, time.monotonic() + SILENCE)
        return True
    if ask == "ordered":
        asked_at = time.monotonic()
        try:
            request_server(context, server, rule.ask, {"textDocument": {"uri": subject.uri}})
        except RequestFailedError:
            # It cannot read the file, and its push may say why.
            if rule.how != "version" or report is None or not read_raw_items(report.items).items:
                raise
        watch.answered.append(
            freshness_events.RequestAnswered(
                tag=rule.ask, asked_seq=watch.seq, asked_at=asked_at, at=time.monotonic()
            )
        )
        return True
    if ask == "start":
        return server.record.start_work(rule)
    if ask == "stop":
        return server.record.stop_work(rule)
    if ask not in ("touch", "save"):
        return False
    watch.touches += 1
    if ask == "save":
        server.channel.nudge(subject.uri)
    else:
        watch.view = server.channel.touch(subject.uri) or watch.view
    watch.basis = server.channel.clock.basis(subject.uri, rule)
    return True


def _look_again(subject: CheckSubject, rule: ProofRule, view: View) -> View:
    """Give the document a new version if a push about its present one may be outdated."""
    publishes = rule.how == "progress" and rule.sees == "buffer"
    if publishes or is_behind(subject.server, rule, subject.uri):
        return subject.server.channel.touch(subject.uri) or view
    return view


def is_behind(server: Server, rule: ProofRule, uri: str) -> bool:
    """Whether a push about the present version of a document may be outdated."""
    clock = server.channel.clock
    if server.choice.definition.disk.looks_again == "touch":
        return clock.missed_disk(uri)
    return rule.how in ("version", "quiet") and not rule.alone and clock.is_behind(uri)


def _result(
    subject: CheckSubject, watch: _Watch, decision: Proven | Quiet, report: StoredReport | None
) -> Examined:
    rule, view = watch.rule, watch.view
    lists = [] if report is None else [report.items]
    doubt = subject.doubt(lists)
    if doubt:
        return subject.doubted(rule, view, lists, doubt)
    if isinstance(decision, Quiet):
        reason = "it names no version, so its silence proves nothing"
        return subject.known(rule, view, lists, "quiet", reason)
    return subject.known(rule, view, lists, "silence" if decision.how == "quiet" else decision.how)
