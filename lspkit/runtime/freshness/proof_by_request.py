"""Fresh findings of one source of one server, with their proof, as generators of waits.

What counts as a proof is decided by `diagnostics/settle.py`; here is what it takes to get one by
asking. Waiting until a server has spoken by itself is in `proof_by_push.py`.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from lspkit.diagnostics import settle, tsserver
from lspkit.diagnostics.proof import How, ProofRule
from lspkit.diagnostics.settle import CHANGED, Proven, Target
from lspkit.errors import RequestFailedError
from lspkit.operations.effects import Examined
from lspkit.protocol.results import read_report
from lspkit.protocol.text import Encoding, Text
from lspkit.protocol.uris import normalize_uri
from lspkit.protocol.wire.raw_items import read_raw_items
from lspkit.runtime.concurrency.waiting import Outcome, Steps
from lspkit.runtime.exchange.ask_server import Asking
from lspkit.runtime.exchange.replies import about_the_file, view_of
from lspkit.runtime.files import File
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.proof_by_push import PULL, SILENCE, Awaiting
from lspkit.runtime.server.pending_request import Build, PendingRequest
from lspkit.runtime.server.server import Server

COMMAND = "workspace/executeCommand"
#: What is said about an answer from before the project was loaded.
NOT_READY = "it was not ready"
#: What is said about an answer that cannot be read.
NONSENSE = f"it answered {PULL} with something that is no report"


class Proving:
    """How the engine gets a proof. Holds no state of its own."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._awaiting = Awaiting(asking)

    def prove(self, one: CheckSubject, rule: ProofRule) -> Steps[Examined]:
        """The findings of one source, or why they are not known."""
        server, unknown = one.server, rule.how is None
        if rule.how is None:
            offered = server.session.supports(PULL, server.key_of(one.file.uri))
            other: How = "quiet" if server.heard.versionless else "version"
            rule = msgspec.structs.replace(rule, how="pull" if offered else other)
        if rule.how == "pull":
            return (yield from self._pulled_when_ready(one, rule))
        if rule.how == "ordered":
            yield from self._read_again(one)
            if rule.ask == "tsserver":
                return (yield from self._from_tsserver(one, rule))
            return (yield from self._after_barrier(one, rule))
        yield from self._let_it_take_in(one)
        found = yield from self._awaiting.awaited(one, rule, unknown=unknown)
        if found is None:
            rule = msgspec.structs.replace(rule, how="pull")
            found = yield from self._pulled_when_ready(one, rule)
        return found

    # Asking

    def _pulled_when_ready(self, one: CheckSubject, rule: ProofRule) -> Steps[Examined]:
        """Ask again if the server was loading its project anew meanwhile."""
        server = one.server
        while True:
            found = yield from self._pulled(one, rule)
            may_be = server.heard.ready is not None or server.loading.again
            if found.reason != NOT_READY or not may_be or one.call.is_over:
                return found
            yield from self._asking.at_rest(one.server, one.call)

    def _pulled(self, one: CheckSubject, rule: ProofRule) -> Steps[Examined]:
        yield from self._read_again(one)
        yield from self._let_it_take_in(one)
        lists: list[bytes] = []
        ticket: PendingRequest | None = None
        versions: set[int] = set()
        asked_at = time.monotonic()
        for identifier in identifiers(one.server, one.file):
            source = f"pull {identifier or ''}".strip()
            last = one.server.last_said(one.uri, source)
            known = last.result_id if last is not None else None
            answered, ticket = yield from self._asking.told(
                one.server,
                one.file,
                one.text,
                PULL,
                _pull(identifier, known),
                self._asking.until(one.server, one.call),
            )
            report = read_report(answered.result)
            if report is None or (report.kind == "unchanged" and last is None):
                return one.failed(rule, NONSENSE)
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
            return one.failed(rule, "it has no kind of findings to be asked for")
        if len(versions) > 1:
            return one.failed(rule, CHANGED)
        # It may have looked at any time since it was asked.
        event = settle.Pulled(uri=one.uri, asked_seq=ticket.seq, at=asked_at)
        return self._judged(one, rule, ticket, event, lists)

    def _keep_related(self, server: Server, related: dict[str, Any], source: str) -> None:
        """What the answer says about other files that this one is tied to."""
        for uri, raw in related.items():
            report = read_report(bytes(raw))
            if report is not None and report.kind == "full":
                items = bytes(report.items)
                server.pulled(normalize_uri(uri), None, items, source, report.result_id)

    def _from_tsserver(self, one: CheckSubject, rule: ProofRule) -> Steps[Examined]:
        until = self._asking.until(one.server, one.call)
        tickets = [
            one.server.ask_about(one.file, one.text, COMMAND, _command(command, one.file.path))
            for command in tsserver.COMMANDS
        ]
        lists: list[bytes] = []
        try:
            for ticket in tickets:
                answered = yield from self._asking.answer(one.server, ticket, until)
                if isinstance(answered, RequestFailedError):
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
            pieces = [piece for items in lists for piece in read_raw_items(items).items]
            joined = b"[" + b",".join(pieces) + b"]"
            one.server.pulled(one.uri, view_of(tickets[0]).version, joined)
        first = tickets[0]
        event = settle.RequestAnswered(tag=rule.ask, asked_seq=first.seq, at=time.monotonic())
        return self._judged(one, rule, first, event, lists)

    def _after_barrier(self, one: CheckSubject, rule: ProofRule) -> Steps[Examined]:
        """A server that publishes before it answers the next question: what it has published."""
        _, ticket = yield from self._asking.told(
            one.server,
            one.file,
            one.text,
            rule.ask,
            about_the_file,
            self._asking.until(one.server, one.call),
        )
        until = min(one.call.deadline, time.monotonic() + SILENCE)
        while True:
            news = one.server.news.next()
            # Without a version nothing tells of which text it is, if there has been another one.
            said, still = one.server.pushed_about(view_of(ticket))
            if not still:
                return one.failed(rule, CHANGED)
            if said is not None:
                event = settle.RequestAnswered(
                    tag=rule.ask, asked_seq=ticket.seq, at=time.monotonic()
                )
                return self._judged(one, rule, ticket, event, [said.items])
            # Only for the first text: it may have had to ask for its settings before it could look.
            if (yield (news, until)) is not Outcome.DONE:
                return one.failed(rule, "it has published nothing", late=True)
            if one.server.failure is not None:
                raise one.server.failure.copy()

    def _judged(
        self,
        one: CheckSubject,
        rule: ProofRule,
        ticket: PendingRequest,
        event: settle.FreshnessEvent,
        lists: list[bytes],
    ) -> Examined:
        """What an answer is worth."""
        view = view_of(ticket)
        target = Target(view.uri, view.version, ticket.seq, float("inf"))
        written = settle.Written(seq=ticket.seq, at=one.began)
        ready = one.server.heard.ready
        events = [written, event] if ready is None else [ready, written, event]
        if not one.server.still_shows(view):
            # Some servers answer about what is there by the time that they come to it.
            events.append(settle.Superseded(version=view.version + 1, at=event.at))
        decision = settle.settle(target, rule, events, event.at)
        doubt = one.doubt(lists)
        if doubt:
            return one.doubted(rule, view, lists, doubt)
        if isinstance(decision, Proven):
            return one.found(rule, view, lists, decision.how)
        changed = isinstance(decision, settle.Unknown)
        return one.failed(rule, CHANGED if changed else NOT_READY)

    def _let_it_take_in(self, one: CheckSubject) -> Steps[None]:
        """Let the server see the changes of other open documents, if it would wait with that."""
        server, method = one.server, one.server.choice.definition.takes_in_by
        for uri, number in server.pending(one.uri) if method else ():
            params = {"textDocument": {"uri": uri}}
            until = self._asking.until(server, one.call)
            yield from self._asking.asked_whole(server, method, params, until)
            server.took_in(uri, number)

    def _read_again(self, one: CheckSubject) -> Steps[None]:
        """Let the server look at files that changed on disk, if it does not by itself."""
        server, how = one.server, one.server.choice.definition.looks_again
        if how == "watched" or not server.missed_disk(one.uri):
            return
        server.sync(one.file, one.text)
        if how == "reload":
            params = {"command": "typescript.reloadProjects", "arguments": []}
            ticket = server.ask(COMMAND, params)
            yield from self._asking.answer(server, ticket, self._asking.until(one.server, one.call))
            server.saw_disk()
        else:
            server.touch(one.uri)


def identifiers(server: Server, file: File) -> list[str | None]:
    """A server may have several kinds of diagnostics, to be asked for one by one."""
    capabilities = server.session.capabilities
    found = [
        options.get("identifier") for options in capabilities.options(PULL, server.key_of(file.uri))
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
