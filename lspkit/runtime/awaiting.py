"""Waiting until a server has spoken of a text by itself: by a push, or after some work of its own.

When that counts is decided by `diagnostics/settle.py`. What the decision asks for meanwhile is done
here: the document is touched or saved, the work is started, the barrier is asked.
"""

from __future__ import annotations

import time

import msgspec

from lspkit.diagnostics import settle
from lspkit.diagnostics.proof import ProofRule
from lspkit.diagnostics.settle import Proven, Quiet, Target, Unknown
from lspkit.diagnostics.store import Said, is_empty
from lspkit.errors import Cancelled
from lspkit.operations import Examined
from lspkit.protocol.documents import View
from lspkit.runtime.asking import Asking, key_of, view_of
from lspkit.runtime.subject import Subject
from lspkit.runtime.waiting import Outcome, Steps

PULL = "textDocument/diagnostic"
#: A server that gives no versions, and stays silent, is waited for no longer than this; about a
#: text that it was only just given for the first time, so long.
SILENCE, FIRST_SILENCE = 3.0, 10.0
#: A server is asked to look again at most so often for one verdict.
TOUCHES = 2


class Awaiting:
    """How the engine waits for what a server says unasked. Holds no state of its own."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def awaited(self, one: Subject, rule: ProofRule, *, unknown: bool) -> Steps[Examined | None]:
        """The findings, or why they are not known; None if they have to be asked for after all.

        `unknown`: nothing special is known about the server, not even whether it gives versions.
        """
        server, definition = one.server, one.server.choice.definition
        ticket = server.sync(one.file, one.text)
        view, deadline = self._looked_at_again(one, rule, view_of(ticket)), one.call.deadline
        if rule.how == "quiet":
            patience = FIRST_SILENCE if server.is_first(view) else SILENCE
            deadline = min(deadline, time.monotonic() + patience + (rule.debounce or 0.0))
        debounce = self._asking.pool.config.timing.debounce_ms / 1000
        # What changes elsewhere from now on may be in the findings, but need not.
        basis, touches = server.basis(view.uri, rule), 0
        answered: list[settle.Event] = []
        while True:
            news = server.news.next()
            events, said = server.facts(view, [*basis, *answered])
            target = Target(view.uri, view.version, _seq(basis), deadline, server.is_first(view))
            decision = settle.settle(target, rule, events, time.monotonic(), debounce)
            if isinstance(decision, Proven | Quiet):
                return self._spoken(one, rule, view, decision, said)
            if server.failure is not None:
                raise server.failure.renewed()
            if rule.source == "" and server.session.supports(PULL, key_of(server, one.file)):
                # It said so only after it was up (pyright does), and from now on pushes nothing.
                return None
            if isinstance(decision, Unknown):
                server.give_up_if_stuck(ticket, one.began, self._asking.request_timeout(server))
                return one.failed(rule, decision.reason, late=decision.reason != settle.CHANGED)
            if decision.ask == "touch" and unknown and said is not None and said.version is None:
                # Nothing special is known about it, and it gives no versions.
                server.gives_no_versions()
                rule = msgspec.structs.replace(rule, how="quiet")
                deadline = min(deadline, time.monotonic() + SILENCE)
                continue
            if decision.ask == "ordered":
                answered.append((yield from self._barrier(one, rule, _seq(basis))))
                continue
            if decision.ask == "start" and server.start_work(rule):
                continue
            if decision.ask in ("touch", "save") and touches < TOUCHES:
                touches += 1
                if decision.ask == "save":
                    server.nudge(one.uri)
                else:
                    view = server.touch(one.uri, definition.touch_with) or view
                basis = server.basis(view.uri, rule)
                continue
            outcome = yield (news, decision.until)
            if outcome is Outcome.CANCELLED:
                raise Cancelled("the call was cancelled")

    def _looked_at_again(self, one: Subject, rule: ProofRule, view: View) -> View:
        """Give the document a new version where a push about the one it has may be from before."""
        server, definition = one.server, one.server.choice.definition
        if definition.looks_again == "touch":
            behind = server.missed_disk(one.uri)
        else:
            by_push = rule.how in ("version", "quiet") and not rule.alone
            behind = by_push and server.is_behind(one.uri)
        if behind or rule.publishes:
            return server.touch(one.uri, definition.touch_with) or view
        return view

    def _barrier(self, one: Subject, rule: ProofRule, seq: int) -> Steps[settle.Answered]:
        until = one.until(self._asking.request_timeout(one.server))
        params = {"textDocument": {"uri": one.uri}}
        yield from self._asking.asked_whole(one.server, rule.ask, params, until)
        return settle.Answered(tag=rule.ask, asked_seq=seq, at=time.monotonic())

    def _spoken(
        self,
        one: Subject,
        rule: ProofRule,
        view: View,
        decision: Proven | Quiet,
        said: Said | None,
    ) -> Examined:
        lists = [] if said is None else [said.items]
        doubt = one.server.doubt(one.uri)
        if doubt and (said is None or is_empty(said.items)):
            return one.failed(rule, doubt)
        if isinstance(decision, Quiet):
            reason = "it gives no version, so its silence proves nothing"
            return one.found(rule, view, lists, "quiet", reason)
        return one.found(rule, view, lists, "silence" if decision.how == "quiet" else decision.how)


def _seq(basis: list[settle.Event]) -> int:
    return next(one.seq for one in basis if isinstance(one, settle.Written))
