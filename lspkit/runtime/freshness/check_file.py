"""Fresh diagnostics of files from all their servers.

All servers of a file work at the same time; `proof_by_request.py` gets the findings of each source,
with a proof. Checks of one document are serialised; a check with `text=` has the server to itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from lspkit import errors
from lspkit.diagnostics.freshness_events import CHANGED
from lspkit.errors import RequestFailedError, RequestTimeoutError
from lspkit.operations.host import OtherScope
from lspkit.operations.host_results import Examination, Examined, OthersExamined
from lspkit.operations.reply_parsing import OWN_FAULTS
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS
from lspkit.protocol.text import Unsaved
from lspkit.protocol.uris import uri_to_path
from lspkit.protocol.wire.messages import CONTENT_MODIFIED, METHOD_NOT_FOUND, decode_any
from lspkit.regular_files import open_regular
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.exchange import disk_sync
from lspkit.runtime.exchange.ask_server import (
    nowhere,
    request_deadline,
    wait_for_answer,
    wait_for_room,
    wait_for_turn,
    wait_until_up,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.preparation import prepare_server, wait_while_reloading
from lspkit.runtime.files import File
from lspkit.runtime.freshness.baselines import Baselines
from lspkit.runtime.freshness.check_subject import CheckSubject
from lspkit.runtime.freshness.other_files import OtherFilesResult, check_other_files
from lspkit.runtime.freshness.proof_by_request import prove
from lspkit.runtime.freshness.unsaved_neighbours import (
    UnsavedNeighbours,
    doubt_of_new_file,
    judge,
    unsaved_neighbours,
)
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.metrics import log_findings
from lspkit.runtime.server.process_state import ProcessState
from lspkit.runtime.server.server import Server
from lspkit.types import Severity

#: Why a server that has to be replaced has no findings.
OUTDATED = "it has to be restarted, since files have changed that it reads only once"
#: Seconds after which a file that the server does not know is no part of its project, and after
#: which it has read a file that is not UTF-8.
UNKNOWN = 1.0
#: Seconds between two requests about one file.
PAUSE = 0.01
#: How often a check is started: a server may have to be restarted, and its start may fail.
MOST_TRIES = 3
#: Why another file is unknown.
NO_TIME = "no time was left to check it"


class FileCheck(msgspec.Struct, frozen=True):
    """What is examined: the parameters of `Host.examine`."""

    path: str
    text: str | None = None
    others: OtherScope | None = None
    neighbours: Mapping[str, str] = {}


def check_file(context: Context, baselines: Baselines, wanted: FileCheck) -> Examination:
    """The results of all servers of a file; what is known after a timeout or a cancel."""
    began = time.monotonic()
    config = context.pool.config
    file = disk_sync.locate(context, wanted.path, wanted.text)
    for _ in range(MOST_TRIES):
        whole, again = _examine_by_all(context, file, wanted)
        if not again:
            break
    for result in whole.examined:
        took = f"by {result.how} in {result.duration * 1000:.1f} ms"
        log_findings(result.server, file.path, result.lists, took)
    return Examination(
        path=context.files.place(file.uri).path or Path(file.path),
        uri=file.uri,
        servers=tuple(whole.examined),
        severity=Severity(config.diagnostics.severity),
        most=config.diagnostics.max_per_file,
        duration=time.monotonic() - began,
        on_disk=_is_on_disk(file, wanted) and not whole.has_unsaved,
        before=baselines.get(file.path),
        others=whole.others.as_result(Severity(config.diagnostics.severity)),
    )


def check_others(context: Context, edited: Sequence[str], scope: OtherScope) -> OthersExamined:
    """The findings in other files than the edited ones. Nothing is known without a server."""
    severity = Severity(context.pool.config.diagnostics.severity)
    for _ in range(MOST_TRIES):
        others, servers = OtherFilesResult(coverage="workspace"), dict[Server, str]()
        paths: list[str] = []
        for path in edited:
            try:
                # A file that was deleted has servers, too: they know the others.
                file = disk_sync.locate(context, path, "")
                text = "" if file.stamp is None else None
                serving, failures = disk_sync.servers_of(context, file, text)
            except errors.LspkitError:
                continue
            paths.append(file.path)
            servers |= {server: file.path for server in serving if server not in servers}
            for problem in failures:
                others.add_missed(_failure(problem, time.monotonic()))
        if not servers:
            return OthersExamined()
        jobs = [
            partial(_others_of, context, server, paths, servers[server], scope)
            for server in servers
        ]
        for result in in_parallel(context.threads, jobs):
            if isinstance(result, Exception):
                raise result
            others.add(result)
        if not any(server.may_ask_again for server in servers):
            break
    return others.as_result(severity)


def _others_of(
    context: Context, server: Server, paths: list[str], own: str, scope: OtherScope
) -> OtherFilesResult:
    """The findings of one server in other files than these, of which one is its own."""
    began = time.monotonic()
    try:
        wait_until_up(context, server)
        disk_sync.refresh_documents(context, server)
        about = [own, *paths]
        return check_other_files(context, server, about, scope, _examine_other)
    except (*OWN_FAULTS, errors.CancelledError) as problem:
        others = OtherFilesResult(coverage="open")
        others.add_missed(_failure(problem, began, server.id))
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
    whole = _SourceResult(examined=[_failure(problem, began) for problem in failures])
    if wanted.others is not None:
        whole.others.coverage = "workspace"
        for examined in whole.examined:
            whole.others.add_missed(examined)
    for server in servers:
        server.visited.discard(file.uri)  # the caller's own document stays open
    jobs = [partial(_examine_one, context, server, file, wanted) for server in servers]
    for result in in_parallel(context.threads, jobs):
        if isinstance(result, Exception):
            raise result
        whole.add(result)
    absent = [failure for failure in failures if isinstance(failure, errors.ServerUnavailableError)]
    if servers and len(whole.absent) + len(absent) == len(servers) + len(failures):
        raise whole.absent[0].copy()  # as if the servers had been missing before
    return whole, any(server.may_ask_again for server in servers)


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
    findings = _SourceResult()
    shown: list[str] = []
    with QueueEntry(exclusive=exclusive) as turn:
        try:
            if not own:
                server.channel.queue.join(file.uri, turn)
            prepare_server(context, server, file, wanted.text)
            if not own and not wait_for_turn(
                context, server, turn, PULL_DIAGNOSTICS, may_leave=True
            ):
                raise errors.ServerBrokenError(OUTDATED, server=server.id)
            wait_for_room(context, server, PULL_DIAGNOSTICS, context.call.deadline)
            disk_sync.refresh_documents(context, server)
            for path, text in wanted.neighbours.items():
                neighbour = context.files.locate(path, may_be_missing=True)
                shown.append(neighbour.uri)
                server.channel.sync(neighbour, text)
            subject = CheckSubject(server, file, wanted.text, context.call, began, own)
            findings.examined = _prove_all(context, subject, wanted, findings)
            if wanted.others is not None:
                # Before the caller's text is removed: the other files may depend on it.
                findings.others = check_other_files(
                    context, server, [file.path], wanted.others, _examine_other, file.uri
                )
        except (*OWN_FAULTS, errors.CancelledError) as problem:
            findings.examined.append(_failure(problem, began, server.id))
            findings.absent += (
                [problem] if isinstance(problem, errors.ServerUnavailableError) else []
            )
            if wanted.others is not None:
                findings.others.coverage = "open"
                findings.others.add_missed(findings.examined[-1])
        finally:
            for uri in shown:
                disk_sync.restore_document(context, server, uri)
            if wanted.text is not None and turn.done:
                disk_sync.restore_document(context, server, file.uri)
    _count(context, server, findings, began)
    findings.examined = [_with_memories(source, server, file.uri) for source in findings.examined]
    return findings


def _count(context: Context, server: Server, findings: _SourceResult, began: float) -> None:
    """Count a check for the status; one with findings shows that the server works."""
    known = any(source.how != "none" for source in findings.examined)
    took = time.monotonic() - began if known else None
    if known:
        context.pool.succeeded(server)
    timed_out = any(source.timed_out for source in findings.examined)
    with server.channel.lock:
        server.metrics.checked(took, timed_out=timed_out)


def _prove_all(
    context: Context, subject: CheckSubject, wanted: FileCheck, findings: _SourceResult
) -> list[Examined]:
    """The findings of each source of a server about one text.

    If the text changes meanwhile, it starts again: with the text on disk, or the caller's own.
    """
    while True:
        notification = subject.server.channel.clock.told_of_files()
        wait_until_read(context, subject.server)
        wait_while_reloading(context, subject.server)
        examined: list[Examined] = []
        texts = unsaved_neighbours(context, subject.server, subject.uri, subject.own)
        findings.has_unsaved = findings.has_unsaved or bool(texts.name)
        if doubt := doubt_of_new_file(
            subject.server, subject.file.path, subject.text, context.files
        ):
            texts = UnsavedNeighbours(texts.name, texts.unseen or doubt)
        for rule in subject.server.choice.definition.proofs:
            name = "this text" if not _is_on_disk(subject.file, wanted) else texts.name
            if subject.server.state is ProcessState.OUTDATED:
                examined.append(subject.failed(rule, OUTDATED))
            elif rule.sees == "disk" and name:
                nothing = subject.failed(rule, f"it sees the disk, and {name} is not there")
                examined.append(msgspec.structs.replace(nothing, how="not applicable"))
            else:
                proven = prove(context, subject, rule)
                starts_work = rule.how == "progress" and subject.server.adapter.start_work
                if starts_work and not subject.call.is_over:
                    examined = _ask_again(context, subject, examined, texts, notification)
                examined.append(judge(proven, subject.server, texts))
        examined = of_one_text(examined)
        if all(result.reason != CHANGED for result in examined):
            return examined
        if subject.call.is_over or (
            subject.own and not subject.server.channel.shows_disk(subject.uri)
        ):
            return examined  # the call that holds the entry shows its own text
        if wanted.text is None:
            file = context.files.again(subject.uri)
            if file is None or file.stamp is None:
                return examined
            subject = msgspec.structs.replace(subject, file=file)


def _ask_again(
    context: Context,
    subject: CheckSubject,
    examined: list[Examined],
    texts: UnsavedNeighbours,
    notification: int,
) -> list[Examined]:
    """The findings of the first sources, after another source has run programs that write files.

    They are requested again if the server was told of files since this notification.
    """
    again: list[Examined] = []
    rules = subject.server.choice.definition.proofs[: len(examined)]
    try:
        disk_sync.catch_up_again(context, subject.server)
        if subject.server.channel.clock.told_of_files() == notification:
            return examined
        wait_until_read(context, subject.server)
        wait_while_reloading(context, subject.server)
        for rule in rules:
            proven = prove(context, subject, rule)
            again.append(judge(proven, subject.server, texts))
    except errors.RequestTimeoutError as late:
        # The source that wrote files has findings of its own, which count.
        again += [subject.failed(rule, late.message, late=True) for rule in rules[len(again) :]]
    return again


def _examine_other(context: Context, server: Server, file: File, own: str) -> list[Examined]:
    if context.call.is_over:
        # Nothing is sent: the next caller would wait for work whose result nobody reads.
        late = errors.RequestTimeoutError(NO_TIME, server=server.id)
        return [_with_memories(_failure(late, time.monotonic()), server, file.uri)]
    result = _examine_one(context, server, file, FileCheck(file.path), own)
    return result.examined


class _SourceResult(msgspec.Struct):
    """The findings of servers in a file, and in others."""

    examined: list[Examined] = msgspec.field(default_factory=list)
    others: OtherFilesResult = msgspec.field(default_factory=OtherFilesResult)
    #: Whether another file has a text that is not on disk.
    has_unsaved: bool = False
    #: Servers that turned out to be unavailable.
    absent: list[errors.ServerUnavailableError] = msgspec.field(default_factory=list)

    def add(self, other: _SourceResult) -> None:
        """Add the findings of another server."""
        self.examined += other.examined
        self.absent += other.absent
        self.has_unsaved = self.has_unsaved or other.has_unsaved
        self.others.add(other.others)


def of_one_text(examined: list[Examined]) -> list[Examined]:
    """If sources of one server have read different texts, only the newest counts."""
    newest = max((source.view.version for source in examined if source.view is not None), default=0)
    return [
        source
        if source.view is None or source.view.version == newest
        else msgspec.structs.replace(source, view=None, lists=(), how="none", reason=CHANGED)
        for source in examined
    ]


def _is_on_disk(file: File, wanted: FileCheck) -> bool:
    return wanted.text is None and not isinstance(file.stamp, Unsaved)


def _with_memories(examined: Examined, server: Server, uri: str) -> Examined:
    """For a server without fresh findings: its earlier ones."""
    if examined.how != "none":
        return examined
    memories = tuple(report.items for report in server.record.remembered(uri))
    if not memories:
        return examined
    return msgspec.structs.replace(examined, memories=memories, view=nowhere(server))


def _failure(problem: errors.LspkitError, began: float, server: str = "") -> Examined:
    late = isinstance(problem, errors.RequestTimeoutError)
    named = server or getattr(problem, "server", "")
    took = time.monotonic() - began
    return Examined(named, None, (), "none", took, late, problem.message, code=problem.code)


# Waiting until a server has read what has changed on disk
#
# A server that reads in the background is told of a file, and answers the next request from the old
# text. But it can be asked for its text of a file. Only closed files that it was told of are asked
# for, each until the text is that on disk.


def wait_until_read(context: Context, server: Server) -> None:
    """Wait until the server has read all files that it was told of."""
    method = server.adapter.text_request
    if not method:
        return
    deadline = request_deadline(context, server)
    for uri, number in server.channel.clock.unread():
        until = time.monotonic() + UNKNOWN
        while not _is_read(context, server, uri, method, until, deadline):
            context.call.pause(min(time.monotonic() + PAUSE, deadline))
            if time.monotonic() >= deadline:
                name = os.path.basename(uri_to_path(uri) or uri)
                why = f"{server.id} has not read {name}, which has changed on disk"
                raise RequestTimeoutError(why, server=server.id, state=server.rights.word)
        server.channel.clock.has_read(uri, number)


def _is_read(
    context: Context, server: Server, uri: str, method: str, until: float, deadline: float
) -> bool:
    there = _content_of(uri_to_path(uri) or "")
    pending = server.channel.ask(method, {"uri": uri})
    answered = wait_for_answer(context, server, pending, deadline)
    if isinstance(answered, RequestFailedError):
        if answered.server_code == CONTENT_MODIFIED:
            return False
        is_unsupported = answered.server_code == METHOD_NOT_FOUND  # by an older version
        return there is None or is_unsupported or time.monotonic() >= until
    known = decode_any(answered.result)
    if there is None:
        return False
    try:
        # With a byte order mark, which rust-analyzer keeps.
        return bool(known == there.decode().replace("\r\n", "\n"))
    except UnicodeDecodeError:
        # rust-analyzer has an empty text instead. Which one another version has is not known.
        return known == "" or time.monotonic() >= until


def _content_of(path: str) -> bytes | None:
    """The bytes of a file on disk, whatever text a caller has given it; None if there is none.

    It may be a link: the server follows links, too.
    """
    try:
        with open(path, "rb", opener=open_regular) as stream:
            return stream.read()
    except (OSError, ValueError):
        return None
