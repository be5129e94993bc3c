"""The servers of a file, brought up to date with the disk before they are asked.

Changes on disk from before the call are delivered to the servers first, and open documents follow
their files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from lspkit.errors import LspkitError, PathError, RequestTimeoutError
from lspkit.protocol.uris import normalize_uri, uri_to_path
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File, LibraryFile, stamp_of, was_read_since
from lspkit.runtime.server.server import Server
from lspkit.workspace_boundary import is_excluded
from lspkit.workspace_boundary import locate as locate_path

#: Marks that the disk was scanned for this call.
CAUGHT_UP = "caught up with the disk"
#: Why the state of the disk, or of a server, is not known.
UNSEEN = "there was no time to look at all files that may have changed on disk"
UNTOLD = "could not be told in time of files that have changed on disk"
#: The pattern of excluded files under which there are libraries.
PACKAGES = "**/node_modules/**"


def locate(context: Context, path: str, text: str | None) -> File:
    """The file at a path; with a text of its own, a call may name a file that does not exist."""
    return context.files.locate(path, may_be_missing=text is not None, since=context.call.began)


def servers_of(
    context: Context, file: File, text: str | None = None
) -> tuple[list[Server], list[LspkitError]]:
    """The servers of a file after the changes on disk from before the call, and failures."""
    if is_library(context, file):
        return servers_of_library(context, file)
    before, read = context.pool.turnover, file if text is None else None
    assignment = context.pool.servers_for(file.path, context.call, read)
    catch_up_with_disk(context)
    deliver_events(context, assignment[0])
    if context.pool.turnover == before:
        return assignment
    return context.pool.servers_for(file.path, context.call, read)


def catch_up_with_disk(context: Context) -> None:
    """Tell every server of the changes on disk from before the call, once per call."""
    scan = context.pool.disk_events.first_scan()
    if scan is not None:
        context.call.wait(*scan)
        _look_at_disk(context)
        context.call.note_done(CAUGHT_UP)
    else:
        context.call.once(CAUGHT_UP, lambda: _look_at_disk(context))


def catch_up_again(context: Context, server: Server) -> None:
    """Tell a server of the changes on disk up to now, also those during the call."""
    _look_at_disk(context)
    deliver_events(context, [server])


def _look_at_disk(context: Context) -> None:
    if not context.pool.disk_events.catch_up(context.call.deadline):
        raise RequestTimeoutError(UNSEEN)


def deliver_events(context: Context, servers: list[Server]) -> None:
    """Wait until these servers were told of the changes."""
    for server in servers:
        if not context.pool.disk_events.deliver_to(server, context.call.deadline):
            raise RequestTimeoutError(
                f"{server.id} {UNTOLD}", server=server.id, state=server.rights.word
            )


def refresh_documents(context: Context, server: Server) -> None:
    """Bring every open document up to date with the disk, except those with another text.

    Once for all files of a call: later changes are not its concern.
    """
    context.call.once(server, lambda: _follow_disk(context, server))


def _follow_disk(context: Context, server: Server) -> None:
    with server.channel.lock:
        opened = [document for document in server.channel.documents if document.stamp is not None]
    for document in opened:
        uri, stamp = document.key.uri, document.stamp
        if was_read_since(stamp, context.call.began) or context.files.has_stamp(uri, stamp):
            continue
        file = context.files.again(uri, since=context.call.began)
        if file is not None and file.stamp is None:
            server.channel.forget(uri)
        elif file is not None and document.stamp != file.stamp:
            try:
                server.channel.follow_disk(file, holds_save=True)
            except LspkitError:
                continue  # no text any more; a request about it raises that
    server.channel.save_held()


def restore_document(context: Context, server: Server, uri: str) -> None:
    """Show the server the file on disk again; its path may lead elsewhere by now."""
    try:
        server.channel.restore(uri, context.files.again(uri))
    except LspkitError:
        return  # it has ended


# Files outside the workspace that an answer of a server named: the sources of libraries
#
# A caller may ask about such a file, but only the server that named it, and only to read: a file
# that nobody was pointed to stays out of reach, and nothing outside the workspace is written. Only
# files of the languages of that server count, so that no answer makes lspkit read a key or a
# configuration. What the configuration excludes stays excluded, except for `node_modules`, where
# libraries are.


def note_libraries(context: Context, server: str, asked_uri: str, uris: Iterable[str]) -> None:
    """Note the files that an answer of a server names and that are out of reach."""
    source: Server | None = None
    for uri in uris:
        place = context.files.place(uri)
        path = place.path
        if path is None or place.readable is not None or str(path) in context.files.libraries:
            continue
        source = source or _server(context, server, asked_uri)
        if source is None:
            return
        real = os.path.realpath(path)
        if source.choice.definition.language_of(os.path.basename(real)) is None:
            continue
        via = uri_to_path(asked_uri) or ""
        for name in {str(path), real}:
            context.files.note_library(
                name, LibraryFile(real, normalize_uri(uri), source.id, source.root, via)
            )


def _server(context: Context, id: str, uri: str) -> Server | None:
    """The server of an id that has a document open, or else the first."""
    servers = [server for server in context.pool.servers() if server.id == id]
    for server in servers:
        with server.channel.lock:
            if server.channel.documents.get(normalize_uri(uri)) is not None:
                return server
    return servers[0] if servers else None


def locate_to_read(context: Context, path: str, since: float = float("inf")) -> File:
    """A file of the workspace, or of a library that a server has named. Raises `PathError`."""
    try:
        return context.files.locate(path, since=since)
    except PathError as problem:
        library = context.files.library(os.path.join(context.files.boundary.root, path))
        if library is None or problem.code not in ("EOUTSIDE", "EEXCLUDED"):
            raise
        boundary = context.files.boundary
        allowed = tuple(pattern for pattern in boundary.exclude if pattern != PACKAGES)
        wider = msgspec.structs.replace(boundary, allow_external=True, exclude=allowed)
        if is_excluded(library.path, wider):
            raise
        # It may be something else by now.
        located = locate_path(library.path, wider)
        if located.path != library.path or located.stat is None:
            raise
        return File(library.path, library.uri, stamp_of(located.stat), since, path)


def is_library(context: Context, file: File) -> bool:
    """Whether a file is of a library, and not of the workspace."""
    return file.path in context.files.libraries and context.files.place(file.uri).readable is None


def servers_of_library(context: Context, file: File) -> tuple[list[Server], list[LspkitError]]:
    """The server that has named a file of a library, started again if needed."""
    library = context.files.library(file.path)
    if library is None:
        raise PathError(f"{file.given or file.path} lies outside", code="EOUTSIDE", path=file.path)
    servers = context.pool.in_use_by(context.call, (library.server, library.root))
    if servers or not library.via:
        return servers, []
    candidates, failures = context.pool.servers_for(library.via, context.call)
    return [server for server in candidates if server.id == library.server], failures
