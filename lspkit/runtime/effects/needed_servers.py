"""Which servers a workspace calls for when nobody names a file."""

from __future__ import annotations

from lspkit.errors import LspkitError, NoServerError
from lspkit.runtime.concurrency.waiting import CallContext
from lspkit.runtime.files import File, Files
from lspkit.runtime.pool.pool import Pool
from lspkit.runtime.server.server import Server
from lspkit.servers.project.project_files import samples


def called_for(files: Files, pool: Pool, call: CallContext) -> list[tuple[Server, File | None]]:
    """The servers that the workspace's own files call for, started, each with such a file."""
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
