"""Fresh findings of one source of one server, with their proof, as generators of waits.

What counts as a proof is decided by `diagnostics/settle.py`; here is what it takes to get one:
asking, touching, saving, and waiting until the server has spoken.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from lspkit.diagnostics import settle, tsserver
from lspkit.diagnostics.proof import How, ProofRule
from lspkit.diagnostics.settle import Proven, Quiet, Target, Unknown
from lspkit.diagnostics.store import is_empty
from lspkit.errors import Cancelled, RequestFailed
from lspkit.operations import Examined
from lspkit.protocol.documents import View
from lspkit.protocol.shapes import read_pieces, read_report
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.asking import Asking, about_the_file, key_of, view_of
from lspkit.runtime.conversation import Build, Ticket
from lspkit.runtime.files import File
from lspkit.runtime.server import Server
from lspkit.runtime.waiting import Call, Outcome, Steps

PULL = "textDocument/diagnostic"
COMMAND = "workspace/executeCommand"
#: A server that gives no versions, and stays silent, is waited for no longer than this; about a
#: text that it was only just given for the first time, so long.
SILENCE, FIRST_SILENCE = 3.0, 10.0
#: What is said where an answer is about several texts.
CHANGED = "the text was changed meanwhile"
#: What is said about an answer that cannot be read.
NONSENSE = "it answered with something that is no report"
#: A server is asked to look again at most so often for one verdict.
TOUCHES = 2


class Subject(msgspec.Struct, frozen=True):
    """What is to be proven: by whom, about which text, within which time."""

    server: Server
    file: File
    #: None for the text on disk.
    text: str | None
    call: Call
    began: float

    @property
    def uri(self) -> str:
        """Of the document."""
        return self.file.uri

    def failed(self, rule: ProofRule, reason: str, *, late: bool = False) -> Examined:
        """Nothing is known."""
        took = time.monotonic() - self.began
        return Examined(self.server.id, None, (), "none", took, late, reason, rule.source)

    def found(
        self, rule: ProofRule, view: View, lists: list[bytes], how: str, reason: str = ""
    ) -> Examined:
        """These are the findings."""
        took = time.monotonic() - self.began
        return Examined(self.server.id, view, tuple(lists), how, took, False, reason, rule.source)


class Proving:
    """How the engine gets a proof. Holds no state of its own."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def prove(self, one: Subject, rule: ProofRule) -> Steps[Examined]:
        """The findings of one source, or why they are not known."""
        server, unknown = one.server, rule.how is None
        if rule.how is None:
            offered = server.session.supports(PULL, key_of(server, one.file))
            other: How = "quiet" if server.heard.versionless else "version"
            rule = msgspec.structs.replace(rule, how="pull" if offered else other)
        if rule.how == "pull":
            return (yield from self._pulled(one, rule))
        if rule.how == "ordered":
            yield from self._read_again(one)
            if rule.ask == "tsserver":
                return (yield from self._from_tsserver(one, rule))
            return (yield from self._after_barrier(one, rule))
        return (yield from self._awaited(one, rule, unknown=unknown))

    # Asking

    def _pulled(self, one: Subject, rule: ProofRule) -> Steps[Examined]:
        yield from self._read_again(one)
        lists: list[bytes] = []
        ticket: Ticket | None = None
        versions: set[int] = set()
        asked_at = time.monotonic()
        for identifier in identifiers(one.server, one.file):
            source = f"pull {identifier or ''}".strip()
            last = one.server.last_said(one.uri, source)
            known = last.result_id if last is not None else None
            answered, ticket = yield from self._asking.told(
                one.server, one.file, one.text, PULL, _pull(identifier, known), self._until(one)
            )
            report = read_report(answered.result)
            if report is None or (report.kind == "unchanged" and last is None):
                return one.failed(
                    rule, f"{one.server.id} answered with something that is no report"
                )
            items, result_id = bytes(report.items), report.result_id
            if report.kind == "unchanged" and last is not None:
                items, result_id = last.items, result_id or known
            lists.append(items)
            version = view_of(ticket).version
            versions.add(version)
            if one.text is None:
                one.server.pulled(one.uri, version, items, source, result_id, asked_at)
                self._keep_related(one.server, report.related_documents or {}, source)
        if ticket is None:
            return one.failed(rule, f"{one.server.id} has no kind of findings to be asked for")
        if len(versions) > 1:
            return one.failed(rule, CHANGED)
        event = settle.Pulled(uri=one.uri, asked_seq=ticket.seq, at=time.monotonic())
        return self._judged(one, rule, ticket, event, lists)

    def _keep_related(self, server: Server, related: dict[str, Any], source: str) -> None:
        """What the answer says about other files that this one is tied to."""
        for uri, raw in related.items():
            report = read_report(bytes(raw))
            if report is not None and report.kind == "full":
                server.pulled(uri, None, bytes(report.items), source, report.result_id)

    def _from_tsserver(self, one: Subject, rule: ProofRule) -> Steps[Examined]:
        until = self._until(one)
        tickets = [
            one.server.ask_about(one.file, one.text, COMMAND, _command(command, one.file.path))
            for command in tsserver.COMMANDS
        ]
        lists: list[bytes] = []
        try:
            for ticket in tickets:
                answered = yield from self._asking.answer(one.server, ticket, until)
                if isinstance(answered, RequestFailed):
                    raise answered
                items = tsserver.items_of(answered.result)
                if items is None:
                    return one.failed(rule, "TypeScript's own server gave no findings")
                lists.append(items)
        finally:
            for ticket in tickets:
                one.server.finish(ticket)
        if len({view_of(ticket).version for ticket in tickets}) > 1:
            return one.failed(rule, CHANGED)
        if one.text is None:
            pieces = [piece for items in lists for piece in read_pieces(items)]
            joined = b"[" + b",".join(pieces) + b"]"
            one.server.pulled(one.uri, view_of(tickets[0]).version, joined)
        first = tickets[0]
        event = settle.Answered(tag=rule.ask, asked_seq=first.seq, at=time.monotonic())
        return self._judged(one, rule, first, event, lists)

    def _after_barrier(self, one: Subject, rule: ProofRule) -> Steps[Examined]:
        """A server that publishes before it answers the next question: what it has published."""
        _, ticket = yield from self._asking.told(
            one.server, one.file, one.text, rule.ask, about_the_file, self._until(one)
        )
        until = min(one.call.deadline, time.monotonic() + SILENCE)
        while (said := one.server.last_said(one.uri)) is None:
            # Only for the first text: it may have had to ask for its settings before it could look.
            news = one.server.news.next()
            if one.server.last_said(one.uri) is None and (yield (news, until)) is not Outcome.DONE:
                return one.failed(rule, "it has published nothing", late=True)
            if one.server.failure is not None:
                raise one.server.failure.renewed()
        event = settle.Answered(tag=rule.ask, asked_seq=ticket.seq, at=time.monotonic())
        return self._judged(one, rule, ticket, event, [said.items])

    def _judged(
        self,
        one: Subject,
        rule: ProofRule,
        ticket: Ticket,
        event: settle.Event,
        lists: list[bytes],
    ) -> Examined:
        """What an answer is worth."""
        view = view_of(ticket)
        target = Target(view.uri, view.version, ticket.seq, float("inf"))
        written = settle.Written(seq=ticket.seq, at=one.began)
        ready = one.server.heard.ready
        events = [written, event] if ready is None else [ready, written, event]
        decision = settle.settle(target, rule, events, event.at)
        doubt = one.server.doubt(one.uri)
        if doubt and all(is_empty(items) for items in lists):
            return one.failed(rule, doubt)
        if isinstance(decision, Proven):
            return one.found(rule, view, lists, decision.how)
        return one.failed(rule, "it was not ready")

    def _read_again(self, one: Subject) -> Steps[None]:
        """Let the server look at files that changed on disk, if it does not by itself."""
        server, how = one.server, one.server.choice.definition.looks_again
        if how == "watched" or not server.missed_disk(one.uri):
            return
        server.sync(one.file, one.text)
        if how == "reload":
            params = {"command": "typescript.reloadProjects", "arguments": []}
            ticket = server.ask(COMMAND, params)
            yield from self._asking.answer(server, ticket, self._until(one))
            server.saw_disk()
        else:
            server.touch(one.uri, server.choice.definition.touch_with)

    # Waiting

    def _awaited(self, one: Subject, rule: ProofRule, *, unknown: bool) -> Steps[Examined]:
        server, definition = one.server, one.server.choice.definition
        ticket = server.sync(one.file, one.text)
        view, deadline = view_of(ticket), one.call.deadline
        if definition.looks_again == "touch" and server.missed_disk(one.uri):
            view = server.touch(one.uri, definition.touch_with) or view
        if rule.how == "quiet":
            patience = FIRST_SILENCE if server.is_first(view) else SILENCE
            deadline = min(deadline, time.monotonic() + patience + (rule.debounce or 0.0))
        debounce = self._asking.pool.config.timing.debounce_ms / 1000
        touches = 0
        while True:
            news = server.news.next()
            events = server.facts(view, rule)
            first = server.is_first(view)
            target = Target(view.uri, view.version, _seq(events), deadline, first)
            decision = settle.settle(target, rule, events, time.monotonic(), debounce)
            if isinstance(decision, Proven | Quiet):
                return self._spoken(one, rule, view, decision)
            if server.failure is not None:
                raise server.failure.renewed()
            if rule.source == "" and server.session.supports(PULL, key_of(server, one.file)):
                # It said so only after it was up (pyright does), and from now on pushes nothing.
                return (yield from self._pulled(one, msgspec.structs.replace(rule, how="pull")))
            if isinstance(decision, Unknown):
                server.give_up_if_stuck(ticket, one.began, self._asking.request_timeout(server))
                return one.failed(rule, decision.reason, late=True)
            if decision.ask == "touch" and unknown and self._is_versionless(one):
                # Nothing special is known about it, and it gives no versions.
                server.gives_no_versions()
                rule = msgspec.structs.replace(rule, how="quiet")
                deadline = min(deadline, time.monotonic() + SILENCE)
                continue
            if decision.ask and touches < TOUCHES:
                touches += 1
                if decision.ask == "save":
                    server.nudge(one.uri)
                    continue
                view = server.touch(one.uri, definition.touch_with) or view
                continue
            outcome = yield (news, decision.until)
            if outcome is Outcome.CANCELLED:
                raise Cancelled("the call was cancelled")

    def _is_versionless(self, one: Subject) -> bool:
        said = one.server.last_said(one.uri)
        return said is not None and said.version is None

    def _spoken(
        self, one: Subject, rule: ProofRule, view: View, decision: Proven | Quiet
    ) -> Examined:
        said = one.server.last_said(one.uri)
        if said is not None and said.version not in (None, view.version) and rule.how == "version":
            return one.failed(rule, CHANGED)
        lists = [] if said is None else [said.items]
        doubt = one.server.doubt(one.uri)
        if doubt and (said is None or is_empty(said.items)):
            return one.failed(rule, doubt)
        if isinstance(decision, Quiet):
            reason = "it gives no version, so its silence proves nothing"
            return one.found(rule, view, lists, "quiet", reason)
        return one.found(rule, view, lists, "silence" if decision.how == "quiet" else decision.how)

    def _until(self, one: Subject) -> float:
        """A caller who sets no limit does not wait for ever for an answer."""
        if one.call.deadline != float("inf"):
            return one.call.deadline
        return time.monotonic() + self._asking.request_timeout(one.server)


def _seq(events: list[settle.Event]) -> int:
    return next(one.seq for one in events if isinstance(one, settle.Written))


def identifiers(server: Server, file: File) -> list[str | None]:
    """A server may have several kinds of diagnostics, to be asked for one by one."""
    capabilities = server.session.capabilities
    found = [
        options.get("identifier") for options in capabilities.options(PULL, key_of(server, file))
    ]
    provider = capabilities.static.get("diagnosticProvider")
    if isinstance(provider, dict):
        found.append(provider.get("identifier"))
    return list(dict.fromkeys(found)) or [None]


def _pull(identifier: str | None, result_id: str | None) -> Build:
    def build(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if identifier is not None:
            params["identifier"] = identifier
        if result_id is not None:
            params["previousResultId"] = result_id
        return params

    return build


def _command(command: str, path: str) -> Build:
    return lambda _, __, ___: tsserver.request(command, path)
