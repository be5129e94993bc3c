"""Files outside the workspace that an answer of a server named: the sources of libraries.

A caller may ask about such a file, but only the server that named it, and only to read: a file that
nobody was pointed to stays out of reach, and nothing outside the workspace is written. Only files
of the server's own languages count, so that no answer makes lspkit read a key or a configuration.
What the configuration excludes stays excluded, except for `node_modules`, where libraries are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from lspkit.errors import LspkitError, PathError
from lspkit.protocol.uris import normalize_uri, uri_to_path
from lspkit.runtime.exchange.context import Context
from lspkit.runtime.files import File, LibraryFile, stamp_of
from lspkit.runtime.server.server import Server
from lspkit.workspace_boundary import is_excluded, locate

#: The pattern of excluded files under which there are libraries.
PACKAGES = "**/node_modules/**"


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
        located = locate(library.path, wider)
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
