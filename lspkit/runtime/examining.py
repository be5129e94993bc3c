"""Fresh diagnostics of one file from all its servers, as generators of waits.

A server that can be asked for diagnostics is asked (`pull`); for the others the push that speaks of
this very version is awaited (`diagnostics/settle.py` decides). All servers work at the same time.
Callers who check one document take turns, so that one's text never answers for another's.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

from lspkit.diagnostics.settle import Settled, Target, Unknown, settle
from lspkit.errors import Cancelled, LspkitError, RequestTimeout
from lspkit.operations import Examination, Examine, Examined
from lspkit.protocol.documents import View
from lspkit.protocol.shapes import read_report
from lspkit.protocol.text import Encoding, Text
from lspkit.runtime.asking import OWN_FAULTS, Asking, key_of, view_of
from lspkit.runtime.conversation import Build
from lspkit.runtime.files import File
from lspkit.runtime.server import Server
from lspkit.runtime.waiting import Call, Outcome, Steps, together

log = logging.getLogger("lspkit.runtime")

PULL = "textDocument/diagnostic"
#: A server that gives no versions, and stays silent, is waited for no longer than this.
SILENCE = 3.0


class Examining:
    """How the engine examines a file. Holds no state of its own."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def examine(self, effect: Examine, call: Call) -> Steps[Examination]:
        """Perform `Examine`. A caller's time limit or cancel ends it early, with what is known."""
        began = time.monotonic()
        files, config = self._asking.files, self._asking.pool.config
        file = files.locate(effect.path, may_be_missing=effect.text is not None)
        servers, failures = self._asking.pool.servers_for(file.path)
        jobs = [self._examine_one(one, file, effect, call) for one in servers]
        results = [_failed(problem, began) for problem in failures]
        for result in (yield from together(jobs, call)):
            if isinstance(result, Exception):
                raise result
            results.append(result)
            took = result.duration * 1000
            log.debug("%s: %s by %s in %.1f ms", file.path, result.server, result.how, took)
        return Examination(
            path=Path(file.path),
            uri=file.uri,
            servers=tuple(results),
            severities=config.diagnostics.include_severities,
            most=config.diagnostics.max_per_file,
            duration=time.monotonic() - began,
        )

    def _examine_one(
        self, server: Server, file: File, effect: Examine, call: Call
    ) -> Steps[Examined]:
        """One server: its own faults are its result, those of the file are raised."""
        began = time.monotonic()
        turn = server.turns.take(file.uri)
        try:
            yield from self._asking.loaded(server, file, effect.text, call)
            yield from self._asking.wait(server, turn, call.deadline, PULL)
            yield from self._asking.room(server, PULL, call.deadline)
            self._asking.refresh(server)
            if server.session.supports(PULL, key_of(server, file)):
                return (yield from self._pulled(server, file, effect, call, began))
            return (yield from self._pushed(server, file, effect, call, began))
        except (*OWN_FAULTS, Cancelled) as problem:
            return _failed(problem, began, server.id)
        finally:
            if effect.text is not None and turn.done:
                self._asking.restore(server, effect.path)
            server.turns.end(file.uri, turn)

    def _pulled(
        self, server: Server, file: File, effect: Examine, call: Call, began: float
    ) -> Steps[Examined]:
        until = call.deadline
        if until == float("inf"):
            until = time.monotonic() + self._asking.request_timeout(server)
        lists: list[bytes] = []
        view: View | None = None
        for identifier in _identifiers(server, file):
            build = _pull(identifier)
            reply = yield from self._asking.asked(server, file, effect.text, PULL, build, until)
            view = reply.view
            report = read_report(reply.result)
            if report is None:
                nonsense = f"{server.id} answered with something that is no report"
                return Examined(server.id, None, (), "none", _since(began), False, nonsense)
            lists.append(bytes(report.items))
        if effect.text is None and view is not None:
            server.pulled(view, lists)
        if view is not None:
            lists += self._pushed_beside(server, view)
        return Examined(server.id, view, tuple(lists), "pull", _since(began))

    def _pushed_beside(self, server: Server, view: View) -> list[bytes]:
        """What a server that is asked has also said by itself about this text (cargo check)."""
        push = server.last_push(view.uri)
        if push is None or push.version != view.version:
            return []
        return [push.items] if push.at > server.written_at(view.uri) else []

    def _pushed(
        self, server: Server, file: File, effect: Examine, call: Call, began: float
    ) -> Steps[Examined]:
        ticket = server.sync(file, effect.text)
        view = view_of(ticket)
        target = self._target(server, view, call, began)
        while True:
            news = server.news.next()
            decision = settle(target, server.last_push(file.uri), time.monotonic())
            if isinstance(decision, Settled):
                lists = (decision.push.items,)
                quiet = "it gives no version, so its silence proves nothing"
                reason = quiet if decision.how == "quiet" else ""
                if server.version_of(file.uri) == view.version:
                    took = _since(began)
                    return Examined(server.id, view, lists, decision.how, took, False, reason)
                decision = Unknown("the text was changed meanwhile")
            if server.failure is not None:
                raise server.failure.renewed()
            if server.session.supports(PULL, key_of(server, file)):
                # It said so only after it was up (pyright does), and from now on pushes nothing.
                return (yield from self._pulled(server, file, effect, call, began))
            if isinstance(decision, Unknown):
                server.give_up_if_stuck(ticket, began, self._asking.request_timeout(server))
                took = _since(began)
                return Examined(server.id, view, (), "none", took, True, decision.reason)
            outcome = yield (news, decision.until)
            if outcome is Outcome.CANCELLED:
                raise Cancelled("the call was cancelled")

    def _target(self, server: Server, view: View, call: Call, began: float) -> Target:
        """What to wait for, and how long."""
        deadline, last = call.deadline, server.last_push(view.uri)
        changed_at = server.written_at(view.uri)
        spoken = last is not None and last.version == view.version
        if spoken or not server.gives_versions:
            deadline = min(deadline, began + SILENCE)
        if last is not None and spoken and last.at <= changed_at:
            # It has spoken about this text, but something else has changed since.
            server.nudge(view.uri)
        debounce = self._asking.pool.config.timing.debounce_ms / 1000
        return Target(view.version, changed_at, deadline, debounce)


def _since(began: float) -> float:
    return time.monotonic() - began


def _failed(problem: LspkitError, began: float, server: str = "") -> Examined:
    late = isinstance(problem, RequestTimeout)
    named = server or getattr(problem, "server", "")
    return Examined(named, None, (), "none", _since(began), late, problem.message)


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


def _pull(identifier: str | None) -> Build:
    def build(uri: str, _: Text, __: Encoding) -> dict[str, Any]:
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if identifier is not None:
            params["identifier"] = identifier
        return params

    return build
