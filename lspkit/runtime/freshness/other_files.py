"""Checks of the other files that a server knows, after a change: which files, and how.

Used by `check(scope="project")` and by the hooks. A server with workspace diagnostics is asked for
those. For any other server, the files are checked one by one that the caller names, that the server
has findings about, and that it has open. A closed file is opened for that, since a server may give
an empty answer about a closed file.

Known findings are never contradicted: a file with findings that is not checked is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from lspkit.diagnostics.store import StoredReport
from lspkit.errors import CancelledError, LspkitError
from lspkit.msgspec_types import prepare_struct
from lspkit.operations.effect_results import Elsewhere, Examined, OthersExamined
from lspkit.operations.effects import OtherScope
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.protocol.methods import PULL_DIAGNOSTICS, PULL_WORKSPACE
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.protocol.uris import normalize_uri, path_to_uri, uri_to_path
from lspkit.protocol.wire.raw_items import read_raw_items
from lspkit.protocol.wire.results import read_diagnostics, read_report
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.ask_server import request_deadline, request_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.replies import nowhere
from lspkit.runtime.files import File
from lspkit.runtime.freshness.unsaved_neighbours import beside
from lspkit.runtime.server.server import Server

#: How many closed files are opened at most.
MOST_OPENED = 20
#: Why a file that was left out is unknown.
LEFT_OUT = "it has findings from before, and was not asked again: there are too many files"
#: Why a file of another language than the server's is unknown.
FROM_BEFORE = "it has findings from before the last change, and cannot be asked about such a file"
#: A result id that no server has given. With one, a server that sends only changes answers at once,
#: even if there are none; without, it may delay the answer until there are.
NOT_THE_LAST = "lspkit"

#: Checks a file by one server. The last argument is the document of the call.
ExamineFile = Callable[[Context, Server, File, CallContext, str], Steps[list[Examined]]]


class OtherFilesResult(msgspec.Struct):
    """Findings in other files, by URI; under `""`, servers that did not check any."""

    by_uri: dict[str, list[Examined]] = msgspec.field(default_factory=dict)
    coverage: str = "none"
    #: When it began, by the monotonic clock.
    began: float = msgspec.field(default_factory=time.monotonic)

    def add(self, other: OtherFilesResult) -> None:
        """Add the findings of another server; the coverage is that of the weakest server."""
        for uri, examined in other.by_uri.items():
            self.by_uri.setdefault(uri, []).extend(examined)
        if other.coverage == "open":
            self.coverage = "open"

    def missed(self, examined: Examined) -> None:
        """A server has not checked any file."""
        self.by_uri.setdefault("", []).append(examined)

    def told(self, severities: tuple[str, ...]) -> OthersExamined:
        """The result of the effect."""
        found = tuple(Elsewhere(uri, tuple(self.by_uri[uri])) for uri in sorted(self.by_uri))
        return OthersExamined(found, self.coverage, severities, time.monotonic() - self.began)


def check_other_files(
    context: Context,
    server: Server,
    paths: list[str],
    scope: OtherScope,
    call: CallContext,
    examine_file: ExamineFile,
    own: str = "",
) -> Steps[OtherFilesResult]:
    """The state of all files except `paths`, of which at least one is of the server.

    `own` is the document of a call that holds its queue entry, perhaps with its own text.
    """
    about = {path_to_uri(path) for path in paths}
    call = call.part(scope.seconds)
    if offers_workspace_pull(server):
        others = yield from _examine_whole(context, server, paths[0], about, call, own)
        if scope.only:
            named = set(_named(server, scope))
            others.by_uri = {uri: one for uri, one in others.by_uri.items() if uri in named}
        return others
    others, seen = OtherFilesResult(coverage="open"), set(about)
    room = MOST_OPENED + len(scope.dependents) if scope.most is None else scope.most
    while True:
        batch, room = _next_batch(context, server, scope, seen, room)
        if not batch:
            break
        seen.update(batch)
        jobs = [_examine_one(context, server, uri, own, call, examine_file) for uri in batch]
        for uri, result in zip(batch, (yield from together(jobs, call)), strict=True):
            if isinstance(result, Exception):
                raise result
            if result:
                others.by_uri[uri] = result
        # The check of one file may produce findings about another.
    if not scope.only:
        others.by_uri |= _not_examined(context, server, seen)
    return others


def _examine_whole(
    context: Context, server: Server, path: str, about: set[str], call: CallContext, own: str
) -> Steps[OtherFilesResult]:
    others = OtherFilesResult(coverage="workspace")
    if unseen := beside(server, "", context.files, context.pool, own).unseen:
        others.missed(_unknown(server, unseen))
        return others
    found = yield from pull_workspace(context, server, path_to_uri(path), call)
    others.by_uri = {uri: [one] for uri, one in found.items() if uri not in about}
    return others


def _next_batch(
    context: Context, server: Server, scope: OtherScope, seen: set[str], room: int
) -> tuple[list[str], int]:
    """The files to check next, by URI, and how many more may be opened after them."""
    with server.channel.lock:
        opened = dict.fromkeys(one.key.uri for one in server.channel.documents)
    wanted = _named(server, scope)
    if not scope.only:
        wanted += [*worst_first(server.record.known()), *reversed(opened)]
    batch: list[str] = []
    for uri in dict.fromkeys(wanted):
        if uri in seen or not (uri in opened or _is_for(context, server, uri)):
            continue
        if scope.most is not None or uri not in opened:
            if room <= 0:
                continue
            room -= 1
        batch.append(uri)
    return batch, room


def _named(server: Server, scope: OtherScope) -> list[str]:
    """The files that the caller names, by URI."""
    checks_alone = server.choice.definition.role == "lint"
    dependents = () if checks_alone else scope.dependents
    return [path_to_uri(path) for path in (*dependents, *scope.first)]


def _is_for(context: Context, server: Server, uri: str) -> bool:
    """Whether the server serves a closed file."""
    path = uri_to_path(uri)
    key = (server.id, server.root)
    return path is not None and key in context.pool.expected(path)


def _examine_one(
    context: Context,
    server: Server,
    uri: str,
    own: str,
    call: CallContext,
    examine_file: ExamineFile,
) -> Steps[list[Examined]]:
    file = context.files.again(uri, since=call.began)
    if file is None or file.stamp is None:
        return []
    try:
        results = yield from examine_file(context, server, file, call, own)
    except LspkitError as problem:  # it is no text any more
        results = [_unknown(server, problem.message)]
    return [one for one in results if one.how != "not applicable"]


def _not_examined(context: Context, server: Server, seen: set[str]) -> dict[str, list[Examined]]:
    """What is known about files that were left out."""
    changed = server.channel.clock.told_at()
    left: dict[str, list[Examined]] = {}
    for said in server.record.known():
        file = context.files.again(said.uri) if said.uri not in seen else None
        if file is None or file.stamp is None:
            continue
        if _is_for(context, server, said.uri):
            one = _unknown(server, LEFT_OUT)
        elif said.at < changed:
            one = _unknown(server, FROM_BEFORE)
        else:
            one = Examined(server.id, nowhere(server), (said.items,), "quiet", 0.0)
        left.setdefault(said.uri, []).append(one)
    return left


def _unknown(server: Server, reason: str, took: float = 0.0) -> Examined:
    return Examined(server.id, None, (), "none", took, False, reason)


def worst_first(known: list[StoredReport]) -> list[str]:
    """The files with findings, by URI; if there are many, those with errors first."""
    if len(known) <= MOST_OPENED:
        return [said.uri for said in known]
    worst: dict[str, int] = {}
    for said in known:
        ranks = [one.severity or 1 for one in read_diagnostics(said.items).items]
        worst[said.uri] = min(*ranks, worst.get(said.uri, 9), 9)
    return sorted(worst, key=lambda uri: worst[uri])


# Findings about a whole project, from servers that send them in one answer


@prepare_struct
class _Entry(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


@prepare_struct
class _Answer(msgspec.Struct, frozen=True):
    items: msgspec.Raw = msgspec.Raw(b"[]")


def offers_workspace_pull(server: Server) -> bool:
    """Whether the server offers it, statically or by a registration."""
    if not server.choice.definition.caveats.workspace_pull:
        return False
    capabilities = server.channel.session.capabilities
    offers = [
        capabilities.static.get("diagnosticProvider"),
        *capabilities.options(PULL_DIAGNOSTICS),
    ]
    return any(isinstance(one, dict) and one.get("workspaceDiagnostics") for one in offers)


def pull_workspace(
    context: Context, server: Server, uri: str, call: CallContext
) -> Steps[dict[str, Examined]]:
    """The findings of all files that it reports on; `uri` is one of its own.

    It may send them in parts. If it does not finish, the parts so far are used.
    """
    began = time.monotonic()
    until = request_deadline(context, server, call)
    progress = server.channel.session.progress
    with server.channel.lock:
        token = progress.expect_parts()
    answers: list[bytes] = []
    failed: dict[str, Examined] = {}
    try:
        known = [{"uri": uri, "value": NOT_THE_LAST}]
        params = {"previousResultIds": known, "partialResultToken": token}
        reply = yield from request_server(context, server, PULL_WORKSPACE, params, until)
        answers.append(reply.result)
    except (*OWN_FAULTS, CancelledError) as problem:
        took = time.monotonic() - began
        failed[""] = _unknown(server, problem.message, took)
    finally:
        with server.channel.lock:
            answers[:0] = progress.parts_of(token)
    took = time.monotonic() - began
    found: dict[str, Examined] = {}
    for one in answers:
        found |= _read(server, one, took)
    return found | failed


def _read(server: Server, raw: bytes, took: float) -> dict[str, Examined]:
    found: dict[str, Examined] = {}
    try:
        pieces = read_raw_items(bytes(msgspec.json.decode(raw, type=_Answer).items))
        for piece in pieces.items:
            entry = msgspec.json.decode(piece, type=_Entry)
            report = read_report(piece)
            if report is None:
                return _nonsense(server, took)
            if report.kind != "full":
                continue
            uri = normalize_uri(entry.uri)
            view = View(uri, Text(""), entry.version or 0, server.channel.session.encoding)
            found[uri] = Examined(server.id, view, (bytes(report.items),), "pull", took)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _nonsense(server, took)
    return found if not pieces.dropped else _nonsense(server, took)


def _nonsense(server: Server, took: float) -> dict[str, Examined]:
    reason = f"it answered {PULL_WORKSPACE} with something that is not a report"
    return {"": _unknown(server, reason, took)}
