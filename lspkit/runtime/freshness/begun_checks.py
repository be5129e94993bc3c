"""Checks that are begun before the first one is waited for: all servers of a file, or many files.

A begun check has its place in the queue of the document, and its requests for findings are sent. So
the check only waits, and checks can be finished one after the other in one thread. That is quicker
than a thread for each.
"""

from __future__ import annotations

from lspkit.errors import LspkitError
from lspkit.protocol.capabilities import PULL_DIAGNOSTICS
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.disk_sync import locate, refresh_documents, servers_of
from lspkit.runtime.files import File
from lspkit.runtime.freshness.check_subject import BegunPulls
from lspkit.runtime.freshness.proof_by_push import is_behind
from lspkit.runtime.freshness.proof_by_request import begin_pull, identifiers
from lspkit.runtime.freshness.unsaved_neighbours import UnsavedNeighbours, beside
from lspkit.runtime.server.document_queue import QueueEntry
from lspkit.runtime.server.process_state import ProcessState
from lspkit.runtime.server.server import Server


class BegunCheck:
    """One server was asked for its findings in one file."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.turn = QueueEntry()
        self.pulls: BegunPulls = {}

    def drop(self) -> None:
        """Nobody waits for the answers any more. May be called again."""
        while self.pulls:
            _, pull = self.pulls.popitem()
            self._server.channel.finish(pull.sent.pending)
        self.turn.__exit__()


def show_files(context: Context, paths: list[str]) -> bool:
    """Bring files up to date in their servers, and begin their checks, before any is finished.

    So a server looks at all of them together. What cannot be done at once is left to their checks;
    False if there is such a file.
    """
    shown: list[tuple[Server, File]] = []
    is_all = True
    for path in paths:
        if context.call.is_over:
            return False  # a server must not work on files of which nobody reads the result
        try:
            file = locate(context, path, None)
            servers, failures = servers_of(context, file)
            is_all = is_all and not failures
            for server in servers:
                if server.is_free:
                    refresh_documents(context, server)
                    server.channel.sync(file, None)
                    shown.append((server, file))
                else:
                    is_all = False
        except LspkitError:
            is_all = False  # its check says why
    for server, file in shown:
        is_all = _look_again(server, file) and is_all
    for server, file in shown:
        is_all = _begin(context, server, file) and is_all
    return is_all


def begin_checks(context: Context, servers: list[Server], file: File) -> bool:
    """Begin the checks of one file by several servers; whether all are begun."""
    is_all = True
    for server in servers:
        if (server, file.uri) not in context.call.begun:
            is_all = server.is_free and _begin(context, server, file) and is_all
    return is_all


def _look_again(server: Server, file: File) -> bool:
    """Give a document a new version if a push about its present one may be outdated."""
    try:
        if any(is_behind(server, rule, file.uri) for rule in server.choice.definition.proofs):
            server.channel.touch(file.uri)
    except LspkitError:
        return False  # it has just ended
    return True


def _begin(context: Context, server: Server, file: File) -> bool:
    """Begin a check, if its findings are requested and nothing has to be waited for before."""
    if not _may_begin(context, server, file):
        return False
    begun = BegunCheck(server)
    try:
        server.channel.queue.join(file.uri, begun.turn)
        if begun.turn.done:
            refresh_documents(context, server)
            for identifier in identifiers(server, file):
                begun.pulls[identifier] = begin_pull(context, server, file, None, identifier)
            context.call.begun[server, file.uri] = begun
            return True
    except LspkitError:
        pass  # its check says why
    begun.drop()
    return False


def _may_begin(context: Context, server: Server, file: File) -> bool:
    definition, clock = server.choice.definition, server.channel.clock
    offers = server.channel.session.supports(PULL_DIAGNOSTICS, server.channel.key_of(file.uri))
    return (
        offers
        and all(rule.how in (None, "pull") and not rule.ask for rule in definition.proofs)
        and not server.adapter.start_work
        and not server.adapter.text_request
        and not definition.documents.takes_in_by
        and server.state is ProcessState.READY
        and (definition.disk.looks_again == "watched" or not clock.missed_disk(file.uri))
        and file.uri not in server.channel.queue.taken()
        and server.is_free
        and beside(server, file.uri, context.files, context.pool) == UnsavedNeighbours()
        and not context.call.is_over
    )
