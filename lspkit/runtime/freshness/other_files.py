"""Checks of the other files that a server knows, after a change: which files, and how.

Used by `check(scope="project")` and by the hooks. A server with workspace diagnostics is asked for
those. For any other server, the files are checked that refer to the change; then, in the time that
is left, those that the caller names, that the server has findings about, and that it has open. A
closed file is opened for that, since a server may give an empty answer about a closed file.

Known findings are never contradicted: a file with findings that is not checked is unknown.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

import msgspec

from lspkit.diagnostics.store import StoredReport
from lspkit.errors import CancelledError, LspkitError
from lspkit.msgspec_types import make_decoder
from lspkit.operations.checks.findings import severity_from_number
from lspkit.operations.host import OtherScope
from lspkit.operations.host_results import Elsewhere, Examined, OthersExamined
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS, PULL_WORKSPACE
from lspkit.protocol.uris import normalize_uri, path_to_uri, uri_to_path
from lspkit.protocol.wire.results import read_diagnostics, read_raw_items, read_report
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.exchange.ask_server import nowhere, request_server
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File
from lspkit.runtime.freshness.unsaved_neighbours import unsaved_neighbours
from lspkit.runtime.server.server import Server
from lspkit.types import Severity

#: A result id that no server has given. With one, a server that sends only changes answers at once,
#: even if there are none; without, it may delay the answer until there are.
NOT_THE_LAST = "lspkit"
#: How many closed files are opened at most.
MOST_OPENED = 20
#: How many files are checked at the same time: a server may check one with each processor.
AT_A_TIME = 2 * (os.cpu_count() or 1)
#: Why a file that was left out is unknown.
LEFT_OUT = "it has findings from before, and was not asked again: there are too many files"
#: Why a file of another language than the server's is unknown.
FROM_BEFORE = "it has findings from before the last change, and cannot be asked about such a file"
#: Checks a file by one server. The last argument is the document of the call.
ExamineFile = Callable[[Context, Server, File, str], list[Examined]]


class OtherFilesResult(msgspec.Struct):
    """Findings in other files, by URI; under `""`, servers that did not check any."""

    by_uri: dict[str, list[Examined]] = msgspec.field(default_factory=dict)
    coverage: str = "none"
    #: Whether a server that has checked them takes the unsaved text of another file into account.
    sees_unsaved: bool = False
    #: When it began, by the monotonic clock.
    began: float = msgspec.field(default_factory=time.monotonic)

    def add(self, other: OtherFilesResult) -> None:
        """Add the findings of another server; the coverage is that of the weakest server."""
        for uri, examined in other.by_uri.items():
            self.by_uri.setdefault(uri, []).extend(examined)
        if other.coverage == "open":
            self.coverage = "open"
        self.sees_unsaved = self.sees_unsaved or other.sees_unsaved

    def add_missed(self, examined: Examined) -> None:
        """A server has not checked any file."""
        self.by_uri.setdefault("", []).append(examined)

    def as_result(self, severity: Severity) -> OthersExamined:
        """The findings as a result."""
        elsewhere = tuple(Elsewhere(uri, tuple(self.by_uri[uri])) for uri in sorted(self.by_uri))
        took = time.monotonic() - self.began
        return OthersExamined(elsewhere, self.coverage, severity, took, self.sees_unsaved)


def check_other_files(
    context: Context,
    server: Server,
    paths: list[str],
    scope: OtherScope,
    examine_file: ExamineFile,
    own: str = "",
) -> OtherFilesResult:
    """The state of all files except `paths`, of which at least one is of the server.

    `own` is the document of a call that holds its queue entry, perhaps with its own text.
    """
    about = {path_to_uri(path) for path in paths}
    context = context.part(scope.seconds)
    sees_unsaved = server.choice.definition.documents.unsaved != "never"
    if offers_workspace_pull(server):
        others = _examine_whole(context, server, paths[0], about, own)
        others.sees_unsaved = sees_unsaved
        if scope.only:
            named = {*_dependents(server, scope), *_known(server, scope)}
            others.by_uri = {uri: results for uri, results in others.by_uri.items() if uri in named}
        return others
    others, seen = OtherFilesResult(coverage="open", sees_unsaved=sees_unsaved), set(about)
    room = MOST_OPENED + len(scope.dependents) if scope.most is None else scope.most
    try:
        for listed in (_dependents, _known):
            while True:
                batch, room = _next_batch(context, server, listed(server, scope), scope, seen, room)
                if not batch:
                    break
                seen.update(batch)
                others.by_uri |= _examine_batch(context, server, batch, own, examine_file)
                # The check of one file may produce findings about another.
    finally:
        _end_visits(context, server, others.by_uri)
    if not scope.only:
        others.by_uri |= _not_examined(context, server, seen)
    return others


def _examine_whole(
    context: Context, server: Server, path: str, about: set[str], own: str
) -> OtherFilesResult:
    others = OtherFilesResult(coverage="workspace")
    if unseen := unsaved_neighbours(context, server, "", own).unseen:
        others.add_missed(not_checked(server, unseen))
        return others
    findings = pull_workspace(context, server, path_to_uri(path))
    others.by_uri = {uri: [result] for uri, result in findings.items() if uri not in about}
    return others


def _next_batch(
    context: Context,
    server: Server,
    wanted: list[str],
    scope: OtherScope,
    seen: set[str],
    room: int,
) -> tuple[list[str], int]:
    """The files to check next, by URI, and how many more may be opened after them."""
    opened = _open_documents(server)
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


def _open_documents(server: Server) -> dict[str, None]:
    with server.channel.lock:
        return dict.fromkeys(document.key.uri for document in server.channel.documents)


def _dependents(server: Server, scope: OtherScope) -> list[str]:
    """The files that refer to what has changed, by URI: they are checked before all others."""
    checks_alone = server.choice.definition.role == "lint"
    return [] if checks_alone else [path_to_uri(path) for path in scope.dependents]


def _known(server: Server, scope: OtherScope) -> list[str]:
    """The other files that the caller names or the server knows, by URI."""
    named = [path_to_uri(path) for path in scope.first]
    if scope.only:
        return named
    worst = worst_first(server.record.known())
    return [*named, *worst, *reversed(_open_documents(server))]


def _is_for(context: Context, server: Server, uri: str) -> bool:
    """Whether the server serves a closed file."""
    path = uri_to_path(uri)
    key = (server.id, server.root)
    return path is not None and key in context.pool.expected(path)


def _examine_batch(
    context: Context, server: Server, batch: list[str], own: str, examine_file: ExamineFile
) -> dict[str, list[Examined]]:
    """The checks of files, in order, some at a time: the first ones are finished in time."""
    by_uri: dict[str, list[Examined]] = {}
    at_a_time = len(batch) if _mostly_waits(server) else AT_A_TIME
    for first in range(0, len(batch), at_a_time):
        uris = batch[first : first + at_a_time]
        jobs = [partial(_examine_one, context, server, uri, own, examine_file) for uri in uris]
        for uri, results in zip(uris, in_parallel(context.threads, jobs), strict=True):
            if isinstance(results, Exception):
                raise results
            if results:
                by_uri[uri] = results
    return by_uri


def _mostly_waits(server: Server) -> bool:
    """Whether a check is mostly waiting: then all files wait at the same time."""
    rules = server.choice.definition.proofs
    return server.channel.observations.versionless or any(rule.how == "quiet" for rule in rules)


def _has_findings(reports: list[StoredReport], severity: Severity) -> bool:
    """Whether the last reports about a file have findings of this severity or worse."""
    return any(
        severity_from_number(finding.severity).counts(severity)
        for report in reports
        for finding in read_diagnostics(report.items).items
    )


def _examine_one(
    context: Context, server: Server, uri: str, own: str, examine_file: ExamineFile
) -> list[Examined]:
    file = context.files.again(uri, since=context.call.began)
    if file is None or file.stamp is None:
        return []
    with server.channel.lock:
        if not context.call.is_over and server.channel.documents.get(uri) is None:
            server.visited.add(uri)
    try:
        results = examine_file(context, server, file, own)
    except LspkitError as problem:  # it is no text any more
        results = [not_checked(server, problem.message)]
    return [result for result in results if result.how != "not applicable"]


def _not_examined(context: Context, server: Server, seen: set[str]) -> dict[str, list[Examined]]:
    """What is known about files that were left out."""
    changed = server.channel.clock.told_at()
    left: dict[str, list[Examined]] = {}
    for report in server.record.known():
        file = context.files.again(report.uri) if report.uri not in seen else None
        if file is None or file.stamp is None:
            continue
        if _is_for(context, server, report.uri):
            result = not_checked(server, LEFT_OUT)
        elif report.at < changed:
            result = not_checked(server, FROM_BEFORE)
        else:
            result = Examined(server.id, nowhere(server), (report.items,), "quiet", 0.0)
        left.setdefault(report.uri, []).append(result)
    return left


def worst_first(known: list[StoredReport]) -> list[str]:
    """The files with findings, by URI; if there are many, those with errors first."""
    if len(known) <= MOST_OPENED:
        return [report.uri for report in known]
    worst: dict[str, int] = {}
    for report in known:
        ranks = [finding.severity or 1 for finding in read_diagnostics(report.items).items]
        worst[report.uri] = min(*ranks, worst.get(report.uri, 9), 9)
    return sorted(worst, key=lambda uri: worst[uri])


# Documents that are open only because a check of other files has opened them
#
# A server that sends findings by itself checks all open documents again after a change, and a
# request waits for that. So a document without errors is closed at the end of the check of other
# files. One whose check has not ended stays open: it is checked the next time. So does one with
# errors: the server then notices what repairs it.


def _end_visits(context: Context, server: Server, by_uri: dict[str, list[Examined]]) -> None:
    """Close such documents, except those that a caller uses or that have another text."""
    severity, channel = Severity(context.pool.config.diagnostics.severity), server.channel
    broken = {uri for uri in by_uri if _has_findings(server.record.remembered(uri), severity)}
    done = {uri for uri, each in by_uri.items() if all(result.how != "none" for result in each)}
    with channel.lock:
        if not _checks_open_documents(server):
            return
        for uri in sorted((server.visited & done) - broken - channel.in_use()):
            server.visited.discard(uri)
            document = channel.documents.get(uri)
            if document is None or document.unsure or not document.is_on_disk:
                continue
            try:
                channel.post(channel.documents.close(uri))
            except LspkitError:
                return  # it has ended
            channel.documents.commit()


def _checks_open_documents(server: Server) -> bool:
    """Whether it checks open documents by itself, and sends what it finds."""
    pulls = server.channel.session.supports(PULL_DIAGNOSTICS)
    how = [rule.how or ("pull" if pulls else "version") for rule in server.choice.definition.proofs]
    return "version" in how or "quiet" in how


# Findings about a whole project, from servers that send them in one answer


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
    progress = server.channel.session.progress
    with server.channel.lock:
        token = progress.expect_parts()
    answers: list[bytes] = []
    failed: dict[str, Examined] = {}
    try:
        known = [{"uri": uri, "value": NOT_THE_LAST}]
        params = {"previousResultIds": known, "partialResultToken": token}
        reply = request_server(context, server, PULL_WORKSPACE, params)
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
