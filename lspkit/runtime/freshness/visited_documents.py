"""Documents that are open only because a check of other files has opened them.

A server that sends findings by itself checks all open documents again after a change, and a request
waits for that. So a document without errors is closed at the end of the check of other files, and
so is one whose check has not ended: nobody reads its result. A document with errors stays open: the
server then notices what repairs it.
"""

from __future__ import annotations

from lspkit.errors import LspkitError
from lspkit.protocol.methods import PULL_DIAGNOSTICS
from lspkit.runtime.server.server import Server

#: Most files that are remembered because their check has not ended.
MOST_UNFINISHED = 100


def begin_visit(server: Server, uri: str) -> None:
    """A document is about to be checked as another file."""
    with server.channel.lock:
        if server.channel.documents.get(uri) is None:
            server.visited.add(uri)


def end_visits(
    server: Server, finished: list[str], unfinished: list[str], broken: set[str]
) -> None:
    """Documents were checked, or were not in time; `broken` ones have errors."""
    with server.channel.lock:
        for uri in finished:
            server.unfinished.pop(uri, None)
        server.unfinished |= dict.fromkeys(unfinished)
        for uri in list(server.unfinished)[:-MOST_UNFINISHED]:
            del server.unfinished[uri]
        if _checks_open_documents(server):
            _close(server, (server.visited & {*finished, *unfinished}) - broken)


def unfinished_visits(server: Server) -> list[str]:
    """The files whose last check as other files has not ended, by URI."""
    with server.channel.lock:
        return list(server.unfinished)


def _checks_open_documents(server: Server) -> bool:
    """Whether it checks open documents by itself, and sends what it finds."""
    pulls = server.channel.session.supports(PULL_DIAGNOSTICS)
    how = [one.how or ("pull" if pulls else "version") for one in server.choice.definition.proofs]
    return "version" in how or "quiet" in how


def _close(server: Server, uris: set[str]) -> None:
    """Close documents, except those that a caller uses or that have another text.

    The lock is held.
    """
    channel = server.channel
    for uri in sorted(uris - channel.in_use()):
        server.visited.discard(uri)
        document = channel.documents.get(uri)
        if document is None or document.unsure or not document.is_on_disk:
            continue
        try:
            channel.post(channel.documents.close(uri))
        except LspkitError:
            return  # it has ended
        channel.documents.commit()
