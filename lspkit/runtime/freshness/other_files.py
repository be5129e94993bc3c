"""The other files that a server knows, after something has changed: which are examined, and how.

One mechanism for `check(scope="project")` and for the hooks. A server that can tell about the whole
project is asked that. Of any other the files are examined, one by one, that the caller names, that
the server has findings about, and that it has open. One that is not open is opened for that, since
a server may answer about a file that is not that it has nothing to say.

What a server knows is never contradicted: a file that it has findings about, and that is not
examined, is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from lspkit.diagnostics.store import StoredReport
from lspkit.errors import LspkitError
from lspkit.operations.effects import Elsewhere, Examined, OtherScope, OthersExamined
from lspkit.protocol.uris import path_to_uri, uri_to_path
from lspkit.protocol.wire.results import read_diagnostics
from lspkit.runtime.concurrency.call import CallContext
from lspkit.runtime.concurrency.drive import together
from lspkit.runtime.concurrency.waiter import Steps
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.exchange.replies import nowhere
from lspkit.runtime.files import File
from lspkit.runtime.freshness.unsaved_neighbours import beside
from lspkit.runtime.freshness.workspace_pull import offers_workspace_pull, pull_workspace
from lspkit.runtime.server.server import Server

#: So many files that are not open are opened at most, to be examined.
MOST_OPENED = 20
#: Why a file is unknown that was left out.
LEFT_OUT = "it has findings from before, and was not asked again: there are too many files"
#: Why a file is unknown that is none of the server's language.
FROM_BEFORE = "it has findings from before the last change, and cannot be asked about such a file"

#: What one server says about a file. The last argument is the document that a call is about.
ExamineFile = Callable[[Context, Server, File, CallContext, str], Steps[list[Examined]]]


class OtherFilesResult(msgspec.Struct):
    """What servers have found in other files, by URI; under `""`, who did not look there."""

    by_uri: dict[str, list[Examined]] = msgspec.field(default_factory=dict)
    coverage: str = "none"

    def add(self, other: OtherFilesResult) -> None:
        """Take up what another server has found; all together reach as far as the least does."""
        for uri, examined in other.by_uri.items():
            self.by_uri.setdefault(uri, []).extend(examined)
        if other.coverage == "open":
            self.coverage = "open"

    def missed(self, examined: Examined) -> None:
        """A server has not looked at any."""
        self.by_uri.setdefault("", []).append(examined)

    def told(self, severities: tuple[str, ...]) -> OthersExamined:
        """As a result."""
        found = tuple(Elsewhere(uri, tuple(self.by_uri[uri])) for uri in sorted(self.by_uri))
        return OthersExamined(found, self.coverage, severities)


def check_other_files(
    context: Context,
    server: Server,
    paths: list[str],
    scope: OtherScope,
    call: CallContext,
    examine_file: ExamineFile,
    own: str = "",
) -> Steps[OtherFilesResult]:
    """The state of all files but `paths`, of which at least one is of the server.

    `own` is the document of a call that has its turn, and may show it a text of its own.
    """
    about = {path_to_uri(path) for path in paths}
    if offers_workspace_pull(server):
        return (yield from _examine_whole(context, server, paths[0], about, call, own))
    others, seen = OtherFilesResult(coverage="open"), set(about)
    room = MOST_OPENED if scope.most is None else scope.most
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
        # What is said about one file may bring to light another one.
    others.by_uri |= _not_examined(context, server, seen)
    return others


def _examine_whole(
    context: Context, server: Server, path: str, about: set[str], call: CallContext, own: str
) -> Steps[OtherFilesResult]:
    others = OtherFilesResult(coverage="workspace")
    if unseen := beside(server, "", context.files, context.pool, own).unseen:
        others.missed(Examined(server.id, None, (), "none", 0.0, False, unseen))
        return others
    found = yield from pull_workspace(context, server, path_to_uri(path), call)
    others.by_uri = {uri: [one] for uri, one in found.items() if uri not in about}
    return others


def _next_batch(
    context: Context, server: Server, scope: OtherScope, seen: set[str], room: int
) -> tuple[list[str], int]:
    """The files that come next, by URI, and for how many there is room after them."""
    with server.channel.lock:
        opened = dict.fromkeys(one.key.uri for one in server.channel.documents)
    named = [path_to_uri(path) for path in scope.first]
    batch: list[str] = []
    for uri in dict.fromkeys((*named, *worst_first(server.record.known()), *reversed(opened))):
        if uri in seen or not (uri in opened or _is_for(context, server, uri)):
            continue
        if scope.most is not None or uri not in opened:
            if room <= 0:
                continue
            room -= 1
        batch.append(uri)
    return batch, room


def _is_for(context: Context, server: Server, uri: str) -> bool:
    """Whether a file that is not open is one of the server's own."""
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
    except LspkitError as problem:  # it has become something that is no text
        results = [Examined(server.id, None, (), "none", 0.0, False, problem.message)]
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
            one = Examined(server.id, None, (), "none", 0.0, False, LEFT_OUT)
        elif said.at < changed:
            one = Examined(server.id, None, (), "none", 0.0, False, FROM_BEFORE)
        else:
            one = Examined(server.id, nowhere(server), (said.items,), "quiet", 0.0)
        left.setdefault(said.uri, []).append(one)
    return left


def worst_first(known: list[StoredReport]) -> list[str]:
    """The files that findings are about, by URI; where there are many, those with errors first."""
    if len(known) <= MOST_OPENED:
        return [said.uri for said in known]
    worst: dict[str, int] = {}
    for said in known:
        ranks = [one.severity or 1 for one in read_diagnostics(said.items).items]
        worst[said.uri] = min(*ranks, worst.get(said.uri, 9), 9)
    return sorted(worst, key=lambda uri: worst[uri])
