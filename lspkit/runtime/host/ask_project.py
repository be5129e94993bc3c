"""Requests about a whole project.

Their answers depend on the index of a server. A server without a document is shown a file of the
project first.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import msgspec

from lspkit.errors import LspkitError, NoServerError, RequestTimeoutError
from lspkit.operations.host import about_the_file
from lspkit.operations.host_results import Reply
from lspkit.protocol.capabilities import DOCUMENT_SYMBOLS
from lspkit.protocol.wire.results import read_raw_items
from lspkit.runtime.concurrency.parallel import in_parallel
from lspkit.runtime.exchange.ask_server import (
    await_replies,
    begin_document_request,
    begin_request,
    collect_replies,
    request_deadline,
    request_document,
    request_server,
    sorted_out,
    unsupported,
    wait_for_turn,
    wait_until_up,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import catch_up_with_disk, deliver_events
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.project_index import wait_for_index
from lspkit.runtime.files import File
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server
from lspkit.servers.project.project_files import samples as samples_in

#: Seconds after which a server whose index may be incomplete is asked again.
AGAIN_AFTER = 0.02
#: Empty answers.
NOTHING = (b"[]", b"null")


class ProjectQuestion(NamedTuple):
    """A request about a project."""

    method: str
    params: Any


def ask_project(context: Context, path: str | None, question: ProjectQuestion) -> list[Reply]:
    """The answers of the servers of a file, or of all running ones, or of those that are needed."""
    failures: list[LspkitError] = []
    catch_up_with_disk(context)
    if path is not None:
        file = context.files.locate(path)
        servers, failures = context.pool.servers_for(file.path, context.call, file)
        samples: list[tuple[Server, File | None]] = [(server, file) for server in servers]
    else:
        running = context.pool.in_use_by(context.call)
        samples = [(server, None) for server in running if len(server.channel.documents)]
        samples = samples or _needed_servers(context)
    deliver_events(context, [server for server, _ in samples])
    jobs = [
        partial(_ask_about_project, context, server, sample, question) for server, sample in samples
    ]
    results = in_parallel(context.threads, jobs)
    return collect_replies(results, failures, question.method, context.call)


def _ask_about_project(
    context: Context, server: Server, sample: File | None, question: ProjectQuestion
) -> Reply:
    """Ask about the project; a server without a document is shown a file of it first."""
    wait_until_up(context, server)
    known_since = server.channel.clock.told_at()
    if sample is not None and not len(server.channel.documents):
        _introduce(context, server, sample)
        # It puts what a file includes into its index after it is done with the file.
        known_since = time.monotonic()
    if not server.channel.session.supports(question.method):
        raise unsupported(question.method, server.id)
    caveats = tuple(wait_for_index(context, server, None))
    reply = _ask_until_known(context, server, question, known_since)
    return msgspec.structs.replace(reply, caveats=caveats) if caveats else reply


def _ask_until_known(
    context: Context, server: Server, question: ProjectQuestion, known_since: float
) -> Reply:
    """Ask, and again for a while if there is no result and the index may be incomplete."""
    latest = known_since + server.adapter.index_lag
    pause, reply = AGAIN_AFTER, None
    while True:
        now = time.monotonic()
        try:
            reply = _ask_in_turn(context, server, question)
        except RequestTimeoutError:
            if reply is None:
                raise
            return reply  # the previous answer is the result
        if now >= latest or reply.result.strip() not in NOTHING:
            return reply
        context.call.pause(min(time.monotonic() + pause, latest))
        pause *= 1.5


def _ask_in_turn(context: Context, server: Server, question: ProjectQuestion) -> Reply:
    """Ask while no caller shows the server its own text, which is no part of the project."""
    query = server.choice.definition.project
    one_by_one = query is not None and query.searches_one
    with QueueEntry(exclusive=one_by_one) as turn:
        server.channel.queue.join("", turn)
        wait_for_turn(context, server, turn, question.method, may_leave=False)
        reply = request_server(context, server, question.method, question.params)
        if one_by_one:
            return _ask_each_project(context, server, question, reply)
        return reply


def _ask_each_project(
    context: Context, server: Server, question: ProjectQuestion, first: Reply
) -> Reply:
    """Ask a server that searches only the project of its last document, about all projects.

    The request about the document and the search are sent together: the server turns to other
    documents by itself.
    """
    pieces = [first]
    for path in list(server.index.documents.values()):
        try:
            file = context.files.locate(path)
        except LspkitError:
            continue  # it was deleted
        turn_to = begin_document_request(
            context, server, file, None, DOCUMENT_SYMBOLS, about_the_file
        )
        try:
            search = begin_request(context, server, question.method, question.params)
        except LspkitError:
            server.channel.finish(turn_to.pending)
            raise
        replies, failed = sorted_out(await_replies(context, (turn_to, search)))
        if failed:
            raise failed[0]
        pieces.append(replies[1])
    items = dict.fromkeys(item for piece in pieces for item in read_raw_items(piece.result).items)
    return msgspec.structs.replace(first, result=b"[" + b",".join(items) + b"]")


def _introduce(context: Context, server: Server, sample: File) -> None:
    """Open a file, and wait until the server has read it: many know no project before."""
    prepare_server(context, server, sample, None)
    until = request_deadline(context, server)
    if server.channel.session.supports(DOCUMENT_SYMBOLS, server.channel.key_of(sample.uri)):
        request_document(context, server, sample, None, DOCUMENT_SYMBOLS, about_the_file)
    else:
        server.channel.sync(sample, None)
    # It may answer about a file before that is in its index.
    while server.end is None:
        activity = server.activity.next()
        if server.record.is_done_with(sample.uri):
            return
        if not context.call.wait(activity, until):
            return  # then it is asked without that


def _needed_servers(context: Context) -> list[tuple[Server, File | None]]:
    """The servers for the files of the workspace, started, each with such a file."""
    needed: dict[int, tuple[Server, File | None]] = {}
    for path in samples_in(context.files.boundary.root):
        try:
            file = context.files.locate(path)
            servers, _ = context.pool.servers_for(file.path, context.call, file)
        except LspkitError:
            continue
        for server in servers:
            needed.setdefault(id(server), (server, file))
    if not needed:
        raise NoServerError("no file of this workspace belongs to a server that can be started")
    return list(needed.values())
