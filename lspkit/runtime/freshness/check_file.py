"""Fresh diagnostics of files from all their servers.

All servers of a file work at the same time; `proof_by_request.py` gets the findings of each source,
with a proof. Checks of one document are serialised; a check with `text=` has the server to itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from lspkit import errors
from lspkit.diagnostics.freshness_events import CHANGED
from lspkit.operations.host import OtherScope
from lspkit.operations.host_results import Examination, Examined, OthersExamined
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.protocol.methods import PULL_DIAGNOSTICS
from lspkit.protocol.text import Unsaved
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.exchange import disk_sync
from lspkit.runtime.exchange.ask_server import wait_for_room, wait_for_turn, wait_until_ready
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import prepare_server, wait_while_reloading
from lspkit.runtime.exchange.replies import nowhere
from lspkit.runtime.files import File
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.freshness.begun_checks import begin_checks
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.other_files import OtherFilesResult, check_other_files
from lspkit.runtime.freshness.proof_by_request import prove
from lspkit.runtime.freshness.server_catch_up import OUTDATED, wait_for_reread, wait_until_read
from lspkit.runtime.freshness.unsaved_neighbours import (
    UnsavedNeighbours,
    beside,
    doubt_of_new_file,
    judged,
)
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.metrics import log_findings
from lspkit.runtime.server.server import Server

#: How often a check is started: a server may have to be restarted, and its start may fail.
MOST_TRIES = 3
#: Why another file is unknown.
NO_TIME = "no time was left to check it"


class FileCheck(msgspec.Struct, frozen=True):
    """What is examined: the parameters of `Host.examine`."""

    path: str
    text: str | None = None
    others: OtherScope | None = None
    beside: Mapping[str, str] = {}


def check_file(context: Context, baselines: Baselines, wanted: FileCheck) -> Examination:
    """The results of all servers of a file; what is known after a timeout or a cancel."""
    began = time.monotonic()
    config = context.pool.config
    file = disk_sync.locate(context, wanted.path, wanted.text)
    for _ in range(MOST_TRIES):
        whole, again = _examine_by_all(context, file, wanted)
        if not again:
            break
    for one in whole.examined:
        took = f"by {one.how} in {one.duration * 1000:.1f} ms"
        log_findings(one.server, file.path, one.lists, took)
    return Examination(
        path=context.files.place(file.uri).path or Path(file.path),
        uri=file.uri,
        servers=tuple(whole.examined),
        severities=config.diagnostics.include_severities,
        most=config.diagnostics.max_per_file,
        duration=time.monotonic() - began,
        on_disk=_is_on_disk(file, wanted) and not whole.beside,
        before=baselines.get(file.path),
        others=whole.others.told(config.diagnostics.include_severities),
    )


def check_others(context: Context, edited: Sequence[str], scope: OtherScope) -> OthersExamined:
    """The findings in other files than the edited ones. Nothing is known without a server."""
    severities = context.pool.config.diagnostics.include_severities
    for _ in range(MOST_TRIES):
        others, servers = OtherFilesResult(coverage="workspace"), dict[Server, str]()
        paths: list[str] = []
        for path in edited:
            try:
                # A file that was deleted has servers, too: they know the others.
                file = disk_sync.locate(context, path, "")
                text = "" if file.stamp is None else None
                found, failures = disk_sync.servers_of(context, file, text)
            except errors.LspkitError:
                continue
            paths.append(file.path)
            servers |= {one: file.path for one in found if one not in servers}
            for problem in failures:
                others.missed(_failed(problem, time.monotonic()))
        if not servers:
            return OthersExamined()
        jobs = [partial(_others_of, context, one, paths, servers[one], scope) for one in servers]
        for result in in_parallel(context.threads, jobs):
            if isinstance(result, Exception):
                raise result
            others.add(result)
        if not any(one.may_be_replaced for one in servers):
            break
    return others.told(severities)


def _others_of(
    context: Context, server: Server, paths: list[str], own: str, scope: OtherScope
) -> OtherFilesResult:
    """The findings of one server in other files than these, of which one is its own."""
    began = time.monotonic()
    try:
        wait_until_ready(context, server)
        disk_sync.refresh_documents(context, server)
        about = [own, *paths]
        return check_other_files(context, server, about, scope, _examine_other)
    except (*OWN_FAULTS, errors.CancelledError) as problem:
        others = OtherFilesResult(coverage="open")
        others.missed(_failed(problem, began, server.id))
        return others


def _examine_by_all(context: Context, file: File, wanted: FileCheck) -> tuple[_SourceResult, bool]:
    """The findings of all servers of a file, and whether one of them has to be restarted."""
    began = time.monotonic()
    servers: list[Server] = []
    failures: list[errors.LspkitError] = []
    try:
        servers, failures = disk_sync.servers_of(context, file, wanted.text)
    except errors.RequestTimeoutError as late:
        failures = [late]
    except errors.ServerBrokenError as problem:
        if not problem.attempts:
            raise
        failures = [problem]  # it is too early to restart it
    whole = _SourceResult(examined=[_failed(problem, began) for problem in failures])
    if wanted.others is not None:
        whole.others.coverage = "workspace"
        for one in whole.examined:
            whole.others.missed(one)
    for server in servers:
        server.visited.discard(file.uri)  # the caller's own document stays open
    for found in _examine_by_each(context, servers, file, wanted):
        if isinstance(found, Exception):
            raise found
        whole.add(found)
    absent = [one for one in failures if isinstance(one, errors.ServerUnavailableError)]
    if servers and len(whole.absent) + len(absent) == len(servers) + len(failures):
        raise whole.absent[0].copy()  # as if the servers had been missing before
    return whole, any(one.may_be_replaced for one in servers)


def _examine_by_each(
    context: Context, servers: list[Server], file: File, wanted: FileCheck
) -> list[_SourceResult | Exception]:
    """The findings of each server. All work at the same time."""
    jobs = [partial(_examine_one, context, server, file, wanted) for server in servers]
    is_plain = wanted.text is None and wanted.others is None
    if len(servers) > 1 and is_plain and begin_checks(context, servers, file):
        # All are asked: their answers are waited for one after the other.
        return [result for job in jobs for result in in_parallel(context.threads, [job])]
    return in_parallel(context.threads, jobs)


def _examine_one(
    context: Context, server: Server, file: File, wanted: FileCheck, own: str = ""
) -> _SourceResult:
    """Check by one server: its failures are part of the result, those of the file are raised.

    A call that holds the queue entry of one document, `own`, does not wait for another entry: two
    such calls would block each other. It asks about the text on disk then; a change meanwhile
    makes the result unknown.
    """
    began = time.monotonic()
    exclusive = wanted.text is not None and server.choice.definition.compares_files
    found = _SourceResult()
    shown: list[str] = []
    begun = None if own else context.call.begun.pop((server, file.uri), None)
    if begun is not None and wanted.text is not None:
        begun.drop()
        begun = None
    with QueueEntry(exclusive=exclusive) if begun is None else begun.turn as turn:
        try:
            if not own and begun is None:
                server.channel.queue.join(file.uri, turn)
            prepare_server(context, server, file, wanted.text)
            if not own and not wait_for_turn(
                context, server, turn, PULL_DIAGNOSTICS, may_leave=True
            ):
                raise errors.ServerBrokenError(OUTDATED, server=server.id)
            wait_for_room(context, server, PULL_DIAGNOSTICS, context.call.deadline)
            disk_sync.refresh_documents(context, server)
            for path, text in wanted.beside.items():
                neighbour = context.files.locate(path, may_be_missing=True)
                shown.append(neighbour.uri)
                server.channel.sync(neighbour, text)
            pulls = {} if begun is None else begun.pulls
            subject = CheckSubject(server, file, wanted.text, context.call, began, own, pulls)
            found.examined = _prove_all(context, subject, wanted, found)
            if wanted.others is not None:
                # Before the caller's text is removed: the other files may depend on it.
                found.others = check_other_files(
                    context, server, [file.path], wanted.others, _examine_other, file.uri
                )
        except (*OWN_FAULTS, errors.CancelledError) as problem:
            found.examined.append(_failed(problem, began, server.id))
            found.absent += [problem] if isinstance(problem, errors.ServerUnavailableError) else []
            if wanted.others is not None:
                found.others.coverage = "open"
                found.others.missed(found.examined[-1])
        finally:
            if begun is not None:
                begun.drop()
            for uri in shown:
                disk_sync.restore_document(context, server, uri)
            if wanted.text is not None and turn.done:
                disk_sync.restore_document(context, server, file.uri)
    known = any(one.how != "none" for one in found.examined)
    took = time.monotonic() - began if known else None
    if known:
        context.pool.succeeded(server)
    timed_out = any(one.timed_out for one in found.examined)
    context.pool.slot(server).metrics.checked(took, timed_out=timed_out)
    found.examined = [_with_memories(one, server, file.uri) for one in found.examined]
    return found


def _prove_all(
    context: Context, one: CheckSubject, wanted: FileCheck, found: _SourceResult
) -> list[Examined]:
    """The findings of each source of a server about one text.

    If the text changes meanwhile, it starts again: with the text on disk, or the caller's own.
    """
    while True:
        told = one.server.channel.clock.told_of_files()
        wait_until_read(context, one.server)
        wait_while_reloading(context, one.server)
        wait_for_reread(context, one.server)
        examined: list[Examined] = []
        texts = beside(one.server, one.uri, context.files, context.pool, one.own)
        found.beside = found.beside or bool(texts.name)
        if doubt := doubt_of_new_file(one.server, one.file.path, one.text, context.files):
            texts = UnsavedNeighbours(texts.name, texts.unseen or doubt)
        for rule in one.server.choice.definition.proofs:
            name = "this text" if not _is_on_disk(one.file, wanted) else texts.name
            if one.server.record.outdated:
                examined.append(one.failed(rule, OUTDATED))
            elif rule.sees == "disk" and name:
                nothing = one.failed(rule, f"it sees the disk, and {name} is not there")
                examined.append(msgspec.structs.replace(nothing, how="not applicable"))
            else:
                proven = prove(context, one, rule)
                if (
                    rule.how == "progress"
                    and one.server.adapter.start_work
                    and not one.call.is_over
                ):
                    examined = _ask_again(context, one, examined, texts, told)
                examined.append(judged(proven, one.server, texts))
        examined = of_one_text(examined)
        if all(result.reason != CHANGED for result in examined):
            return examined
        if one.call.is_over or (one.own and not one.server.channel.shows_disk(one.uri)):
            return examined  # the call that holds the entry shows its own text
        if wanted.text is None:
            file = context.files.again(one.uri)
            if file is None or file.stamp is None:
                return examined
            one = msgspec.structs.replace(one, file=file)


def _ask_again(
    context: Context,
    one: CheckSubject,
    examined: list[Examined],
    texts: UnsavedNeighbours,
    told: int,
) -> list[Examined]:
    """The findings of the first sources, after another source has run programs that write files.

    They are requested again if the server was told of files since the notification `told`.
    """
    again: list[Examined] = []
    rules = one.server.choice.definition.proofs[: len(examined)]
    try:
        disk_sync.catch_up_again(context, one.server)
        if one.server.channel.clock.told_of_files() == told:
            return examined
        wait_until_read(context, one.server)
        wait_while_reloading(context, one.server)
        for rule in rules:
            proven = prove(context, one, rule)
            again.append(judged(proven, one.server, texts))
    except errors.RequestTimeoutError as late:
        # The source that wrote files has findings of its own, which count.
        again += [one.failed(rule, late.message, late=True) for rule in rules[len(again) :]]
    return again


def _examine_other(context: Context, server: Server, file: File, own: str) -> list[Examined]:
    if context.call.is_over:
        # Nothing is sent: the next caller would wait for work whose result nobody reads.
        late = errors.RequestTimeoutError(NO_TIME, server=server.id)
        return [_with_memories(_failed(late, time.monotonic()), server, file.uri)]
    found = _examine_one(context, server, file, FileCheck(file.path), own)
    return found.examined


class _SourceResult(msgspec.Struct):
    """The findings of servers in a file, and in others."""

    examined: list[Examined] = msgspec.field(default_factory=list)
    others: OtherFilesResult = msgspec.field(default_factory=OtherFilesResult)
    #: Whether another file has a text that is not on disk.
    beside: bool = False
    #: Servers that turned out to be unavailable.
    absent: list[errors.ServerUnavailableError] = msgspec.field(default_factory=list)

    def add(self, other: _SourceResult) -> None:
        """Add the findings of another server."""
        self.examined += other.examined
        self.absent += other.absent
        self.beside = self.beside or other.beside
        self.others.add(other.others)


def of_one_text(examined: list[Examined]) -> list[Examined]:
    """If sources of one server have read different texts, only the newest counts."""
    newest = max((one.view.version for one in examined if one.view is not None), default=0)
    return [
        one
        if one.view is None or one.view.version == newest
        else msgspec.structs.replace(one, view=None, lists=(), how="none", reason=CHANGED)
        for one in examined
    ]


def _is_on_disk(file: File, wanted: FileCheck) -> bool:
    return wanted.text is None and not isinstance(file.stamp, Unsaved)


def _with_memories(one: Examined, server: Server, uri: str) -> Examined:
    """For a server without fresh findings: its earlier ones."""
    if one.how != "none":
        return one
    memories = tuple(said.items for said in server.record.remembered(uri))
    if not memories:
        return one
    return msgspec.structs.replace(one, memories=memories, view=nowhere(server))


def _failed(problem: errors.LspkitError, began: float, server: str = "") -> Examined:
    late = isinstance(problem, errors.RequestTimeoutError)
    named = server or getattr(problem, "server", "")
    took = time.monotonic() - began
    return Examined(named, None, (), "none", took, late, problem.message, code=problem.code)
