"""The effect `AskWorkspace`: requests about a whole project.

Their answers depend on the index of a server. A server without a document is shown a file of the
project first.
"""

from __future__ import annotations

import time

import msgspec

from lspkit.errors import LspkitError, NoServerError, RequestTimeoutError
from lspkit.operations.effect_results import Reply
from lspkit.operations.effects import AskWorkspace, about_the_file
from lspkit.protocol.methods import DOCUMENT_SYMBOLS
from lspkit.protocol.wire.raw_items import read_raw_items
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Outcome, Steps, Waiter, uncancelled
from lspkit.runtime.exchange.ask_server import (
    request_deadline,
    request_document,
    request_server,
    wait_for_turn,
    wait_until_ready,
)
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import catch_up_with_disk, deliver_events
from lspkit.runtime.exchange.preparation import prepare_server
from lspkit.runtime.exchange.project_index import wait_for_index
from lspkit.runtime.exchange.replies import collect_replies, sorted_out, unsupported
from lspkit.runtime.files import File, Files
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.server import Server
from lspkit.servers.project.project_files import samples

#: Seconds after which a server whose index may be incomplete is asked again.
AGAIN_AFTER = 0.02
#: Empty answers.
NOTHING = (b"[]", b"null")


def ask_project(context: Context, effect: AskWorkspace, call: CallContext) -> Steps[list[Reply]]:
    """Perform `AskWorkspace`."""
    failures: list[LspkitError] = []
    yield from catch_up_with_disk(context, call)
    if effect.path is not None:
        file = context.files.locate(effect.path)
        servers, failures = context.pool.servers_for(file.path, call, file)
        asked: list[tuple[Server, File | None]] = [(server, file) for server in servers]
    else:
        running = [one for one in context.pool.in_use_by(call) if len(one.channel.documents)]
        asked = [(one, None) for one in running] or _needed_servers(
            context.files, context.pool, call
        )
    deliver_events(context, [server for server, _ in asked], call)
    jobs = [_ask_about_project(context, server, sample, effect, call) for server, sample in asked]
    results = yield from together(jobs, call)
    return collect_replies(results, failures, effect.method, call)


def _ask_about_project(
    context: Context, server: Server, sample: File | None, effect: AskWorkspace, call: CallContext
) -> Steps[Reply]:
    """Ask about the project; a server without a document is shown a file of it first."""
    yield from wait_until_ready(context, server, call)
    known_since = server.channel.clock.told_at()
    if sample is not None and not len(server.channel.documents):
        yield from _introduce(context, server, sample, call)
        # It puts what a file includes into its index after it is done with the file.
        known_since = time.monotonic()
    if not server.channel.session.supports(effect.method):
        raise unsupported(effect.method, server.id)
    caveats = tuple((yield from wait_for_index(context, server, None, call)))
    reply = yield from _ask_until_known(context, server, effect, call, known_since)
    return msgspec.structs.replace(reply, caveats=caveats) if caveats else reply


def _ask_until_known(
    context: Context, server: Server, effect: AskWorkspace, call: CallContext, known_since: float
) -> Steps[Reply]:
    """Ask, and again for a while if there is no result and the index may be incomplete."""
    until = request_deadline(context, server, call)
    latest = known_since + server.choice.definition.exceptions.indexed_within
    pause, reply = AGAIN_AFTER, None
    while True:
        now = time.monotonic()
        try:
            reply = yield from _ask_in_turn(context, server, effect, call, until)
        except RequestTimeoutError:
            if reply is None:
                raise
            return reply  # the previous answer is the result
        if now >= latest or reply.result.strip() not in NOTHING:
            return reply
        uncancelled((yield (Waiter(), min(time.monotonic() + pause, latest))))
        pause *= 1.5


def _ask_in_turn(
    context: Context, server: Server, effect: AskWorkspace, call: CallContext, until: float
) -> Steps[Reply]:
    """Ask while no caller shows the server its own text, which is no part of the project."""
    rule = server.choice.definition.index
    one_by_one = rule is not None and rule.project is not None and rule.project.searches_one
    with QueueEntry(exclusive=one_by_one) as turn:
        server.channel.queue.join("", turn)
        yield from wait_for_turn(context, server, turn, call, effect.method, may_leave=False)
        params = effect.params
        reply = yield from request_server(context, server, effect.method, params, until, call)
        if one_by_one:
            return (yield from _ask_each_project(context, server, effect, call, reply, until))
        return reply


def _ask_each_project(
    context: Context,
    server: Server,
    effect: AskWorkspace,
    call: CallContext,
    first: Reply,
    until: float,
) -> Steps[Reply]:
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
        turn_to = request_document(
            context, server, file, None, DOCUMENT_SYMBOLS, about_the_file, until
        )
        search = request_server(context, server, effect.method, effect.params, until)
        results = yield from together([turn_to, search], call)
        replies, failed = sorted_out(results)
        if failed:
            raise failed[0]
        pieces.append(replies[1])
    items = dict.fromkeys(item for one in pieces for item in read_raw_items(one.result).items)
    return msgspec.structs.replace(first, result=b"[" + b",".join(items) + b"]")


def _introduce(context: Context, server: Server, sample: File, call: CallContext) -> Steps[None]:
    """Open a file, and wait until the server has read it: many know no project before."""
    yield from prepare_server(context, server, sample, None, call)
    until = request_deadline(context, server, call)
    if server.channel.session.supports(DOCUMENT_SYMBOLS, server.channel.key_of(sample.uri)):
        yield from request_document(
            context, server, sample, None, DOCUMENT_SYMBOLS, about_the_file, until, call
        )
    else:
        server.channel.sync(sample, None)
    # It may answer about a file before that is in its index.
    while server.channel.failure is None:
        activity = server.activity.next()
        if server.record.is_done_with(sample.uri):
            return
        if (yield (activity, min(until, call.deadline))) is not Outcome.DONE:
            return  # then it is asked without that


def _needed_servers(
    files: Files, pool: Pool, call: CallContext
) -> list[tuple[Server, File | None]]:
    """The servers for the files of the workspace, started, each with such a file."""
    found: dict[int, tuple[Server, File | None]] = {}
    for path in samples(files.boundary.root):
        try:
            file = files.locate(path)
            servers, _ = pool.servers_for(file.path, call, file)
        except LspkitError:
            continue
        for server in servers:
            found.setdefault(id(server), (server, file))
    if not found:
        raise NoServerError("no file of this workspace belongs to a server that can be started")
    return list(found.values())
