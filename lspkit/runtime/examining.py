"""Fresh diagnostics of one file from all its servers, as a generator of waits.

A server that can be asked for diagnostics is asked (`pull`); for the others the push that speaks of
this very version is awaited (`diagnostics/settle.py` decides). All servers work at the same time.
Callers who check one document take turns, so that one's text never answers for another's.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from lspkit.diagnostics.settle import Settled, Target, Unknown, settle
from lspkit.errors import Cancelled, LspkitError, RequestFailed, RequestTimeout
from lspkit.operations import Examination, Examine, Examined
from lspkit.protocol.shapes import read_report
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.asking import Asking, key_of, view_of
from lspkit.runtime.files import File
from lspkit.runtime.server import Server, Ticket
from lspkit.runtime.waiting import Call, Outcome, Steps, Waiter

PULL = "textDocument/diagnostic"
#: A server that gives no versions, and stays silent, is waited for no longer than this.
SILENCE = 3.0


class _Job(msgspec.Struct):
    """One server at work on the file."""

    server: Server
    turn: Waiter
    tickets: list[Ticket]
    began: float
    error: LspkitError | None = None


class Examining:
    """How the engine examines a file. Holds no state of its own."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def examine(self, effect: Examine, call: Call) -> Steps[Examination]:
        """Perform `Examine`. A caller's time limit or cancel ends it early, with what is known."""
        began = time.monotonic()
        files, config = self._asking.files, self._asking.pool.config
        file = files.locate(effect.path, may_be_missing=effect.text is not None)
        results: list[Examined] = []
        try:
            ready, failures = yield from self._asking.ready(file, effect.text, call)
        except (RequestTimeout, Cancelled) as problem:
            ready, failures = [], [problem]
        if not ready and not any(isinstance(one, RequestTimeout | Cancelled) for one in failures):
            raise failures[0]
        results += [_failed(problem, began) for problem in failures]
        jobs = [_Job(server, server.turns.take(file.uri), [], began) for server in ready]
        try:
            for job in jobs:
                yield from self._ask(job, file, effect.text, call)
            for job in jobs:
                results.append((yield from self._result(job, file, effect.text, call)))
        finally:
            for job in jobs:
                for ticket in job.tickets:
                    job.server.finish(ticket)
                if effect.text is not None:
                    self._asking.restore(job.server, effect.path)
                job.server.turns.end(file.uri, job.turn)
        return Examination(
            path=Path(file.path),
            uri=file.uri,
            servers=tuple(results),
            severities=config.diagnostics.include_severities,
            duration=time.monotonic() - began,
        )

    def _ask(self, job: _Job, file: File, text: str | None, call: Call) -> Steps[None]:
        """Bring the document up to date, and ask for diagnostics where that is possible."""
        server = job.server
        outcome = yield (job.turn, call.deadline)
        if outcome is not Outcome.DONE:
            return
        job.began = time.monotonic()
        try:
            yield from self._asking.room(server, PULL, call.deadline)
            self._asking.refresh(server)
            if server.session.supports(PULL, key_of(server, file)):
                job.tickets = _pulls(server, file, text)
            else:
                job.tickets = [server.sync(file, text)]
        except LspkitError as problem:
            job.error = problem

    def _result(self, job: _Job, file: File, text: str | None, call: Call) -> Steps[Examined]:
        if job.error is not None:
            return _failed(job.error, job.began)
        if not job.tickets:
            return Examined(
                job.server.id, None, (), "none", 0.0, True, "another check is under way"
            )
        if job.tickets[0].method == PULL:
            return (yield from self._pulled(job, call))
        return (yield from self._pushed(job, file, text, call))

    def _pulled(self, job: _Job, call: Call) -> Steps[Examined]:
        until = call.deadline
        if until == float("inf"):
            until = time.monotonic() + self._asking.request_timeout(job.server)
        lists: list[bytes] = []
        for ticket in job.tickets:
            try:
                value = yield from self._asking.answer(job.server, ticket, until)
            except LspkitError as problem:
                return _failed(problem, job.began, job.server.id)
            if isinstance(value, RequestFailed):
                return _failed(value, job.began)
            report = read_report(value.result)
            if report is None:
                nonsense = f"{job.server.id} answered with something that is no report"
                return _failed(RequestFailed(nonsense, server=job.server.id), job.began)
            lists.append(bytes(report.items))
        view = view_of(job.tickets[0])
        return Examined(job.server.id, view, tuple(lists), "pull", time.monotonic() - job.began)

    def _pushed(self, job: _Job, file: File, text: str | None, call: Call) -> Steps[Examined]:
        server, view = job.server, view_of(job.tickets[0])
        debounce = self._asking.pool.config.timing.debounce_ms / 1000
        deadline = call.deadline
        if not server.gives_versions:
            deadline = min(deadline, job.began + SILENCE)
        target = Target(view.version, server.written_at(file.uri), deadline, debounce)
        if (last := server.last_push(file.uri)) is not None and last.version == view.version:
            # It has spoken about this text, but something else may have changed since.
            target = msgspec.structs.replace(target, deadline=min(deadline, job.began + SILENCE))
            if last.at <= target.written_at:
                server.nudge(file.uri)
        while True:
            news = server.news.next()
            decision = settle(target, server.last_push(file.uri), time.monotonic())
            if isinstance(decision, Settled):
                lists = (decision.push.items,)
                took = time.monotonic() - job.began
                quiet = "it gives no version, so its silence proves nothing"
                reason = quiet if decision.how == "quiet" else ""
                return Examined(server.id, view, lists, decision.how, took, False, reason)
            if server.failure is not None:
                return _failed(server.failure, job.began)
            if server.session.supports(PULL, key_of(server, file)):
                # It said so only after it was up (pyright does), and from now on pushes nothing.
                job.tickets = _pulls(server, file, text)
                return (yield from self._pulled(job, call))
            if isinstance(decision, Unknown):
                took = time.monotonic() - job.began
                return Examined(server.id, view, (), "none", took, True, decision.reason)
            outcome = yield (news, decision.until)
            if outcome is Outcome.CANCELLED:
                return _failed(Cancelled("the call was cancelled"), job.began, server.id)


def _failed(problem: LspkitError, began: float, server: str = "") -> Examined:
    late = isinstance(problem, RequestTimeout)
    took = time.monotonic() - began
    named = server or getattr(problem, "server", "")
    return Examined(named, None, (), "none", took, late, problem.message)


def _pulls(server: Server, file: File, text: str | None) -> list[Ticket]:
    return [server.ask_about(file, text, PULL, _pull(one)) for one in _identifiers(server, file)]


def _identifiers(server: Server, file: File) -> list[str | None]:
    """A server may have several kinds of diagnostics, to be asked for one by one."""
    capabilities = server.session.capabilities
    found = [
        options.get("identifier") for options in capabilities.options(PULL, key_of(server, file))
    ]
    provider = capabilities.static.get("diagnosticProvider")
    if isinstance(provider, dict):
        found.append(provider.get("identifier"))
    return list(dict.fromkeys(found)) or [None]


def _pull(identifier: str | None) -> Any:
    def build(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if identifier is not None:
            params["identifier"] = identifier
        return params

    return build
