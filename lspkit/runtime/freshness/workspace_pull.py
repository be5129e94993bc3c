"""Findings about a whole project, from servers that send them in one answer."""

from __future__ import annotations

import time

import msgspec

from lspkit.errors import CancelledError
from lspkit.msgspec_types import make_decoder
from lspkit.operations.host_results import Examined
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS, PULL_WORKSPACE
from lspkit.protocol.uris import normalize_uri
from lspkit.protocol.wire.results import read_raw_items, read_report
from lspkit.runtime.exchange.ask_server import request_deadline, request_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.replies import nowhere
from lspkit.runtime.server.server import Server

#: A result id that no server has given. With one, a server that sends only changes answers at once,
#: even if there are none; without, it may delay the answer until there are.
NOT_THE_LAST = "lspkit"


class _Entry(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


class _Answer(msgspec.Struct, frozen=True):
    items: msgspec.Raw = msgspec.Raw(b"[]")


_entry = make_decoder(_Entry)
_answer = make_decoder(_Answer)


def offers_workspace_pull(server: Server) -> bool:
    """Whether the server offers it, statically or by a registration, and is known to do it well."""
    definition = server.choice.definition
    if not definition.caveats.workspace_pull or any(rule.untried for rule in definition.proofs):
        return False
    capabilities = server.channel.session.capabilities
    offers = [
        capabilities.static.get("diagnosticProvider"),
        *capabilities.options(PULL_DIAGNOSTICS),
    ]
    return any(isinstance(offer, dict) and offer.get("workspaceDiagnostics") for offer in offers)


def pull_workspace(context: Context, server: Server, uri: str) -> dict[str, Examined]:
    """The findings of all files that it reports on; `uri` is one of its own.

    It may send them in parts. If it does not finish, the parts so far are used.
    """
    began = time.monotonic()
    until = request_deadline(context, server)
    progress = server.channel.session.progress
    with server.channel.lock:
        token = progress.expect_parts()
    answers: list[bytes] = []
    failed: dict[str, Examined] = {}
    try:
        known = [{"uri": uri, "value": NOT_THE_LAST}]
        params = {"previousResultIds": known, "partialResultToken": token}
        reply = request_server(context, server, PULL_WORKSPACE, params, until)
        answers.append(reply.result)
    except (*OWN_FAULTS, CancelledError) as problem:
        took = time.monotonic() - began
        failed[""] = not_checked(server, problem.message, took)
    finally:
        with server.channel.lock:
            answers[:0] = progress.parts_of(token)
    took = time.monotonic() - began
    findings: dict[str, Examined] = {}
    for answer in answers:
        findings |= _read(server, answer, took)
    return findings | failed


def _read(server: Server, raw: bytes, took: float) -> dict[str, Examined]:
    findings: dict[str, Examined] = {}
    try:
        pieces = read_raw_items(bytes(_answer.decode(raw).items))
        for piece in pieces.items:
            entry = _entry.decode(piece)
            report = read_report(piece)
            if report is None:
                return _nonsense(server, took)
            if report.kind != "full":
                continue
            uri = normalize_uri(entry.uri)
            # Not the view of a document: the positions refer to texts that are still to be read.
            view = msgspec.structs.replace(nowhere(server), version=entry.version or 0)
            findings[uri] = Examined(server.id, view, (bytes(report.items),), "pull", took)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _nonsense(server, took)
    return findings if not pieces.dropped else _nonsense(server, took)


def _nonsense(server: Server, took: float) -> dict[str, Examined]:
    reason = f"it answered {PULL_WORKSPACE} with something that is not a report"
    return {"": not_checked(server, reason, took)}


def not_checked(server: Server, reason: str, took: float = 0.0) -> Examined:
    """The result of a server that has not checked a file, and why."""
    return Examined(server.id, None, (), "none", took, False, reason)
